package console

import (
	"context"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/stopgate/stopgate/internal/control/fleet/member"
)

// doing says on a terminal what a command does meanwhile, in place of what it said before; nothing ends that. Pipes
// and files get only what it found.
func (c *command) doing(what string) {
	file, ok := c.errOut.(*os.File)
	if ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd())) {
		fmt.Fprint(file, progress(what))
	}
}

func progress(what string) string {
	if what == "" {
		return "\r\x1b[K"
	}
	return "\r\x1b[K" + what + "…"
}

// lookQuietly is look for a command that has its own words about the daemon.
func (c *command) lookQuietly(ctx context.Context, id member.Identity) status {
	quiet := *c
	quiet.errOut = io.Discard
	return quiet.look(ctx, id)
}
