package cli

import (
	"fmt"
	"io"

	"github.com/stopgate/stopgate/internal/project/config"
)

func printFaults(out io.Writer, checked []string, faults []config.Fault) {
	p := paintFor(out)
	for _, fault := range faults {
		fmt.Fprintln(out, fault.Detail())
	}
	switch {
	case len(faults) > 0:
		fmt.Fprintln(out, p.red(count(len(faults), "fault")+" in "+count(faultyFiles(faults), "file")))
	case len(checked) == 0:
		fmt.Fprintln(out, "nothing to check: no global config, no ccc.json, and no .gauntlet/config.yml here or above")
	default:
		for _, path := range checked {
			fmt.Fprintf(out, "%s %s\n", p.green("valid"), path)
		}
	}
}

func faultyFiles(faults []config.Fault) int {
	files := map[string]bool{}
	for _, fault := range faults {
		files[fault.File] = true
	}
	return len(files)
}
