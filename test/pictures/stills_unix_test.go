//go:build unix

package pictures

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

const stillColumns, stillLines = 112, 60

// stills are the commands that have a picture, by its name, in the order in which they are run.
var stills = []struct{ name, command string }{
	{"run", "stopgate run"},
	{"log", "stopgate log --here --event Stop"},
	{"status", "stopgate status"},
	{"doctor", "stopgate doctor"},
}

// photograph runs the commands in a project with three gates. A test fails at first; before the log is shown, one
// stop is blocked and the next one allowed.
func photograph(t *testing.T) map[string]Screen {
	s := newStage(t)
	s.write(filepath.Join(s.home, ".local", "bin", "claude"), "#!/bin/sh\necho '2.1.197 (Claude Code)'\n")
	s.run("chmod", "+x", filepath.Join(s.home, ".local", "bin", "claude"))
	s.write(filepath.Join(s.project, ".gauntlet", "config.yml"), gates)
	s.run("stopgate", "init", "--yes")
	s.run("git", "add", ".gauntlet")
	s.run("git", "commit", "--quiet", "--message", "add gates")
	s.edit(before, wrong)

	screens := map[string]Screen{}
	for _, still := range stills {
		if still.name == "log" {
			s.stop("first")
			s.edit("sum > 100", "sum >= 100")
			s.stop("first")
		}
		w := s.open(stillColumns, stillLines, "sh", "-c", fmt.Sprintf(`printf '\033[1;36m~/shop\033[0m $ %s\n'; %s`, still.command, still.command))
		w.wait(still.command, w.ended)
		screen := w.screen() // the one before may lack the end
		screens[still.name] = screen[:strings.Count(screen.String(), "\n")+1]
	}
	return screens
}

const gates = `base_branch: main
entry_points:
  - path: .
    checks:
      - name: format
        command: test -z "$(gofmt -l .)"
        parallel: true
      - name: vet
        command: go vet ./...
        parallel: true
      - name: test
        command: go test ./...
        parallel: true
`
