package cli

import "github.com/spf13/cobra"

// guesses are words that people type for our commands, from other tools and in a hurry. Without
// them "stopgate install" would suggest uninstall, which is the nearest by its letters.
var guesses = map[string][]string{
	"init":      {"install", "setup"},
	"hooks":     {"install"},
	"run":       {"test", "tests", "gates", "verify"},
	"log":       {"logs", "history"},
	"why":       {"explain"},
	"off":       {"disable", "pause", "skip", "stop"},
	"on":        {"enable", "resume"},
	"trust":     {"allow"},
	"validate":  {"config", "lint"},
	"top":       {"watch", "tui"},
	"ui":        {"web", "dashboard"},
	"uninstall": {"remove", "purge", "delete"},
}

func addGuesses(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		cmd.SuggestFor = guesses[cmd.Name()]
	}
}
