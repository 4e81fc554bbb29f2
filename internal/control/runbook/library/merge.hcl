# Merges branches into one that stays green: a merge queue. Each branch is rebased onto the base in a
# worktree of its own, the check runs there, and only what has passed it on top of the newest
# base becomes the base. A conflict goes to an agent, then to a person.
#
#   import "merge" {
#     const = { check = "make test" }
#   }
#
# Then stopgate start merge fix/17 merges the branch fix/17.

const "base" {
  description = "The branch that others are merged into."
  default     = "main"
}

const "remote" {
  description = "Where the base is fetched from and pushed to. Without one, the local branch is merged into."
  default     = ""
}

const "check" {
  description = "The command that must pass before a merge."
  default     = "stopgate run"
}

const "how" {
  description = "rebase keeps the commits of a branch, squash makes one of them."
  default     = "rebase"
}

const "delete" {
  description = "Whether a branch is deleted after it was merged: yes or no."
  default     = "no"
}

const "tries" {
  description = "How often the agent tries to resolve conflicts before a person is asked."
  default     = 2
}

const "agent" {
  description = "The command that starts the agent which resolves conflicts."
  default     = "claude --permission-mode acceptEdits --allowedTools 'Bash(git add:*),Bash(git rm:*),Bash(git rebase --continue),Bash(git status:*),Bash(git diff:*),Bash(git log:*),Bash(git show:*)'"
}

command "merge" {
  description = "Rebase a branch, check it, and merge it"
  args        = "<branch>"
  run         = { pipeline = "merge" }
}

pipeline "merge" {
  vars       = ["branch"]
  workspace  = { git = "worktree", base = "${var.branch}" }
  max_visits = 20
  env        = { BASE = "${const.base}", REMOTE = "${const.remote}", HOW = "${const.how}", DELETE = "${const.delete}", GIT_EDITOR = "true" }

  notify {
    on_done = "${var.branch} was merged into ${const.base}."
    on_fail = "${var.branch} was not merged into ${const.base}: ${error}"
  }

  # It goes on with a rebase that stopped at a conflict, once that is resolved.
  step "rebase" {
    on_done = "check"
    on_fail = "conflict"
    run     = <<-SHELL
      set -eu
      git_dir=$(git rev-parse --absolute-git-dir)
      onto=refs/heads/$BASE
      if [ -n "$REMOTE" ]; then
        git fetch --quiet "$REMOTE" "+refs/heads/$BASE:refs/remotes/$REMOTE/$BASE"
        onto=refs/remotes/$REMOTE/$BASE
      fi
      onto=$(git rev-parse --verify "$onto^{commit}") # the base may move meanwhile

      conflict() {
        tries=$(cat "$git_dir/stopgate-merge-tries" 2>/dev/null || echo 0)
        if [ "$tries" -ge ${const.tries} ]; then echo ask=person; else echo ask=agent; fi >> "$STOPGATE_OUTPUT"
        echo $((tries + 1)) > "$git_dir/stopgate-merge-tries"
        echo "$1"
        exit 1
      }

      if [ -d "$git_dir/rebase-merge" ] || [ -d "$git_dir/rebase-apply" ]; then
        if [ -n "$(git ls-files --unmerged)" ]; then
          conflict "files with conflicts: $(git diff --name-only --diff-filter=U)"
        fi
        git rebase --continue || conflict "conflict at $(git log -1 --format='%h %s' REBASE_HEAD): $(git diff --name-only --diff-filter=U)"
      fi
      git rebase "$onto" || {
        [ -d "$git_dir/rebase-merge" ] || [ -d "$git_dir/rebase-apply" ] || { echo "ask=person" >> "$STOPGATE_OUTPUT"; exit 1; }
        conflict "conflict at $(git log -1 --format='%h %s' REBASE_HEAD): $(git diff --name-only --diff-filter=U)"
      }
      if git diff "$onto" HEAD | grep '^+<<<<<<< '; then
        conflict "conflict markers were committed: remove them, and commit that"
      fi

      if [ "$HOW" = squash ] && [ "$(git rev-list --count "$onto..HEAD")" -gt 1 ]; then
        author=$(git log --reverse --format='%an <%ae>' "$onto..HEAD" | head -n 1)
        git log --reverse --format=%B "$onto..HEAD" > "$git_dir/stopgate-merge-message"
        git reset --quiet --soft "$onto"
        git commit --quiet --author "$author" --file "$git_dir/stopgate-merge-message"
      fi
    SHELL
  }

  # Skipped as long as the agent has not tried often enough.
  step "conflict" {
    if      = "'${steps.rebase.output.ask}' == 'person'"
    on_done = "resolve"
    approval {
      title   = "Resolve the conflict of ${var.branch} with ${const.base}?"
      text    = "${error}\nThe rebase waits in ${workspace.path}."
      options = [
        { name = "agent", text = "The agent tries again", step = "resolve" },
        { name = "resolved", text = "I resolved it in the workspace: continue", step = "rebase", overrule = true },
        { name = "reject", text = "Do not merge the branch", fail = true },
      ]
    }
  }

  step "resolve" {
    run     = { agent = "resolver" }
    on_done = "rebase"
    on_fail = "failed-to-resolve"
  }

  step "failed-to-resolve" {
    approval {
      title   = "The agent could not resolve the conflict of ${var.branch} with ${const.base}. Continue?"
      text    = "${error}\nThe rebase waits in ${workspace.path}."
      options = [
        { name = "agent", text = "The agent tries again", step = "resolve" },
        { name = "resolved", text = "I resolved it in the workspace: continue", step = "rebase", overrule = true },
        { name = "reject", text = "Do not merge the branch", fail = true },
      ]
    }
  }

  step "check" {
    on_done = "merge"
    run     = <<-SHELL
      ( ${const.check} ) || exit
      if [ -n "$(git status --porcelain --untracked-files=no)" ]; then
        echo "the check changed files that git tracks: $(git diff --name-only HEAD)"
        exit 1
      fi
      echo "commit=$(git rev-parse HEAD)" >> "$STOPGATE_OUTPUT"
    SHELL
  }

  # Only exactly what was checked is merged, and only if the base has not moved since. Where the
  # base is checked out, the files there are updated too, unless someone works on them.
  step "merge" {
    env     = { COMMIT = "${steps.check.output.commit}" }
    on_fail = "moved"
    run     = <<-SHELL
      set -eu
      moved() {
        echo moved=yes >> "$STOPGATE_OUTPUT"
        echo "$BASE has moved since the check"
        exit 1
      }

      if [ -n "$REMOTE" ]; then
        git push "$REMOTE" "$COMMIT:refs/heads/$BASE" || {
          git fetch --quiet "$REMOTE" "+refs/heads/$BASE:refs/remotes/$REMOTE/$BASE"
          git merge-base --is-ancestor "refs/remotes/$REMOTE/$BASE" "$COMMIT" || moved
          exit 1
        }
      else
        before=$(git rev-parse --verify "refs/heads/$BASE")
        git merge-base --is-ancestor "$before" "$COMMIT" || moved
        tree=$(git for-each-ref --format='%(worktreepath)x' "refs/heads/$BASE")
        tree=$${tree%x}
        if [ -n "$tree" ] && [ -d "$tree" ]; then
          env -u GIT_DIR -u GIT_WORK_TREE -u GIT_INDEX_FILE git -C "$tree" merge --quiet --ff-only "$COMMIT" || {
            git merge-base --is-ancestor "refs/heads/$BASE" "$COMMIT" || moved
            exit 1
          }
        else
          git update-ref -m "stopgate: merge $VAR_BRANCH" "refs/heads/$BASE" "$COMMIT" "$before" || moved
        fi
      fi

      git checkout --quiet --detach
      git branch --quiet -D -- "$STOPGATE_WORKSPACE_BRANCH"
      if [ "$DELETE" = yes ] && git show-ref --verify --quiet "refs/heads/$VAR_BRANCH"; then
        git branch -D -- "$VAR_BRANCH" || echo "$VAR_BRANCH was merged, and could not be deleted"
      fi
    SHELL
  }

  # Skipped where the base has moved: then the branch is rebased and checked again.
  step "moved" {
    if      = "'${steps.merge.output.moved}' != 'yes'"
    on_done = "rebase"
    approval {
      title   = "${var.branch} passed the check and cannot be merged into ${const.base}. Try again?"
      text    = "${error}"
      options = [
        { name = "again", text = "Rebase, check and merge again", step = "rebase" },
        { name = "reject", text = "Do not merge the branch", fail = true },
      ]
    }
  }
}

agent "resolver" {
  run     = "${const.agent}"
  resume  = true
  env     = { GIT_EDITOR = "true" }
  on_idle = { action = "nudge", attempts = 2 }
  prompt  = <<-END
    The branch ${var.branch} is being rebased onto ${const.base} in ${workspace.path}, and git stopped at a conflict:

    ${error}

    Resolve it there, so that what the branch wants and what ${const.base} has by now both hold: git log -p of both sides says what that is. Add the files with git add, and
    run git rebase --continue until the rebase is finished. Do not abort or skip anything, do not push, and change no other branch.

    Signal complete when the rebase is finished. If a person has to decide something, signal escalate with the question. If the branch has to go back to its author, signal fail with the reason.
  END
}
