// Command stopgate answers Claude Code's hooks.
package main

import (
	"os"

	"github.com/stopgate/stopgate/internal/cli"
)

func main() {
	growStack(len(os.Args))
	os.Exit(cli.Main(os.Args))
}

// growStack grows the stack while there is next to nothing on it. A hook needs this much, and would
// get there in four steps, each of which copies all frames and loads the tables that describe them.
//
//go:noinline
func growStack(any int) byte {
	var room [20 << 10]byte
	return room[any%len(room)]
}
