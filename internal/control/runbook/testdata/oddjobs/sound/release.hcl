# What oddjobs' runbooks are made of and means the same here: its words, not ours.

command "release" {
  args     = "<version> <notes> [--from <branch>] [-d/--dry-run]"
  run      = { job = "release" }
  defaults = { from = "main" }
}

command "tag" {
  args = "<version>"
  run  = <<-SHELL
    git tag ${args.version}
    printf '%s\n' "tagged ${args.version} by ${USER:-someone}"
  SHELL
}

command "releases" {
  args = ""
  run  = "git tag --list | tail -5; echo done"
}

command "helper" {
  run = { agent = "helper", attach = true }
}

job "release" {
  name      = "release-${var.version}"
  input     = ["version", "notes", "from"]
  cwd       = "${invoke.dir}"
  on_fail   = { step = "undo" }
  on_cancel = { step = "undo" }

  locals {
    base  = "main"
    title = "release(${var.version}): ${var.notes}"
  }

  notify {
    on_start = "Releasing ${var.version}"
    on_done  = "Released ${var.version}"
    on_fail  = "Not released: ${var.version}, ${error}"
  }

  step "notes" {
    run     = { agent = "notes:write" }
    on_done = { step = "publish" }
  }

  step "publish" {
    run = <<-SHELL
      git add -A
      git diff --cached --quiet || git commit -m "${local.title}"
      test "$(git rev-list --count HEAD ^origin/${local.base})" -gt 0 || { echo "nothing to release" >&2; exit 1; }
      git push origin HEAD:${var.from}
      for word in a b; do echo "$word"; done
    SHELL
    on_done = { step = "announce" }
    on_fail = { step = "notes", attempts = 2 }
  }

  step "announce" {
    run = "echo \"${local.title}\""
  }

  step "undo" {
    run = "git tag -d ${var.version} 2>/dev/null || true"
  }
}

pipeline "nightly" {
  step "sweep" {
    run = "find logs -mtime +30 -delete 2>/dev/null; true"
  }
}

agent "notes:write" {
  run      = "claude --model opus --dangerously-skip-permissions --disallowed-tools ExitPlanMode,EnterPlanMode"
  on_exit  = { action = "recover", append = true, message = "Go on with the notes." }
  on_error = [
    { match = "rate_limited", action = "gate", run = "sleep 60", cooldown = "1d" },
    { action = "escalate" },
  ]

  on_idle {
    action   = "gate"
    command  = "test -s NOTES.md"
    attempts = "forever"
    cooldown = "30"
  }

  session "tmux" {
    color = "cyan"
    title = "Notes"
    status {
      left  = "${var.version}"
      right = "notes"
    }
  }

  env = {
    SOME_SWITCH = "1"
  }

  prompt = <<-PROMPT
    Write the notes of ${var.version} to `NOTES.md`.

    ${var.notes}
  PROMPT
}

agent "helper" {
  run     = "claude \"${prompt}\""
  prompt  = "Help."
  on_idle = "done"
  on_dead = "fail"
  on_stop = { action = "signal" }
}
