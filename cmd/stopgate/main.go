// Command stopgate answers Claude Code's hooks.
package main

import (
	"os"

	"github.com/stopgate/stopgate/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args)) }
