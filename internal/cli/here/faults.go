package here

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func PrintFaults(out io.Writer, checked []string, faults []document.Fault) {
	p := term.PaintFor(out)
	for _, fault := range faults {
		term.PrintFault(out, "", fault)
	}
	switch {
	case len(faults) > 0:
		fmt.Fprintln(out, p.Red(plain.Count(len(faults), "problem")+" in "+plain.Count(faultyFiles(faults), "file")))
	case len(checked) == 0:
		fmt.Fprintln(out, "nothing to check: no global config, no ccc.json, and no .gauntlet/config.yml here or above")
		if global, err := paths.GlobalConfig(); err == nil {
			fmt.Fprintln(out, p.Faint("the global config is "+term.Shown(global)))
		}
	default:
		for _, path := range checked {
			fmt.Fprintf(out, "%s %s\n", p.Green("valid"), path)
		}
	}
}

func faultyFiles(faults []document.Fault) int {
	files := map[string]bool{}
	for _, fault := range faults {
		files[fault.File] = true
	}
	return len(files)
}

// Validate checks the files that apply here and lists those it looked at.
func (h *Place) Validate() (checked []string, faults []document.Fault) {
	checked, faults = []string{}, []document.Fault{}
	add := func(err error, files ...string) {
		checked = append(checked, files...)
		if found, ok := errors.AsType[*document.Faults](err); ok {
			faults = append(faults, found.All...)
		}
	}
	if h.GlobalErr != nil || h.Global.Exists {
		add(h.GlobalErr, h.GlobalPath)
	}
	if !h.HasProject {
		return checked, faults
	}
	dir, shown := h.ConfigDir(), h.Short(h.ConfigDir())
	checked = append(append(checked, filepath.Join(shown, paths.ConfigFile)), config.GateFiles(dir, shown)...)
	faults = append(faults, config.Validate(dir, shown)...)
	if file, wrong := h.ValidateCI(); file != "" {
		checked, faults = append(checked, file), append(faults, wrong...)
	}
	return checked, faults
}

// ValidateCI checks ci.yml; the name is empty where there is none.
func (h *Place) ValidateCI() (file string, faults []document.Fault) {
	shown := h.Short(h.ConfigDir())
	_, err := config.LoadCI(h.ConfigDir(), shown)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if found, ok := errors.AsType[*document.Faults](err); ok {
		faults = found.All
	}
	return filepath.Join(shown, config.CIFile), faults
}
