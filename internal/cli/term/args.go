package term

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stopgate/stopgate/internal/project/document"
)

// FlagError explains flags that were not understood. Where a command was not understood before
// them, that is the reason.
func FlagError(cmd *cobra.Command, err error) error {
	usage := UsageError{error: err, Hint: "see: " + cmd.CommandPath() + " --help"}
	if flag := unknownFlag(err); flag != "" {
		usage.Hint = document.Hint(flag, flagNames(cmd), usage.Hint)
	}
	if cmd.HasSubCommands() {
		if unknown, ok := errors.AsType[UsageError](NoArgs(cmd, cmd.Flags().Args())); ok {
			usage = unknown
		}
	}
	usage.flags = true
	return usage
}

// unknownFlag is the flag that there is not, as it was written; "" where an error is about something else.
func unknownFlag(err error) string {
	unknown := (*pflag.NotExistError)(nil)
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return ""
	}
	return "--" + unknown.GetSpecifiedName()
}

func flagNames(cmd *cobra.Command) (names []string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	return names
}

// Words are a command's without the program's name, which stands before every error.
func Words(cmd *cobra.Command) string {
	_, words, found := strings.Cut(cmd.CommandPath(), " ")
	if !found {
		return cmd.CommandPath()
	}
	return words
}

// NoArgs refuses arguments, and guesses the command that was meant.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "see: " + cmd.CommandPath() + " --help"
	if !cmd.HasSubCommands() {
		return BadUsage(fmt.Errorf("%s takes no argument, got %q", Words(cmd), args[0]), hint)
	}
	err := fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
	cmd.SuggestionsMinimumDistance = 2 // letters
	near := meant(cmd, args[0])
	if near == nil {
		near = cmd.SuggestionsFor(args[0])
	}
	if len(near) > 0 {
		hint = "did you mean " + strings.Join(near, ", ") + "?"
	}
	return BadUsage(err, hint)
}

// meant are the commands that say that they are meant by a word. They come before those whose names
// have nearly the same letters.
func meant(cmd *cobra.Command, word string) (near []string) {
	for _, c := range cmd.Commands() {
		if slices.Contains(c.SuggestFor, word) {
			near = append(near, c.Name())
		}
	}
	return near
}

// AtMostOne refuses flags that cannot be combined.
func AtMostOne(cmd *cobra.Command, names ...string) error {
	var set []string
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			set = append(set, "--"+name)
		}
	}
	if len(set) < 2 {
		return nil
	}
	return BadUsage(errors.New(strings.Join(set, " and ")+" cannot be combined"), "see: "+cmd.CommandPath()+" --help")
}

// OneArg wants exactly one argument.
func OneArg(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return BadUsage(fmt.Errorf("%s takes one argument, got %d", Words(cmd), len(args)), "usage: "+cmd.UseLine())
}

// AtMostOneArg wants one argument or none.
func AtMostOneArg(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return OneArg(cmd, args)
}

// UntilSignal is a context that ends with Ctrl-C or a polite kill.
func UntilSignal(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
}

// DurationFlag is a duration that also takes days and a plain 0.
type DurationFlag time.Duration

func (d *DurationFlag) Set(text string) error {
	parsed, err := parseAge(text)
	if err == nil && parsed < 0 {
		err = fmt.Errorf("%s is negative", text)
	}
	*d = DurationFlag(parsed)
	return err
}

// String leaves zero out: help shall show no default.
func (d *DurationFlag) String() string {
	if *d == 0 {
		return ""
	}
	return time.Duration(*d).String()
}

// Type implements pflag.Value.
func (*DurationFlag) Type() string { return "DURATION" }
