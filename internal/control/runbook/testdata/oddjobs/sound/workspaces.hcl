# Workspaces in the words of oddjobs.

command "patch" {
  args = "<id> <title>"
  run  = { job = "patch" }
}

command "scratch" {
  run = { job = "scratch" }
}

command "archive" {
  run = { job = "archive" }
}

job "patch" {
  vars = ["id", "title"]

  source {
    git    = "worktree"
    branch = "patch/${var.id}-${source.nonce}"
    ref    = "origin/main"
  }

  step "write" {
    run     = { agent = "patcher" }
    on_done = { step = "send" }
  }

  step "send" {
    run = "git -C \"${workspace.root}\" push origin \"${workspace.branch}\""
  }
}

job "scratch" {
  workspace = "ephemeral"

  step "work" {
    run = "cd \"${workspace}\" && touch here"
  }
}

job "archive" {
  workspace = "persistent"

  step "work" {
    run = "ls \"${source.root}\""
  }
}

agent "patcher" {
  run    = "claude"
  prompt = "Fix ${var.id}, ${var.title}, in ${workspace.root}."
}
