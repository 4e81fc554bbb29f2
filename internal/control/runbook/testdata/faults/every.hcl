# What only HCL can get wrong.
command {
  run = "true"
}

command "go" "now" {
  run = "true"
}

notify "x" {
  on_done = "x"
}

pipeline "build" {
  on_fail = clean
  vars    = [upper("a")]
  cwd     = null
  step "a" {
    name = "b"
    run  = "echo ${upper(var.x)} ${var.y[0]}"
  }
  step "c" {
    run     = "echo %{ if true }x%{ endif }"
    on_done = 1 + 1
  }
  step "d" {
    run = "a ${~ name ~} b"
  }
}

pipeline "build" {
  step "a" {
    run = { (agent) = "x", agent = "y", agent = "z" }
  }
}

agent "x" {
  run = "claude"
  on_idle {
    action = "nudge"
  }
  on_idle {
    action = "done"
  }
  max_concurrency = -1
}
