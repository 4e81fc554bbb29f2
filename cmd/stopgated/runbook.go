//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

const runbookUsage = `usage: stopgated runbook check [FILE…] [--json]   check the project's runbooks, or these files
       stopgated runbook show [NAME] [--json]     show commands, pipelines and agents, or only NAME
       stopgated runbook show [NAME] --svg=FILE   draw the pipelines

Runbooks are the *.toml and *.hcl files below .gauntlet/runbooks, and those of oddjobs below .oj/runbooks. The
shell's syntax in them is not checked.
Exit code 0: valid. 1: errors. 2: invalid command line, or no such name.
`

// runbookOptions are the options of stopgated runbook.
type runbookOptions struct {
	json bool
	svg  string // the file to draw to
}

// runRunbook is stopgated runbook check and show, and returns the exit code.
func runRunbook(args []string, out, errOut io.Writer) int {
	words, o, ok := runbookArgs(args)
	switch {
	case ok && len(words) > 0 && words[0] == "check" && o.svg == "":
		return checkRunbooks(words[1:], o.json, out, errOut)
	case ok && len(words) > 0 && len(words) < 3 && words[0] == "show":
		return showRunbooks(append(words[1:], "")[0], o, out, errOut)
	case ok && len(words) == 2 && words[0] == "commands" && o.json:
		return printCommands(words[1], out, errOut)
	}
	fmt.Fprint(errOut, runbookUsage)
	return 2
}

// runbookArgs takes the options out of the words; a word after -- is none.
func runbookArgs(args []string) (words []string, o runbookOptions, ok bool) {
	for i, arg := range args {
		svg, drawn := strings.CutPrefix(arg, "--svg=")
		switch {
		case arg == "--":
			return append(words, args[i+1:]...), o, true
		case arg == "--json":
			o.json = true
		case drawn && svg != "":
			o.svg = svg
		case strings.HasPrefix(arg, "-"):
			return nil, o, false
		default:
			words = append(words, arg)
		}
	}
	return words, o, !(o.json && o.svg != "")
}

var errNoRunbooks = errors.New("no .gauntlet/runbooks or .oj/runbooks here or above")

// checkRunbooks says what is wrong, or what was looked at.
func checkRunbooks(files []string, asJSON bool, out, errOut io.Writer) int {
	set, faults, err := loadRunbooks(files)
	if err != nil && !errors.Is(err, errNoRunbooks) {
		return complain(out, errOut, asJSON, err.Error(), "", 1)
	}
	code := min(len(faults), 1)
	switch {
	case asJSON:
		return printed(errOut, code, printJSON(out, map[string]any{
			"files": checkedFiles(set, faults), "faults": orEmpty(faults), "warnings": orEmpty(warningsOf(set)),
		}))
	case err != nil:
		_, err = fmt.Fprintln(out, "nothing to check:", err)
		return printed(errOut, code, err)
	}
	return printed(errOut, code, printCheck(out, set, faults))
}

func printCheck(out io.Writer, set runbook.Set, faults runbook.Faults) error {
	var b strings.Builder
	for _, fault := range faults {
		b.WriteString(fault.Detail() + "\n")
	}
	for _, warning := range warningsOf(set) {
		warning.Message = "warning: " + warning.Message
		b.WriteString(warning.Detail() + "\n")
	}
	if len(faults) > 0 {
		b.WriteString(colour(out, "31", plain.Count(len(faults), "error")+" in "+plain.Count(len(filesOf(faults)), "file")) + "\n")
	} else {
		b.WriteString(colour(out, "32", checked(set)) + "\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// loadRunbooks reads the project's runbooks, or some files.
func loadRunbooks(files []string) (set runbook.Set, faults runbook.Faults, err error) {
	if len(files) == 0 {
		return loadProject()
	}
	for _, file := range files {
		dir, name, oddjobs := directoryOf(file)
		load := runbook.LoadFile
		if oddjobs {
			load = runbook.LoadOddjobsFile
		}
		one, err := load(dir, name)
		set.Runbooks = append(set.Runbooks, one.Runbooks...)
		var wrong runbook.Faults
		errors.As(err, &wrong)
		faults = append(faults, wrong...)
	}
	return set, faults, nil
}

// loadProject reads the runbooks of the nearest project that has any: its own, and those of
// oddjobs.
func loadProject() (set runbook.Set, faults runbook.Faults, err error) {
	cwd, err := os.Getwd()
	if err != nil {
		return set, nil, err
	}
	root, found := paths.ProjectRoot(paths.HasRunbooks, cwd)
	if !found {
		return set, nil, errNoRunbooks
	}
	own, err := runbook.Load(shortened(cwd, filepath.Join(root, paths.GauntletDir, runbook.Dir)))
	errors.As(err, &faults)
	oddjobs, err := runbook.LoadOddjobs(shortened(cwd, paths.OddjobsRunbooks(root)))
	var wrong runbook.Faults
	errors.As(err, &wrong)
	return own.Beside(oddjobs), append(faults, wrong...), nil
}

// shortened is a directory as a person in cwd would write it.
func shortened(cwd, dir string) string {
	if short, err := filepath.Rel(cwd, dir); err == nil && filepath.IsLocal(short) {
		return short
	}
	return dir
}

// directoryOf splits a path into the runbooks directory, where prompts and imports are looked
// for, and the rest. A file that lies in none is in its own.
func directoryOf(file string) (dir, name string, oddjobs bool) {
	sep := string(filepath.Separator)
	file = filepath.Clean(file)
	for _, parent := range []string{paths.GauntletDir, paths.OddjobsDir} {
		inside := filepath.Join(parent, runbook.Dir) + sep
		if i := strings.LastIndex(sep+file, sep+inside); i >= 0 {
			return file[:i+len(inside)-1], filepath.ToSlash(file[i+len(inside):]), parent == paths.OddjobsDir
		}
	}
	return filepath.Dir(file), filepath.Base(file), false
}

// checked is what was looked at, counted.
func checked(set runbook.Set) string {
	var commands, pipelines, agents int
	for _, book := range set.Runbooks {
		commands, pipelines, agents = commands+len(book.Commands), pipelines+len(book.Pipelines), agents+len(book.Agents)
	}
	return strings.Join([]string{
		plain.Count(len(set.Runbooks), "runbook"), plain.Count(commands, "command"),
		plain.Count(pipelines, "pipeline"), plain.Count(agents, "agent"),
	}, ", ") + ": no errors"
}

func checkedFiles(set runbook.Set, faults runbook.Faults) []string {
	files := filesOf(faults)
	for _, book := range set.Runbooks {
		files = append(files, book.Path)
	}
	slices.Sort(files)
	return slices.Compact(files)
}

func filesOf(faults runbook.Faults) []string {
	files := []string{}
	for _, fault := range faults {
		if !slices.Contains(files, fault.File) {
			files = append(files, fault.File)
		}
	}
	return files
}

func warningsOf(set runbook.Set) (all runbook.Faults) {
	for _, book := range set.Runbooks {
		all = append(all, book.Warnings...)
	}
	return all
}

// orEmpty is a list in JSON, also where there is nothing in it.
func orEmpty(faults runbook.Faults) runbook.Faults {
	return append(runbook.Faults{}, faults...)
}

func printJSON(out io.Writer, v any) error {
	text, err := rawjson.Lines(v)
	if err == nil {
		_, err = out.Write(text)
	}
	return err
}

// printed is the exit code, unless nobody could be told.
func printed(errOut io.Writer, code int, err error) int {
	if err != nil {
		return complain(nil, errOut, false, err.Error(), "", 1)
	}
	return code
}

// complain says why a command of stopgate runbook failed, to a person and with --json also to the program
// that called it, and returns the exit code.
func complain(out, errOut io.Writer, asJSON bool, message, hint string, code int) int {
	fmt.Fprintln(errOut, "stopgate: "+plain.Line(message))
	if hint != "" {
		fmt.Fprintln(errOut, hint)
	}
	if !asJSON {
		return code
	}
	if text, err := rawjson.Complaint(message, hint, code); err == nil {
		_, _ = out.Write(text) // a reader that is gone still has the exit code
	}
	return code
}

// colour paints text on a terminal, unless NO_COLOR asks for none.
func colour(out io.Writer, code, text string) string {
	file, ok := out.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" || !term.IsTerminal(int(file.Fd())) {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
