package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
)

// Enforced is what EnforceTrust has left in the global config.
type Enforced string

const (
	// EnforcedNothing is for a file that is missing, or in which every line is a person's or another tool's.
	EnforcedNothing Enforced = ""
	// EnforcedLine is the line "trust: enforce" in a file that has more.
	EnforcedLine Enforced = "line"
	// EnforcedFile is the whole file, which is still as EnforceTrust made it.
	EnforcedFile Enforced = "file"
)

const enforceLine = "trust: enforce"

// FindEnforced says how much of the global config is ours. agent-gauntlet reads the same file, so the rest of it
// is not ours to remove. A file that cannot be read has nothing of ours.
func FindEnforced(path string) Enforced {
	text, err := read(path, path)
	if err != nil {
		return EnforcedNothing
	}
	if string(text) == newGlobal {
		return EnforcedFile
	}
	if _, ok := withoutEnforce(path, text); ok {
		return EnforcedLine
	}
	return EnforcedNothing
}

// WithdrawTrust takes out what FindEnforced finds.
func WithdrawTrust(path string) error {
	text, err := read(path, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if string(text) == newGlobal {
		return os.Remove(path)
	}
	shorter, ok := withoutEnforce(path, text)
	if !ok {
		return nil
	}

	target, err := filepath.EvalSymlinks(path) // a link of a dotfile manager stays
	if err != nil {
		return err
	}
	info, err := os.Stat(target)
	if err != nil {
		return err
	}
	return atomicfile.Write(target, shorter, info.Mode().Perm())
}

// withoutEnforce is the text without the line, if everything else in it means the same without.
func withoutEnforce(name string, text []byte) (shorter []byte, ok bool) {
	before, err := parseGlobal(name, text)
	if err != nil || before.Trust != TrustEnforce {
		return nil, false
	}
	for line := range strings.Lines(string(text)) {
		if strings.TrimRight(line, " \r\n") != enforceLine {
			shorter = append(shorter, line...)
		}
	}

	after, err := parseGlobal(name, shorter)
	if err != nil || after.Trust != TrustOff {
		return nil, false
	}
	after.Trust = TrustEnforce
	return shorter, reflect.DeepEqual(before, after)
}
