# What oddjobs has and stopgate has not, or not in that form.

import "oj/wok" {
  const "prefix" { value = "x" }
}

const "check" { default = "true" }

command "file" {
  args = "<text>"
  run  = <<-SHELL
    tracker new "${args.text}"
    %{ if const.check != "true" }
    ${raw(const.check)}
    %{ endif }
  SHELL
}

queue "tickets" {
  type = "external"
  list = "tracker list --json"
  take = "tracker take ${item.id}"
  poll = "30s"
}

queue "merges" {
  type     = "persisted"
  vars     = ["branch", "title"]
  defaults = { title = "" }
  retry    = { attempts = 3, cooldown = "30s" }
}

worker "tickets" {
  source      = { queue = "tickets" }
  handler     = { job = "ticket" }
  concurrency = 3
}

cron "sweep" {
  interval    = "45m"
  run         = { job = "ticket" }
  concurrency = 1
}

job "ticket" {
  name = "${var.ticket.title}"
  vars = ["ticket"]

  workspace {
    git    = "worktree"
    branch = "fix/${var.ticket.id}-${workspace.nonce}"
    ref    = "origin/main"
  }

  locals {
    repo  = "$(git -C ${invoke.dir} rev-parse --show-toplevel)"
    title = "$(printf 'fix: %.70s' \"${var.ticket.title}\")"
    short = "${var.ticket.title:0:72}"
  }

  step "fix" {
    run     = { agent = "fixer" }
    on_done = { step = "deploy" }
  }

  step "deploy" {
    run     = { job = "deploy" }
    on_done = { step = "done" }
  }

  step "done" {
    run = <<-SHELL
      git -C "${local.repo}" push origin "${workspace.branch}"
      echo "${local.title} ${local.short} in ${workspace}"
    SHELL
  }
}

job "folder" {
  workspace = "ephemeral"

  step "a" {
    run = "true"
  }
}

job "sourced" {
  source = "folder"

  step "a" {
    run = "ls ${source.root}"
  }
}

agent "fixer" {
  run     = "claude"
  prompt  = "Fix ${var.ticket.id} in ${workspace.branch}."
  prime   = ["tracker show ${var.ticket.id}", "git status"]
  on_idle = { action = "ask", message = "What next?" }
  on_stop = "ask"
  env     = { OJ_STEP = "fix" }
}

agent "primed" {
  run     = "claude"
  on_idle = "auto"
  prime   = <<-SHELL
    git log -5
  SHELL
}

agent "primed-by-source" {
  run   = "claude"
  prime = {
    startup = "git status"
    clear   = "git status"
  }
}

crew "watch" {
  run = "claude"
}
