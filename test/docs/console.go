package docs

import (
	"regexp"
	"strings"
)

// Shown is a command of a console block, and the output that the page shows below it.
type Shown struct {
	Command string
	Output  []string
}

// Console gives the commands of a console block.
func (b Block) Console() (all []Shown) {
	for line := range strings.Lines(b.Text) {
		line = strings.TrimRight(line, "\n")
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			all = append(all, Shown{Command: command})
		} else if len(all) > 0 && line != "" {
			last := &all[len(all)-1]
			last.Output = append(last.Output, line)
		}
	}
	return all
}

// Missing is the first line that a command did not print, after the lines above it; empty if it printed all. In
// what is shown, "…" stands for anything, and so does a number for any other.
func (s Shown) Missing(printed string) string {
	lines := strings.Split(printed, "\n")
	for _, want := range s.Output {
		if want == "…" {
			continue
		}
		pattern := matcher(want)
		for len(lines) > 0 && !pattern.MatchString(strings.TrimRight(lines[0], " ")) {
			lines = lines[1:]
		}
		if len(lines) == 0 {
			return want
		}
		lines = lines[1:]
	}
	return ""
}

var number = regexp.MustCompile(`\d+`)

func matcher(line string) *regexp.Regexp {
	quoted := regexp.QuoteMeta(strings.TrimRight(line, " "))
	quoted = strings.ReplaceAll(quoted, "…", ".*")
	return regexp.MustCompile("^" + number.ReplaceAllString(quoted, `\d+`) + "$")
}
