//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/control/runbook/graph"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// shownBook is a runbook in JSON.
type shownBook struct {
	Path      string             `json:"path"`
	Imports   []runbook.Import   `json:"imports,omitempty"`
	Locals    map[string]string  `json:"locals,omitempty"`
	MaxAgents int                `json:"max_agents,omitempty"`
	Commands  []shownCommand     `json:"commands"`
	Pipelines []runbook.Pipeline `json:"pipelines"`
	Agents    []runbook.Agent    `json:"agents"`
}

type shownCommand struct {
	Name        string            `json:"name"`
	Usage       string            `json:"usage"`
	Description string            `json:"description,omitempty"`
	Defaults    map[string]string `json:"defaults,omitempty"`
	Run         runbook.Run       `json:"run"`
}

// showRunbooks shows what is sound; faults go to stderr.
func showRunbooks(name string, o runbookOptions, out, errOut io.Writer) int {
	set, faults, err := loadRunbooks(nil)
	if err != nil {
		return complain(out, errOut, o.json, err.Error(), "", failedOrNoProject(err))
	}

	code := 0
	if len(faults) > 0 {
		fmt.Fprintln(errOut, faults.Detail())
		code = 1
	}

	books := []shownBook{}
	for _, book := range set.Runbooks {
		if shown := pick(book, name); name == "" || shown.size() > 0 {
			books = append(books, shown)
		}
	}
	if name != "" && len(books) == 0 && code == 0 {
		return complain(out, errOut, o.json, fmt.Sprintf("no runbook defines a command, pipeline or agent %q", name), set.Meant(name, "see: stopgate runbook show"), 2)
	}

	switch {
	case o.svg != "":
		return printed(errOut, code, writeSVG(o.svg, books, out))
	case o.json:
		return printed(errOut, code, printJSON(out, books))
	}
	return printed(errOut, code, printBooks(out, books))
}

// failedOrNoProject is the exit code of what could not be read: that there is no project has its own.
func failedOrNoProject(err error) int {
	if errors.Is(err, errNoRunbooks) {
		return 2
	}
	return 1
}

// writeSVG draws the pipelines into a file; - is stdout. A command stands for the pipeline that
// it runs.
func writeSVG(file string, books []shownBook, out io.Writer) error {
	var graphs []graph.Graph
	for _, book := range books {
		for _, p := range book.Pipelines {
			graphs = append(graphs, graph.Of(p))
		}
	}
	if len(graphs) == 0 {
		return errors.New("there is no pipeline to draw")
	}
	picture := graph.SVG(graphs)
	if file == "-" {
		_, err := out.Write(picture)
		return err
	}
	return atomicfile.Write(file, picture, 0o644)
}

func (b shownBook) size() int { return len(b.Commands) + len(b.Pipelines) + len(b.Agents) }

// pick is what has a name, or everything.
func pick(book runbook.Runbook, name string) shownBook {
	shown := shownBook{book.Path, book.Imports, book.Locals, book.MaxAgents, []shownCommand{}, []runbook.Pipeline{}, []runbook.Agent{}}
	wanted := func(n string) bool { return name == "" || n == name }
	for _, n := range slices.Sorted(maps.Keys(book.Commands)) {
		if c := book.Commands[n]; wanted(n) {
			shown.Commands = append(shown.Commands, shownCommand{n, c.Args.String(), c.Description, c.Defaults, c.Run})
		}
	}
	for _, n := range slices.Sorted(maps.Keys(book.Pipelines)) {
		if wanted(n) {
			shown.Pipelines = append(shown.Pipelines, book.Pipelines[n])
		}
	}
	for _, n := range slices.Sorted(maps.Keys(book.Agents)) {
		if wanted(n) {
			shown.Agents = append(shown.Agents, book.Agents[n])
		}
	}
	return shown
}

func printBooks(out io.Writer, books []shownBook) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for i, book := range books {
		if i > 0 {
			fmt.Fprintln(table)
		}
		fmt.Fprintln(table, plain.Line(book.Path))
		if book.MaxAgents > 0 {
			fmt.Fprintf(table, "  at most %d agents at once\n", book.MaxAgents)
		}

		for _, i := range book.Imports {
			printImport(table, i)
		}
		printLocals(table, book.Locals)
		for _, c := range book.Commands {
			printCommand(table, c)
		}
		for _, p := range book.Pipelines {
			printPipeline(table, p)
		}
		for _, a := range book.Agents {
			printAgent(table, a)
		}
	}
	return table.Flush()
}

// printImport tells where definitions come from. What is part of the program has its version.
func printImport(out io.Writer, i runbook.Import) {
	from := plain.Line(i.File)
	if i.Library != "" {
		from = "library " + i.Library + " (stopgate " + i.Version + ")"
	}
	if i.Alias != "" {
		from += " as " + i.Alias
	}
	fmt.Fprintf(out, "  imports %s\n", from)
}

func printCommand(out io.Writer, c shownCommand) {
	fmt.Fprintf(out, "\n  command %s\n", strings.TrimSpace(c.Name+" "+c.Usage))
	if c.Description != "" {
		fmt.Fprintf(out, "    %s\n", plain.Line(c.Description))
	}
	fmt.Fprintf(out, "    runs %s\n", graph.What(c.Run))
}

// printPipeline draws steps and where each leads: on its own word, or the pipeline's.
func printPipeline(out io.Writer, p runbook.Pipeline) {
	fmt.Fprintf(out, "\n  pipeline %s\n", p.Name)
	printBounds(out, p.Budget, p.Expire, "")
	printLocals(out, p.Locals)
	for _, line := range graph.Of(p).Text() {
		fmt.Fprintf(out, "    %s\n", line)
	}
}

func printLocals(out io.Writer, locals map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(locals)) {
		fmt.Fprintf(out, "    local %s: %s\n", name, graph.Short(locals[name]))
	}
}

func printAgent(out io.Writer, a runbook.Agent) {
	fmt.Fprintf(out, "\n  agent %s\n    sh: %s\n", a.Name, graph.Short(a.Run))
	if a.Prompt != "" {
		fmt.Fprintf(out, "    prompt: %s\n", graph.Short(a.Prompt))
	}
	if a.MaxConcurrency > 0 {
		fmt.Fprintf(out, "    at most %d at once\n", a.MaxConcurrency)
	}
	printBounds(out, a.Budget, a.Expire, " when it runs alone")

	stop := string(a.OnStop)
	if stop == "" {
		stop = fmt.Sprintf("%s in a pipeline, %s alone", a.StopAction(false), a.StopAction(true))
	}
	fmt.Fprintf(out, "    on_stop\t%s\n", stop)
	fmt.Fprintf(out, "    on_idle\t%s\n    on_dead\t%s\n    on_prompt\t%s\n", action(a.OnIdle), action(a.OnDead), action(a.OnPrompt))

	for _, e := range a.OnError {
		match := string(e.Match)
		if match == "" {
			match = "any"
		}
		fmt.Fprintf(out, "    on_error\t%s: %s\n", match, action(e.Action))
	}
	if len(a.OnError) == 0 {
		fmt.Fprintf(out, "    on_error\tescalate\n")
	}
}

// printBounds tells what something may cost, and how long people may take to answer.
func printBounds(out io.Writer, b runbook.Budget, e runbook.Expire, where string) {
	var most []string
	if b.USD > 0 {
		most = append(most, fmt.Sprintf("$%.2f", b.USD))
	}
	if b.Time > 0 {
		most = append(most, plain.Duration(b.Time))
	}
	if len(most) > 0 {
		fmt.Fprintf(out, "    budget %s%s\n", strings.Join(most, " and "), where)
	}
	if e.After > 0 {
		fmt.Fprintf(out, "    a decision expires after %s: %s%s\n", plain.Duration(e.After), e.Answer, where)
	}
}

// action is an action with its options, in words.
func action(a runbook.Action) string {
	text := string(a.Kind)
	if a.Run != "" {
		text += " " + graph.Short(a.Run)
	}
	if a.Message != "" {
		text += " “" + graph.Short(a.Message) + "”"
	}
	switch {
	case a.Attempts == runbook.Forever:
		text += ", without limit"
	case a.Attempts > 1:
		text += fmt.Sprintf(", %d times", a.Attempts)
	}
	if a.Cooldown > 0 {
		text += ", " + plain.Duration(a.Cooldown) + " apart"
	}
	return text
}
