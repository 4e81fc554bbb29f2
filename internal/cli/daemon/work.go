package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func NewWork() *cobra.Command {
	return term.Group(&cobra.Command{
		Use:   "work",
		Short: "Add and show the items of queues that workers run pipelines for",
		Long: `Add items to the queues of a project's runbooks, and show them. A worker (see stopgate worker) runs a
pipeline for each item. An item that failed as often as its queue allows is dead; retry tries it again.`,
		Example: `  stopgate work add issues number=17 title="Fix the clock"
  stopgate work list issues
  stopgate work retry 3f9a12bc`,
	}, newWorkAdd(), newWorkList(), newWorkShow(), newWorkChange("retry"), newWorkChange("drop"))
}

func newWorkAdd() *cobra.Command {
	var project projectFlag
	var from string
	cmd := &cobra.Command{
		Use:   "add QUEUE [VAR=VALUE…]",
		Short: "Add items to a queue",
		Long: `Add an item with these variables to a queue, or with --from all items of a file: a JSON array of
objects, or one object per line (- is standard input). An item whose key is in the queue already is
not added again. The daemon is started if it is not running.

Exit code 0: added, or in the queue already. 1: refused. 2: usage error. 3: the daemon could not be
started, or the runbooks are not approved.`,
		Example: `  stopgate work add issues number=17 title="Fix the clock"
  gh issue list --json number,title | stopgate work add issues --from -`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return term.BadUsage(fmt.Errorf("%s %s needs a queue", cmd.Parent().Name(), cmd.Name()), "usage: "+cmd.UseLine())
			}
			if _, err := valuesOf(args[1:]); err != nil {
				return term.BadUsage(err, "usage: "+cmd.UseLine())
			}
			if (from == "") == (len(args) == 1) {
				return term.BadUsage(fmt.Errorf("%s %s needs either VAR=VALUE or --from", cmd.Parent().Name(), cmd.Name()), "usage: "+cmd.UseLine())
			}
			return nil
		},
	}
	cmd = acts(cmd, nil)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		items, err := itemsOf(cmd.InOrStdin(), from, args[1:])
		if err != nil {
			return err
		}
		root, err := project.existing()
		if err != nil {
			return err
		}
		return acting(func(ctx context.Context, p *Daemon, args []string) error {
			return p.addWork(ctx, root, args[0], items)
		})(cmd, args)
	}
	project.add(cmd)
	cmd.Flags().StringVar(&from, "from", "", "add all items of this JSON `file`; - is standard input")
	return cmd
}

// valuesOf reads VAR=VALUE.
func valuesOf(args []string) (map[string]string, error) {
	values := map[string]string{}
	for _, arg := range args {
		name, value, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%q is not VAR=VALUE", plain.Line(arg))
		}
		values[name] = value
	}
	return values, nil
}

// mostRead is how large a file with items may be.
const mostRead = 16 << 20

// itemsOf are the items that are to be added.
func itemsOf(in io.Reader, from string, args []string) ([]map[string]string, error) {
	if from == "" {
		values, err := valuesOf(args)
		return []map[string]string{values}, err
	}
	text, err := readItems(in, from)
	if err != nil {
		return nil, err
	}
	items, err := daemonapi.ParseItems(text)
	switch {
	case err != nil:
		return nil, term.WithHint(err, `such as: [{"number": 17}]`)
	case len(items) == 0:
		return nil, errors.New("there are no items in it")
	}
	return items, nil
}

// addedAtOnce is how many items go into one request.
const addedAtOnce = 100

func (p *Daemon) addWork(ctx context.Context, root, queue string, items []map[string]string) error {
	all, known := []daemonapi.WorkItem{}, 0
	for some := range slices.Chunk(items, addedAtOnce) {
		request := daemonapi.AddWork{Project: root, Queue: queue}
		for _, vars := range some {
			request.Items = append(request.Items, daemonapi.NewItem{ID: daemonapi.NewID(), Vars: vars})
		}
		added, err := insist(ctx, p, func() ([]daemonapi.WorkItem, error) { return p.AddWork(ctx, request) })
		if err != nil {
			return err
		}
		all = append(all, added...)
		known += len(added) - addedOf(request, added)
	}
	if known > 0 {
		fmt.Fprintf(p.errOut, "stopgate: not added, since the queue has their keys already: %s\n", plain.Count(known, "item"))
	}
	return term.Once(p.out, p.asJSON, workList(all, time.Now))
}

// addedOf is how many items of an answer are new ones of the request.
func addedOf(request daemonapi.AddWork, answer []daemonapi.WorkItem) (n int) {
	for _, item := range answer {
		if slices.ContainsFunc(request.Items, func(i daemonapi.NewItem) bool { return i.ID == item.ID }) {
			n++
		}
	}
	return n
}

func newWorkList() *cobra.Command {
	return projectList{
		all: "list those of all projects",
		list: func(ctx context.Context, p *Daemon, root string, args []string) (term.Glimpse, error) {
			items, err := p.Work(ctx, root, strings.Join(args, ""))
			return workList(items, time.Now), err
		},
	}.command(&cobra.Command{
		Use:   "list [QUEUE]",
		Short: "List the items of queues",
		Long: `List the items of the project's queues, or of one queue, oldest first. STATE is pending, running, done,
failed if it is tried again, or dead if it is not.

Exit code 0: listed, or no daemon is running. 3: the daemon crashed or does not answer.`,
		Example: `  stopgate work list
  stopgate work list --json | jq -r '.[] | select(.state == "dead").id'`,
		Args: term.AtMostOneArg,
	})
}

func newWorkShow() *cobra.Command {
	return asks(&cobra.Command{
		Use:   "show ID",
		Short: "Show an item",
		Long: `Show an item of a queue with its variables, and the pipeline that was started for it.

Exit code 0: shown. 2: there is no such item. 3: the daemon is not running.`,
		Example: `  stopgate work show 3f9a12bc`,
		Args:    term.OneArg,
	}, func(ctx context.Context, p *Daemon, args []string) error {
		item, err := p.WorkItem(ctx, args[0])
		if err != nil {
			return err
		}
		return term.Once(p.out, p.asJSON, workShow{item})
	})
}

func newWorkChange(use string) *cobra.Command {
	short, long := "Retry an item that failed or is dead", "Retry an item that failed or is dead, with a new count of attempts."
	if use == "drop" {
		short, long = "Remove an item", "Remove an item. One that is running cannot be removed: cancel its pipeline first."
	}
	return acts(&cobra.Command{
		Use: use + " ID", Short: short,
		Long: long + `

Exit code 0: done. 1: refused. 2: there is no such item. 3: the daemon could not be started.`,
		Example: "  stopgate work " + use + " 3f9a12bc",
		Args:    term.OneArg,
	}, func(ctx context.Context, p *Daemon, args []string) error {
		change, word := p.RetryWork, "is pending again"
		if use == "drop" {
			change, word = p.DropWork, "removed"
		}
		item, err := change(ctx, args[0])
		if err != nil {
			return err
		}
		if p.asJSON {
			return term.PrintJSON(p.out, item)
		}
		_, err = fmt.Fprintf(p.out, "item %s %s\n", shortID(item.ID), word)
		return err
	})
}

// workList is items at one moment.
func workList(all []daemonapi.WorkItem, now func() time.Time) term.Glimpse {
	return term.List[daemonapi.WorkItem]{
		All:  all,
		Fact: func(i *daemonapi.WorkItem) string { return "item " + shortID(i.ID) + ": " + i.State },
		Draw: func(p term.Paint, width, height int) []string { return workLines(all, now(), p, width, height) },
	}
}

func workLines(all []daemonapi.WorkItem, now time.Time, p term.Paint, width, height int) []string {
	if len(all) == 0 {
		return []string{term.Cut("no items", width), p.Faint(term.Cut("add one with: stopgate work add QUEUE VAR=VALUE", width))}
	}
	rows := [][]string{{"ID", "QUEUE", "STATE", "PIPELINE", "AGE", ""}}
	for i := range all {
		item := &all[i]
		owner := "-"
		if item.Owner != "" {
			owner = shortID(item.Owner)
		}
		rows = append(rows, []string{shortID(item.ID), plain.Line(item.Queue), item.State, owner, term.Age(item.Added, now), aboutItem(item)})
	}
	return term.Fit(term.Table(rows, width, term.Headed(p, func(row, column int, text string) string {
		if column == 2 {
			return itemColour(p, all[row].State, text)
		}
		return text
	})), height)
}

// aboutItem is why an item failed, else what it is.
func aboutItem(i *daemonapi.WorkItem) string {
	if i.Error != "" {
		return plain.Line(i.Error)
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(i.Vars)) {
		all = append(all, name+"="+i.Vars[name])
	}
	return plain.Line(strings.Join(all, " "))
}

func itemColour(p term.Paint, state, text string) string {
	switch state {
	case "dead":
		return p.Red(text)
	case "failed":
		return p.Yellow(text)
	}
	return inState(p, state, text)
}

// workShow is one item.
type workShow struct{ item daemonapi.WorkItem }

func (s workShow) JSON() any { return s.item }

func (s workShow) Over() bool { return true }

func (s workShow) Facts() []term.Fact {
	return []term.Fact{{Text: "item " + shortID(s.item.ID) + ": " + s.item.State, At: s.item.Updated}}
}

func (s workShow) Lines(p term.Paint, width, height int) []string {
	i := &s.item
	lines := []string{itemColour(p, i.State, "item "+i.ID+" of "+plain.Line(i.Queue)+": "+i.State)}
	row := func(name, text string) {
		if text != "" {
			lines = append(lines, term.Cut(fmt.Sprintf("  %-10s %s", name, plain.Line(text)), width))
		}
	}
	row("project", filepath.Clean(i.Project))
	row("key", i.Key)
	row("worker", i.Worker)
	row("pipeline", i.Owner)
	row("error", i.Error)
	if i.Failures > 0 {
		row("failures", fmt.Sprint(i.Failures))
	}
	if i.Ready != nil {
		row("not before", i.Ready.Local().Format("2006-01-02 15:04:05"))
	}
	for _, name := range slices.Sorted(maps.Keys(i.Vars)) {
		lines = append(lines, term.Cut("  "+plain.Line(name)+" = "+plain.Line(i.Vars[name]), width))
	}
	return term.Fit(lines, height)
}
