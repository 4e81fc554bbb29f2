package term

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// completionTimeout is the longest wait for what completes an argument: a person is typing.
const completionTimeout = 300 * time.Millisecond

// Completion completes up to most arguments of a command, in the time that a person waits. words are
// all that fit behind the arguments that were typed, each with a description behind a tab, if it has
// one; those that do not begin as the last argument does are left out.
func Completion(most int, words func(ctx context.Context, typed []string) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, typed []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(typed) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		fits := candidates(words(ctx, typed), typed, begun)
		if len(fits) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return fits, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// CompleteFlag has the shell complete the value of a flag, as Completion does an argument.
func CompleteFlag(cmd *cobra.Command, flag string, words func(ctx context.Context) []string) {
	complete := Completion(1, func(ctx context.Context, _ []string) []string { return words(ctx) })
	err := cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return complete(cmd, nil, begun)
	})
	if err != nil {
		panic(err) // there is no such flag
	}
}

// CompleteArgs has the shell complete up to most arguments.
func CompleteArgs(cmd *cobra.Command, most int, words func(ctx context.Context) []string) {
	cmd.ValidArgsFunction = Completion(most, func(ctx context.Context, _ []string) []string { return words(ctx) })
}

// candidates are the words that begin so and are not among those that were typed.
func candidates(words, typed []string, begun string) (fits []string) {
	for _, word := range words {
		name, _, _ := strings.Cut(word, "\t")
		if strings.HasPrefix(name, begun) && !slices.Contains(typed, name) {
			fits = append(fits, word)
		}
	}
	return fits
}
