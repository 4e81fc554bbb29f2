package process

import "os"

// Detach starts a command that goes on after this process has ended. Its output
// goes to log, or nowhere if that is nil: Claude Code waits for every process
// that holds a hook's own output open.
func Detach(args, env []string, log *os.File) error {
	return start(args, env, nil, log)
}

// DetachAfter is Detach for a command that has to wait until this process has ended:
// its standard input is empty, and ends with us.
func DetachAfter(args, env []string, log *os.File) error {
	stdin, err := endsWithUs()
	if err != nil {
		return err
	}
	defer stdin.Close()
	return start(args, env, stdin, log)
}
