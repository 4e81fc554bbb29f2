package standin

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// Headless stands in for a client without a terminal: a shell script that notes how it is called,
// each time in a directory of its own, and then acts.
type Headless struct {
	t   testing.TB
	dir string
}

// NewHeadless makes the script, which does nothing yet, and keeps what it notes in a directory.
func NewHeadless(t testing.TB, path, dir string) *Headless {
	t.Helper()
	h := &Headless{t, dir}
	checktest.OK(t, os.MkdirAll(h.calls(), 0o700))
	h.Acts("")
	checktest.OK(t, os.WriteFile(path, []byte(`#!/bin/sh
n=1
until mkdir '`+h.calls()+`'/$n 2>/dev/null; do n=$((n+1)); done
call='`+h.calls()+`'/$n
for arg; do printf '%s\0' "$arg"; done > "$call/args"
env -0 > "$call/env"
pwd -P > "$call/cwd"
cat > "$call/stdin"
. '`+h.act()+`'
`), 0o700))
	return h
}

func (h *Headless) calls() string { return filepath.Join(h.dir, "calls") }
func (h *Headless) act() string   { return filepath.Join(h.dir, "act") }

// Stream is the file of the lines that it prints.
func (h *Headless) Stream() string { return filepath.Join(h.dir, "stream") }

// Acts says what it does, as a shell script. The directory of its call is $call.
func (h *Headless) Acts(script string) {
	h.t.Helper()
	checktest.Write(h.t, h.act(), script+"\n")
}

// Answers has it print lines.
func (h *Headless) Answers(lines ...string) {
	h.t.Helper()
	checktest.Write(h.t, h.Stream(), strings.Join(lines, "\n")+"\n")
	h.Acts("cat '" + h.Stream() + "'")
}

// Calls is how often it was called.
func (h *Headless) Calls() int {
	h.t.Helper()
	entries, err := os.ReadDir(h.calls())
	checktest.OK(h.t, err)
	return len(entries)
}

// Note is the file of something that the n-th call noted, from 1: its args and env, each entry with
// a NUL behind it, its cwd and stdin, and what the script puts there besides.
func (h *Headless) Note(n int, what string) string {
	return filepath.Join(h.calls(), strconv.Itoa(n), what)
}
