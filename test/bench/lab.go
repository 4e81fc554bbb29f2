//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// lab is where things are measured.
type lab struct {
	dir      string // everything that is made lies in it
	stopgate string
	other    string   // the program that the suite is about beside it
	env      []string // of every program
}

func (l *lab) close() { _ = os.RemoveAll(l.dir) }

func (l *lab) path(name string) string { return filepath.Join(l.dir, name) }

// repository makes a clone with so many files, and the extra ones by name, all of
// them committed and part of origin/main.
func (l *lab) repository(ctx context.Context, name string, files int, extra map[string]string) (dir string, err error) {
	dir = l.path(name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	var history bytes.Buffer
	history.WriteString("commit refs/heads/main\ncommitter bench <bench@example.invalid> 1700000000 +0000\ndata 0\n")
	for i := range files {
		inline(&history, fileName(i), content(i, "as committed"))
	}
	for name, text := range extra {
		inline(&history, name, text)
	}
	for _, step := range []struct {
		stdin io.Reader
		args  []string
	}{
		{nil, []string{"init", "--quiet", "--initial-branch=main"}},
		{&history, []string{"fast-import", "--quiet"}},
		{nil, []string{"reset", "--quiet", "--hard"}},
		{nil, []string{"update-ref", "refs/remotes/origin/main", "HEAD"}},
		{nil, []string{"symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"}},
	} {
		cmd := exec.CommandContext(ctx, "git", step.args...)
		cmd.Dir, cmd.Env, cmd.Stdin = dir, l.env, step.stdin
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("git %s: %w\n%s", step.args[0], err, out)
		}
	}
	return dir, nil
}

func inline(history io.Writer, name, text string) {
	fmt.Fprintf(history, "M 100644 inline %s\ndata %d\n%s\n", name, len(text), text)
}

// fileName puts a hundred files into each folder.
func fileName(i int) string { return fmt.Sprintf("pkg%04d/file%02d.txt", i/100, i%100) }

// content is some lines that no other file has.
func content(i int, state string) string {
	return strings.Repeat(fmt.Sprintf("line of file %d, %s\n", i, state), 8)
}

// change edits the first files of a repository. Their size stays, so git has to
// read them to see it.
func change(dir string, files int) error {
	for i := range files {
		if err := os.WriteFile(filepath.Join(dir, fileName(i)), []byte(content(i, "as it is now")), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// settle waits until the disk is idle and nobody, neither git nor we, must read a
// file again because it could have been written in the same tick of the clock.
func settle(ctx context.Context) error {
	syscall.Sync()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(3 * time.Second):
		return nil
	}
}
