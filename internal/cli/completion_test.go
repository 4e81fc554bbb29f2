package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// Where a command takes no argument, the shell offers no file for one.
func TestNoFilesWhereNoArgumentFits(t *testing.T) {
	tried := 0
	for _, words := range commandLines(newRoot("stopgate")) {
		root := newRoot("stopgate")
		cmd, _, err := root.Find(words)
		check(t, err)
		if cmd.Args == nil || cmd.Args(cmd, []string{"x"}) == nil {
			continue
		}
		var out bytes.Buffer
		root.SetOut(&out)
		root.SetErr(&out)
		root.SetArgs(slices.Concat([]string{"__complete"}, words, []string{""}))
		if err := root.Execute(); err != nil || !strings.Contains("\n"+out.String(), "\n:4\n") {
			t.Errorf("%q: %v, %q", words, err, out.String())
		}
		tried++
	}
	if tried < 50 {
		t.Errorf("only %d commands", tried)
	}
}

// What takes files exists.
func TestWhatTakesFiles(t *testing.T) {
	commands, flags := slices.Clone(takeFiles), slices.Clone(fileFlags)
	root := newRoot("stopgate")
	for _, words := range append(commandLines(root), []string{"claude"}) {
		cmd, _, err := root.Find(words)
		check(t, err)
		commands = slices.DeleteFunc(commands, func(name string) bool { return name == strings.Join(words, " ") })
		flags = slices.DeleteFunc(flags, func(name string) bool { return cmd.Flags().Lookup(name) != nil })
	}
	if len(commands)+len(flags) > 0 {
		t.Errorf("there is no command %q and no flag %q", commands, flags)
	}
}
