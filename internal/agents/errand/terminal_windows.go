package errand

import "errors"

func canTerminal() error { return &Failure{"agents in a terminal need tmux, which needs Unix"} }

// RunInTerminal needs a terminal as unix has them.
func RunInTerminal(string) error { return errors.New("tmux needs Unix") }
