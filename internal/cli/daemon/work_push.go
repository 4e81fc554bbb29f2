package daemon

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
)

// NewQueue is NewWork as oddjobs called it: queue push, and queue items.
func NewQueue() *cobra.Command {
	list := newWorkList()
	list.Aliases = []string{"items"}
	return term.Group(&cobra.Command{
		Use:   "queue",
		Short: "Push and show the items of queues that workers run pipelines for",
		Long: `Push items to the queues of a project's runbooks, and show them. A worker runs a pipeline for each
item. An item that failed as often as its queue allows is dead; retry tries it again.`,
		Example: `  oj queue push issues --var number=17
  oj queue list issues`,
	}, newQueuePush(), list, newWorkShow(), newWorkChange("retry"), newWorkChange("drop"))
}

// newQueuePush is work add, which also takes an item as a JSON object or as --var NAME=VALUE.
func newQueuePush() *cobra.Command {
	var vars []string
	cmd := newWorkAdd()
	cmd.Use = "push QUEUE [JSON | VAR=VALUE…]"
	cmd.Example = `  oj queue push issues '{"number": 17}'
  oj queue push issues --var number=17`
	cmd.Flags().StringArrayVar(&vars, "var", nil, "a variable of the item, as `NAME=VALUE`; may be repeated")

	check, run := cmd.Args, cmd.RunE
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		args, err := pushed(args, vars)
		if err != nil {
			return term.BadUsage(err, "usage: "+cmd.UseLine())
		}
		return check(cmd, args)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		args, err := pushed(args, vars)
		if err != nil {
			return err
		}
		return run(cmd, args)
	}
	return cmd
}

// pushed are the arguments of work add: a queue, and an item as VAR=VALUE.
func pushed(args, vars []string) ([]string, error) {
	if len(args) != 2 || !strings.HasPrefix(strings.TrimSpace(args[1]), "{") {
		return slices.Concat(args, vars), nil
	}
	items, err := daemonapi.ParseItems([]byte("[" + args[1] + "]"))
	if err != nil {
		return nil, err
	}
	if len(items) != 1 {
		return nil, errors.New("push takes one item")
	}
	words := []string{args[0]}
	for _, name := range slices.Sorted(maps.Keys(items[0])) {
		words = append(words, fmt.Sprintf("%s=%s", name, items[0][name]))
	}
	return append(words, vars...), nil
}
