package setup

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// newCheck is a check that init writes.
type newCheck struct{ name, command string }

// none is the answer that declines a proposal, and the command that stands for no check at all.
const none = "-"

// parseChecks reads NAME=COMMAND or COMMAND. Each check gets a name of its own.
func parseChecks(texts []string) (checks []newCheck) {
	for _, text := range texts {
		if text == none {
			continue
		}
		checks = append(checks, parseCheck(text, checks))
	}
	return checks
}

func parseCheck(text string, others []newCheck) newCheck {
	name, command, named := strings.Cut(text, "=")
	if named = named && isCheckName(name) && strings.TrimSpace(command) != ""; !named {
		name, command = checkName(text), text
	}

	taken := func(name string) bool {
		return slices.ContainsFunc(others, func(c newCheck) bool { return c.name == name })
	}
	for first, n := name, 2; taken(name); n++ {
		name = fmt.Sprintf("%s-%d", first, n)
	}
	return newCheck{name, strings.TrimSpace(command)}
}

// isCheckName knows a name from a variable, which may also be before a command: variables are in
// capitals or have an underscore, as CI or http_proxy.
func isCheckName(name string) bool {
	const most = 64
	for i, r := range name {
		letter, digit := r >= 'a' && r <= 'z', r >= '0' && r <= '9'
		if !letter && (i == 0 || !digit && r != '-') {
			return false
		}
	}
	return name != "" && len(name) <= most
}

// checkName names a check after what it does.
func checkName(command string) string {
	for _, name := range []string{"test", "lint", "build"} {
		if strings.Contains(command, name) {
			return name
		}
	}
	return "check"
}

// firstConfig is a project's first configuration.
type firstConfig struct {
	checks []newCheck
	base   string // empty: the remote's default branch
}

// summary says for a plan what the configuration has.
func (c firstConfig) summary() string {
	if len(c.checks) == 0 {
		return "no checks"
	}
	names := make([]string, len(c.checks))
	for i, check := range c.checks {
		names[i] = check.name
	}
	noun := "the check "
	if len(names) > 1 {
		noun = "the checks "
	}
	return noun + strings.Join(names, ", ")
}

func (c firstConfig) String() string {
	var b strings.Builder
	b.WriteString(`# yaml-language-server: $schema=` + schemaFile + `
# What stopgate checks in this project. After a change: stopgate validate, then stopgate trust
# Every key: stopgate schema config

`)
	if c.base != "" {
		fmt.Fprintf(&b, "base_branch: %s # what changes are compared with; there is no remote branch\n\n", strconv.Quote(c.base))
	}
	b.WriteString(`# An agent may stop once the checks of what it changed pass. A check that passed runs
# again only after a change.
entry_points:
`)
	if len(c.checks) == 0 {
		b.WriteString(`  # - path: .
  #   checks:
  #     - name: lint
  #       command: make lint
`)
	} else {
		b.WriteString("  - path: .\n    checks:\n")
	}
	for _, check := range c.checks {
		fmt.Fprintf(&b, "      - name: %s\n        command: %s\n", check.name, strconv.Quote(check.command))
	}
	if len(c.checks) > 0 {
		b.WriteString("        # timeout: 240s\n")
	}
	b.WriteString(`
stop_hook:
  run_interval_minutes: 0 # check at every stop
  verify_fixes: true      # after a failure, check again until it is fixed
`)
	return b.String()
}
