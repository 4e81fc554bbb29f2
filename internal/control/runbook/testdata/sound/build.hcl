# Everything that a runbook can say, once. build.toml says the same.
max_agents = 3

command "build" {
  description = "Build a branch and have it reviewed"
  args        = "<branch> [--base <ref>] [-f/--force] [files...]"
  run         = { pipeline = "build" }
  defaults    = { base = "main" }
}

command "lint" {
  run = "make lint"
}

command "look" {
  args     = "<topic>"
  run      = { agent = "worker" }
  defaults { branch = "main" }
}

pipeline "build" {
  vars      = ["branch", "base"]
  cwd       = "${invoke.dir}"
  on_fail   = "cleanup"
  on_cancel = { step = "cleanup" }
  defaults  = { "topic" = "the branch" }
  budget    = { usd = 12.5, time = "2h" }
  concurrency = { group = "build-${var.branch}", limit = 2, when_full = "cancel" }

  expire {
    after  = "4h"
    answer = "cancel"
  }

  workspace {
    git    = "worktree"
    branch = "fix/${var.branch}-${pipeline_id}"
    base   = "${var.base}"
    keep   = "always"
  }

  notify {
    on_start = "${name} begins"
    on_done  = "${name} is done"
    on_fail  = "${name}: ${error}"
  }

  step "prepare" {
    run     = <<-SCRIPT
      git switch "${var.branch}"
      echo $${HOME:-nowhere} $(date) 100%
    SCRIPT
    on_done = "work"
  }

  step "work" {
    run       = { agent = "worker" }
    on_done   = { step = "check" }
    on_cancel = "cleanup"
  }

  step "check" {
    run     = "make test"
    cwd     = "tests"
    on_fail = "work"
  }

  step "cleanup" {
    run = "git worktree remove \"${var.branch}\""
  }
}

agent "worker" {
  run      = "claude --model opus"
  prompt   = "Look at ${var.topic} on ${ var.branch }, agent ${agent_id}."
  cwd      = "src"
  env      = { BRANCH = "${var.branch}", EMPTY = "" }
  attempts = 2
  on_idle  = { action = "nudge", message = "Go on with ${var.topic}.", attempts = 3, cooldown = "30s" }
  on_dead {
    action   = "resume"
    message  = "Go on."
    append   = true
    attempts = "forever"
    cooldown = "5m"
  }
  on_prompt       = "escalate"
  on_stop         = { action = "idle" }
  max_concurrency = 2
  resume          = true
  budget          = { time = "30m" }
  expire          = { after = "10m", answer = "go_on" }
  on_error = [
    { match = "rate_limited", action = "resume", cooldown = "10m" },
    { match = "no_internet", action = "gate", run = "ping -c 1 example.com", attempts = 5, cooldown = "1m" },
    { action = "fail" },
  ]
  notify {
    on_start = "agent ${agent_id} begins"
  }
}

agent "reviewer" {
  run         = "claude"
  workspace   = { folder = "copy" }
  prompt_file = "prompts/review.md"
}
