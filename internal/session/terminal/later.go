package terminal

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// RunLater has the server itself start a program after a while, in the background: a timer that
// lives as long as the server's sessions, whatever becomes of us. The program gets these
// variables besides those of the server, and what it prints is dropped. It needs tmux 3.2.
func (s Server) RunLater(ctx context.Context, after time.Duration, env, argv []string) error {
	words := []string{"env"}
	for _, word := range append(append([]string{}, env...), argv...) {
		words = append(words, "'"+strings.ReplaceAll(word, "'", `'\''`)+"'")
	}
	// tmux shows people how a command failed, in the pane that they are looking at.
	script := strings.Join(words, " ") + " </dev/null >/dev/null 2>&1 || :"
	_, err := s.tmux(ctx, "", "run-shell", "-b", "-d", strconv.FormatFloat(after.Seconds(), 'f', -1, 64), strings.ReplaceAll(script, "#", "##"))
	return err
}
