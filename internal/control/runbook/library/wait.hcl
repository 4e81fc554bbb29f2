# Waits until a command succeeds: a service that comes up, a build that ends, a file that
# appears.
#
#   import "wait" {
#     alias = "ci"
#     const = { until = "gh run watch --exit-status" }
#   }
#
# Then stopgate start ci:wait waits, and fails after all tries.

const "until" {
  description = "The command that succeeds when the wait is over."
}

const "tries" {
  description = "How often it is run."
  default     = 60
}

const "pause" {
  description = "Seconds between two tries."
  default     = 10
}

command "wait" {
  description = "Wait until a command succeeds"
  run         = { pipeline = "wait" }
}

pipeline "wait" {
  step "wait" {
    run = <<-SHELL
      try=0
      until ( ${const.until} ); do
        try=$((try + 1))
        if [ "$try" -ge ${const.tries} ]; then
          echo "not after ${const.tries} tries" >&2
          exit 1
        fi
        sleep ${const.pause}
      done
    SHELL
  }
}
