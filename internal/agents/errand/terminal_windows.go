package errand

import "errors"

func canTerminal() error { return &Failure{"an agent in a terminal needs tmux, and tmux needs unix"} }

// RunInTerminal needs a terminal as unix has them.
func RunInTerminal(string) error { return errors.New("tmux needs unix") }
