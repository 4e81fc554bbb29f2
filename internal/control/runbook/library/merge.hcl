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

# What waits for an agent or a person does not keep others from being merged.
pipeline "merge" {
  vars       = ["branch"]
  workspace  = { git = "worktree", base = "${var.branch}" }
  max_visits = 20
  env        = { DELETE = "${const.delete}" }

  notify {
    on_done = "${var.branch} was merged into ${const.base}."
    on_fail = "${var.branch} was not merged into ${const.base}: ${error}"
  }

  step "merge" {
    uses    = "merge-one"
    vars    = { branch = "${var.branch}" }
    on_done = "clean"
    on_fail = "why"
  }

  # A check that failed fails the pipeline.
  step "why" {
    on_done = "blocked"
    run     = <<-SHELL
      set -eu
      git_dir=$(git rev-parse --absolute-git-dir)
      case $(cat "$git_dir/stopgate-merge-state" 2>/dev/null) in
      conflict)
        tries=$(cat "$git_dir/stopgate-merge-tries" 2>/dev/null || echo 0)
        if [ "$tries" -ge ${const.tries} ]; then echo ask=person; else echo ask=agent; fi >> "$STOPGATE_OUTPUT"
        echo $((tries + 1)) > "$git_dir/stopgate-merge-tries"
        ;;
      blocked)
        echo ask=blocked >> "$STOPGATE_OUTPUT"
        ;;
      *)
        exit 1
        ;;
      esac
    SHELL
  }

  # Skipped where there is a conflict.
  step "blocked" {
    if      = "'${steps.why.output.ask}' == 'blocked'"
    on_done = "conflict"
    approval {
      title   = "${var.branch} cannot be merged into ${const.base}. Try again?"
      text    = "${steps.merge.error}"
      options = [
        { name = "again", text = "Rebase, check and merge again", step = "merge" },
        { name = "reject", text = "Do not merge the branch", fail = true },
      ]
    }
  }

  # Skipped as long as the agent has not tried often enough.
  step "conflict" {
    if      = "'${steps.why.output.ask}' == 'person'"
    on_done = "resolve"
    approval {
      title   = "Resolve the conflict of ${var.branch} with ${const.base}?"
      text    = "${steps.merge.error}\nThe rebase waits in ${workspace.path}."
      options = [
        { name = "agent", text = "The agent tries again", step = "resolve" },
        { name = "resolved", text = "I resolved it in the workspace: continue", step = "merge" },
        { name = "reject", text = "Do not merge the branch", fail = true },
      ]
    }
  }

  step "resolve" {
    run     = { agent = "resolver" }
    on_done = "merge"
    on_fail = "unresolved"
  }

  step "unresolved" {
    approval {
      title   = "The agent could not resolve the conflict of ${var.branch} with ${const.base}. Continue?"
      text    = "${steps.resolve.error}\nThe rebase waits in ${workspace.path}."
      options = [
        { name = "agent", text = "The agent tries again", step = "resolve" },
        { name = "resolved", text = "I resolved it in the workspace: continue", step = "merge", overrule = true },
        { name = "reject", text = "Do not merge the branch", fail = true },
      ]
    }
  }

  step "clean" {
    run = <<-SHELL
      set -eu
      git checkout --quiet --detach
      git branch --quiet -D -- "$STOPGATE_WORKSPACE_BRANCH"
      if [ "$DELETE" = yes ] && git show-ref --verify --quiet "refs/heads/$VAR_BRANCH"; then
        git branch -D -- "$VAR_BRANCH" || echo "$VAR_BRANCH was merged, and could not be deleted"
      fi
    SHELL
  }
}

# One at a time: rebase, check, merge.
pipeline "merge-one" {
  vars        = ["branch"]
  concurrency = "merge-${const.base}"
  max_visits  = 20
  env         = { BASE = "${const.base}", REMOTE = "${const.remote}", HOW = "${const.how}", GIT_EDITOR = "true" }

  # It goes on with a rebase that stopped at a conflict, once that is resolved.
  step "rebase" {
    on_done = "check"
    run     = <<-SHELL
      set -eu
      git_dir=$(git rev-parse --absolute-git-dir)
      rm -f "$git_dir/stopgate-merge-state"
      onto=refs/heads/$BASE
      if [ -n "$REMOTE" ]; then
        git fetch --quiet "$REMOTE" "+refs/heads/$BASE:refs/remotes/$REMOTE/$BASE"
        onto=refs/remotes/$REMOTE/$BASE
      fi
      onto=$(git rev-parse --verify "$onto^{commit}") # people may commit to the base meanwhile

      rebasing() { [ -d "$git_dir/rebase-merge" ] || [ -d "$git_dir/rebase-apply" ]; }
      conflict() {
        echo conflict > "$git_dir/stopgate-merge-state"
        echo "$1: $(git diff --name-only --diff-filter=U)"
        exit 1
      }

      if rebasing; then
        [ -z "$(git ls-files --unmerged)" ] || conflict "files with conflicts"
        git rebase --continue || conflict "conflict with $BASE"
      fi
      git rebase "$onto" || {
        rebasing || exit 1
        conflict "conflict with $BASE"
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
      state=$(git rev-parse --absolute-git-dir)/stopgate-merge-state
      echo blocked > "$state"
      moved() {
        echo moved > "$state"
        echo "$BASE has moved since the check"
        exit 1
      }

      if [ -n "$REMOTE" ]; then
        git push "$REMOTE" "$COMMIT:refs/heads/$BASE" || {
          git fetch --quiet "$REMOTE" "+refs/heads/$BASE:refs/remotes/$REMOTE/$BASE"
          git merge-base --is-ancestor "refs/remotes/$REMOTE/$BASE" "$COMMIT" || moved
          exit 1
        }
        exit 0
      fi

      before=$(git rev-parse --verify "refs/heads/$BASE")
      git merge-base --is-ancestor "$before" "$COMMIT" || moved
      tree=$(git for-each-ref --format='%(worktreepath)x' "refs/heads/$BASE")
      tree=$${tree%x}
      if [ -n "$tree" ] && [ -d "$tree" ]; then
        unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
        why=$(git -C "$tree" merge --quiet --ff-only "$COMMIT" 2>&1) || {
          git merge-base --is-ancestor "refs/heads/$BASE" "$COMMIT" || moved
          printf '%s\n' "in $tree: $why" | tr '\n\t' '  '
          exit 1
        }
      else
        git update-ref -m "stopgate: merge $VAR_BRANCH" "refs/heads/$BASE" "$COMMIT" "$before" || moved
      fi
    SHELL
  }

  # Where the base has moved, the branch is rebased and checked again.
  step "moved" {
    run     = "test \"$(cat \"$(git rev-parse --absolute-git-dir)/stopgate-merge-state\")\" = moved"
    on_done = "rebase"
  }
}

agent "resolver" {
  run     = "${const.agent}"
  resume  = true
  env     = { GIT_EDITOR = "true" }
  on_idle = { action = "nudge", attempts = 2 }
  prompt  = <<-END
    The branch ${var.branch} is being rebased onto ${const.base} in ${workspace.path}, and git stopped at a conflict:

    ${steps.merge.error}

    Resolve it there, so that what the branch wants and what ${const.base} has by now both hold: git log -p of both sides says what that is. Add the files with git add, and
    run git rebase --continue until the rebase is finished. Do not abort or skip anything, do not push, and change no other branch.

    Signal complete when the rebase is finished. If a person has to decide something, signal escalate with the question. If the branch has to go back to its author, signal fail with the reason.
  END
}
