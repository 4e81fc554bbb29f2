# stopgate start fix-all

import "merge" {
  const = { check = "sh test.sh" }
}

command "fix-all" {
  description = "Fix all issues in issues/, five at a time, and merge the fixes one by one"
  run         = { pipeline = "fix-all" }
}

pipeline "fix-all" {
  budget = { usd = 25.0, time = "3h" }

  notify {
    on_done = "All issues are fixed."
    on_fail = "Some issues are not fixed: ${error}"
  }

  step "list" {
    run     = "cd issues && printf '\"%s\"\\n' *.md | paste -sd, - | sed 's/.*/open=[&]/' >> \"$STOPGATE_OUTPUT\""
    on_done = "fix"
  }

  # Each has a worktree, an agent and a fifth of the budget.
  step "fix" {
    for_each = "${steps.list.output.open}"
    limit    = 5
    uses     = "fix-one"
    vars     = { issue = "${item}" }
  }
}

pipeline "fix-one" {
  vars      = ["issue"]
  workspace = { git = "worktree", branch = "fix/${var.issue}", base = "main" }

  step "work" {
    run     = { agent = "author" }
    on_done = "test"
  }

  step "test" {
    run     = "sh test.sh"
    on_done = "merge"
    on_fail = "work"
  }

  step "merge" {
    uses = "merge"
    vars = { branch = "${workspace.branch}" }
  }
}

agent "author" {
  run     = "claude --permission-mode acceptEdits"
  resume  = true
  prompt  = <<-END
    Fix the issue in issues/${var.issue}. Run sh test.sh, and commit the fix with a message that says why.
    If this is not the first attempt, this is what was wrong with the last one: ${error}
  END
  on_idle = { action = "nudge", attempts = 2 }
  on_dead = "resume"
}
