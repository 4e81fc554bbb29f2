package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

const runbookUsage = `usage: stopgated runbook check [FILE…] [--json]   find every fault in the project's runbooks, or in these files
       stopgated runbook show [NAME] [--json]     show commands, pipelines and agents, or those of that name

Runbooks are the *.toml and *.hcl below .gauntlet/runbooks. The shell's syntax in them is not checked.
Exit code 0: sound. 1: there are faults. 2: usage.
`

// runRunbook is stopgated runbook check and show, and returns the exit code.
func runRunbook(args []string, out, errOut io.Writer) int {
	words, asJSON, ok := runbookArgs(args)
	switch {
	case ok && len(words) > 0 && words[0] == "check":
		return checkRunbooks(words[1:], asJSON, out, errOut)
	case ok && len(words) > 0 && len(words) < 3 && words[0] == "show":
		return showRunbooks(append(words[1:], "")[0], asJSON, out, errOut)
	}
	fmt.Fprint(errOut, runbookUsage)
	return 2
}

// runbookArgs takes the option out of the words; a word after -- is none.
func runbookArgs(args []string) (words []string, asJSON, ok bool) {
	for i, arg := range args {
		switch {
		case arg == "--":
			return append(words, args[i+1:]...), asJSON, true
		case arg == "--json":
			asJSON = true
		case strings.HasPrefix(arg, "-"):
			return nil, false, false
		default:
			words = append(words, arg)
		}
	}
	return words, asJSON, true
}

var errNoRunbooks = errors.New("no .gauntlet/runbooks here or above")

// checkRunbooks says what is wrong, or what was looked at.
func checkRunbooks(files []string, asJSON bool, out, errOut io.Writer) int {
	set, faults, err := loadRunbooks(files)
	if err != nil && !errors.Is(err, errNoRunbooks) {
		fmt.Fprintf(errOut, "stopgated: %v\n", err)
		return 1
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
		b.WriteString(colour(out, "31", number(len(faults), "fault")+" in "+number(len(filesOf(faults)), "file")) + "\n")
	} else {
		b.WriteString(colour(out, "32", checked(set)) + "\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// loadRunbooks reads the project's runbooks, or some files.
func loadRunbooks(files []string) (set runbook.Set, faults runbook.Faults, err error) {
	if len(files) == 0 {
		dir, err := runbooksDir()
		if err != nil {
			return set, nil, err
		}
		set, err = runbook.Load(dir)
		errors.As(err, &faults)
		return set, faults, nil
	}
	for _, file := range files {
		one, err := runbook.LoadFile(directoryOf(file))
		set.Runbooks = append(set.Runbooks, one.Runbooks...)
		var wrong runbook.Faults
		errors.As(err, &wrong)
		faults = append(faults, wrong...)
	}
	return set, faults, nil
}

// runbooksDir is the directory of the nearest project that has runbooks, as a person here
// would write it.
func runbooksDir() (string, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	root, found := paths.ProjectRoot(paths.HasRunbooks, cwd)
	if !found {
		return "", errNoRunbooks
	}
	dir := filepath.Join(root, paths.GauntletDir, runbook.Dir)
	if short, err := filepath.Rel(cwd, dir); err == nil && filepath.IsLocal(short) {
		return short, nil
	}
	return dir, nil
}

// directoryOf splits a path into the runbooks directory, where prompts are looked for, and
// the rest. A file that lies in none is in its own.
func directoryOf(file string) (dir, name string) {
	sep := string(filepath.Separator)
	file = filepath.Clean(file)
	inside := filepath.Join(paths.GauntletDir, runbook.Dir) + sep
	if i := strings.LastIndex(sep+file, sep+inside); i >= 0 {
		return file[:i+len(inside)-1], filepath.ToSlash(file[i+len(inside):])
	}
	return filepath.Dir(file), filepath.Base(file)
}

// checked is what was looked at, counted.
func checked(set runbook.Set) string {
	var commands, pipelines, agents int
	for _, book := range set.Runbooks {
		commands, pipelines, agents = commands+len(book.Commands), pipelines+len(book.Pipelines), agents+len(book.Agents)
	}
	return strings.Join([]string{
		number(len(set.Runbooks), "runbook"), number(commands, "command"),
		number(pipelines, "pipeline"), number(agents, "agent"),
	}, ", ") + ": no fault"
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

func number(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
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
		fmt.Fprintf(errOut, "stopgated: %v\n", err)
		return 1
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
