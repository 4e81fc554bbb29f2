# Has a branch reviewed by an agent. What the reviewer asks for goes to an author, another agent, and the
# result is reviewed again; after some rounds a person decides. The branch gets what was approved.
#
#   import "review" {
#     const = { rounds = 2 }
#   }
#
# Then stopgate start review fix/17 reviews the branch fix/17.

const "base" {
  description = "The branch that the changes are for."
  default     = "main"
}

const "rounds" {
  description = "How often the changes go back to the author before a person is asked."
  default     = 3
}

const "rules" {
  description = "What the reviewer looks at besides what is right: a sentence or more."
  default     = ""
}

const "reviewer" {
  description = "The command that starts the reviewer."
  default     = "claude --permission-mode default --allowedTools 'Bash(git log:*),Bash(git diff:*),Bash(git show:*)'"
}

const "author" {
  description = "The command that starts the author."
  default     = "claude --permission-mode acceptEdits --allowedTools 'Bash(git add:*),Bash(git commit:*),Bash(git status:*),Bash(git log:*),Bash(git diff:*),Bash(git show:*)'"
}

command "review" {
  description = "Review a branch, and have it changed until it is approved"
  args        = "<branch>"
  run         = { pipeline = "review" }
}

pipeline "review" {
  vars       = ["branch"]
  workspace  = { git = "worktree", base = "${var.branch}" }
  max_visits = 50

  notify {
    on_done = "${var.branch} was approved."
    on_fail = "${var.branch} was not approved: ${error}"
  }

  step "review" {
    run     = { agent = "reviewer" }
    on_done = "unclear"
  }

  # Skipped if the verdict is clear.
  step "unclear" {
    if      = "'${steps.review.output.verdict}' != 'approve' && '${steps.review.output.verdict}' != 'changes'"
    on_done = "verdict"
    approval {
      title   = "The reviewer of ${var.branch} gave no verdict. Approve?"
      text    = "${steps.review.signal}"
      options = [
        { name = "approve", step = "publish", overrule = true },
        { name = "again", text = "Review it again", step = "review" },
        { name = "reject", fail = true },
      ]
    }
  }

  step "verdict" {
    env     = { VERDICT = "${steps.review.output.verdict}" }
    on_done = "publish"
    on_fail = "person"
    run     = <<-SHELL
      set -eu
      if [ "$VERDICT" = approve ]; then
        exit 0
      fi
      count=$(git rev-parse --absolute-git-dir)/stopgate-review-rounds
      round=$(($(cat "$count" 2>/dev/null || echo 0) + 1))
      echo "$round" > "$count"
      if [ "$round" -gt ${const.rounds} ]; then echo ask=person; else echo ask=author; fi >> "$STOPGATE_OUTPUT"
      echo "the reviewer asks for changes, for the $round. time"
      exit 1
    SHELL
  }

  # Skipped as long as there are rounds left.
  step "person" {
    if      = "'${steps.verdict.output.ask}' == 'person'"
    on_done = "change"
    approval {
      title   = "The reviewer still asks for changes to ${var.branch}. Approve it?"
      text    = "${steps.review.signal}"
      options = [
        { name = "approve", step = "publish", overrule = true },
        { name = "change", text = "The author makes the changes, and those of your message", step = "change" },
        { name = "reject", fail = true },
      ]
    }
  }

  step "change" {
    run     = { agent = "author" }
    on_done = "committed"
  }

  step "committed" {
    on_done = "review"
    on_fail = "change"
    run     = <<-SHELL
      if [ -n "$(git status --porcelain)" ]; then
        echo "not committed: $(git status --short)"
        exit 1
      fi
    SHELL
  }

  # The branch gets the author's commits, also where it is checked out.
  step "publish" {
    on_fail = "unpublished"
    run     = <<-SHELL
      set -eu
      commit=$(git rev-parse HEAD)
      if git show-ref --verify --quiet "refs/heads/$VAR_BRANCH"; then
        before=$(git rev-parse --verify "refs/heads/$VAR_BRANCH")
        if ! git merge-base --is-ancestor "$before" "$commit"; then
          echo "$VAR_BRANCH has got other commits since the review began"
          exit 1
        fi
        tree=$(git for-each-ref --format='%(worktreepath)x' "refs/heads/$VAR_BRANCH")
        tree=$${tree%x}
        if [ -n "$tree" ] && [ -d "$tree" ]; then
          (unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE && git -C "$tree" merge --quiet --ff-only "$commit")
        else
          git update-ref -m "stopgate: review" "refs/heads/$VAR_BRANCH" "$commit" "$before"
        fi
        git checkout --quiet --detach
        git branch --quiet -D -- "$STOPGATE_WORKSPACE_BRANCH"
      else
        echo "the changes are on $STOPGATE_WORKSPACE_BRANCH: there is no branch $VAR_BRANCH here"
      fi
      echo "commit=$commit" >> "$STOPGATE_OUTPUT"
    SHELL
  }

  step "unpublished" {
    approval {
      title   = "${var.branch} was approved, and cannot be given the changes. Try again?"
      text    = "${error}\nThey are on ${workspace.branch}."
      options = [
        { name = "again", step = "publish" },
        { name = "reject", fail = true },
      ]
    }
  }
}

agent "reviewer" {
  run     = "${const.reviewer}"
  resume  = true
  on_idle = { action = "nudge", attempts = 2 }
  prompt  = <<-END
    Review the commits that this branch has and ${const.base} does not: git log -p ${const.base}..HEAD, in ${workspace.path}. If you have reviewed an earlier state, look at what has changed since.
    Look for mistakes, missing tests and whatever its readers would stumble over. ${const.rules}
    Change nothing yourself.

    End with a signal that has your verdict: approve, or changes with what has to change, and where:

    stopgate emit agent:signal --agent ${agent_id} '{"kind": "complete", "message": "what has to change", "data": {"verdict": "changes"}}'
  END
}

agent "author" {
  run     = "${const.author}"
  resume  = true
  on_idle = { action = "nudge", attempts = 2 }
  prompt  = <<-END
    A reviewer asks for changes to the branch ${var.branch}, which is checked out in ${workspace.path}:

    ${steps.review.signal}
    ${steps.person.signal}

    Make them there, and commit them. If you disagree, say why in the message of the commit. Signal complete when all is committed.
  END
}
