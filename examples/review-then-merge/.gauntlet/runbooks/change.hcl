# stopgate start change "Say goodbye too"

command "change" {
  description = "Make a change, review it, and merge it once you approve"
  args        = "<what...>"
  run         = { pipeline = "change" }
}

pipeline "change" {
  vars      = ["what"]
  budget    = { usd = 20.0, time = "4h" }
  on_cancel = "back"

  step "branch" {
    run     = "rm -f review.md && git switch -c \"change-${pipeline_id}\" main"
    on_done = "work"
  }

  step "work" {
    run     = { agent = "author" }
    on_done = "review"
  }

  step "review" {
    run     = { agent = "reviewer" }
    on_done = "verdict"
  }

  # The last line that a failed step printed is the author's ${error}.
  step "verdict" {
    run     = "test \"$(head -n 1 review.md)\" = approved || { tail -n 1 review.md; exit 1; }"
    on_done = "ask"
    on_fail = "work"
  }

  step "ask" {
    run     = { agent = "asker" }
    on_done = "merge"
    on_fail = "work"
  }

  step "merge" {
    run = "git switch main && git merge --no-ff -m \"${var.what}\" \"change-${pipeline_id}\""
  }

  step "back" {
    run = "git switch main"
  }
}

agent "author" {
  run     = "claude --permission-mode acceptEdits"
  prompt  = <<-END
    Make this change, and commit it: ${var.what}
    If this is not the first attempt, this is the feedback on the last one: ${error}
  END
  on_idle = { action = "nudge", attempts = 2 }
  on_dead = "resume"
}

agent "reviewer" {
  run     = "claude --permission-mode acceptEdits"
  prompt  = <<-END
    Review the commits of this branch that main does not have (git log -p main..). They should do this: ${var.what}
    Change nothing. Write your verdict to review.md and commit nothing: the first line is "approved" or "rejected", the last line says in one sentence what has to change.
  END
  on_idle = { action = "nudge", attempts = 2 }
  on_dead = "resume"
}

# It asks you. If you answer with a message, it prints the message, and the step fails with it.
agent "asker" {
  run     = <<-END
    stopgate emit agent:signal --agent "$STOPGATE_AGENT_ID" '{"kind": "escalate", "message": "Merge change-${pipeline_id}? The review is in review.md."}'
    until cat "$STOPGATE_STATE_DIR/agents/$STOPGATE_AGENT_ID/inbox"/* 2> /dev/null; do sleep 1; done
    exit 1
  END
  on_dead = "fail"
}
