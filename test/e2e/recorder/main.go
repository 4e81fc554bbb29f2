// Command recorder is a hook that saves the payload on its stdin into the directory it is given.
//
// It is a program of its own because a test binary built with -race sleeps for a second when it
// exits, and the client waits for its hooks.
package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: recorder DIRECTORY")
		os.Exit(1)
	}
	if err := save(os.Args[1], os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "recorder:", err)
		os.Exit(1)
	}
}

// save writes the payload under the next free number. Linking a finished file makes it appear
// whole, and makes the number the order in which hooks ran, for all hooks at once.
func save(dir string, payload io.Reader) error {
	file, err := os.CreateTemp(dir, "writing-")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	if _, err := io.Copy(file, payload); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	for n := 1; ; n++ {
		err := os.Link(file.Name(), filepath.Join(dir, fmt.Sprintf("%06d.json", n)))
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
}
