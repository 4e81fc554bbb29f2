package attestation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
)

const (
	// Ref is where git keeps the attestations.
	Ref = "refs/notes/stopgate"
	// maxNote is far more than the attestations of a commit take, of some kilobytes each.
	maxNote = 1 << 20
	// maxJudged is how many attestations of a commit are looked at. Each takes two processes.
	maxJudged = 32
	// lockPatience is with other runs: each holds the lock for some calls of git.
	lockPatience = 10 * time.Second
)

// Kind is how an attestation is signed, in git's own words for gpg.format.
type Kind string

// The kinds.
const (
	Unsigned Kind = "unsigned"
	SSH      Kind = "ssh"
	OpenPGP  Kind = "openpgp"
)

// Attestation is a statement and who stands for it. By is what it says of itself: only a signature
// tells.
type Attestation struct {
	By        string          `json:"by"`
	Kind      Kind            `json:"kind"`
	Statement json.RawMessage `json:"statement"`
	Signature string          `json:"signature,omitempty"`
}

// New signs a statement.
func New(ctx context.Context, s Statement, signer Signer) (Attestation, error) {
	text, err := s.encode()
	if err != nil {
		return Attestation{}, err
	}
	signature, err := signer.sign(ctx, text)
	return Attestation{By: signer.By, Kind: signer.Kind, Statement: text, Signature: signature}, err
}

// Notes are the attestations of a repository. A note has one in each line, so that git can merge the
// notes of two machines line by line (git notes merge -s cat_sort_uniq).
type Notes struct {
	Repo git.Repo
	// Lock is a file that keeps two runs on this machine apart: git does not.
	Lock string
}

// Add puts an attestation on a commit, in place of an earlier one of the same person and project.
// Lines that are none of ours stay.
func (n Notes) Add(ctx context.Context, commit string, a Attestation) error {
	line, err := json.Marshal(a)
	if err != nil {
		return err
	}
	unlock, err := lockfile.Acquire(ctx, n.Lock, lockPatience)
	if err != nil {
		return fmt.Errorf("lock the notes: %w", err)
	}
	defer unlock()

	note, err := n.Repo.Note(ctx, Ref, commit, maxNote)
	if large := (*git.TooLargeError)(nil); errors.As(err, &large) {
		return fmt.Errorf("%w: to remove it: git notes --ref=stopgate remove %s", err, commit)
	}
	if err != nil {
		return err
	}
	lines := slices.DeleteFunc(linesOf(note), func(line string) bool {
		other, ok := parse(line)
		return ok && a.replaces(other)
	})
	text := strings.Join(append(lines, string(line)), "\n") + "\n"
	if len(text) > maxNote {
		return fmt.Errorf("the note would have more than %d bytes", maxNote)
	}
	return n.Repo.SetNote(ctx, Ref, commit, text)
}

// replaces reports whether an attestation makes an earlier one superfluous.
func (a Attestation) replaces(other Attestation) bool {
	mine, err := decode(a.Statement)
	theirs, otherErr := decode(other.Statement)
	return err == nil && otherErr == nil && a.By == other.By && a.Kind == other.Kind && mine.Project == theirs.Project
}

// Read gives the attestations of a commit, and how many lines of its note are none.
func (n Notes) Read(ctx context.Context, commit string) (all []Attestation, strange int, err error) {
	note, err := n.Repo.Note(ctx, Ref, commit, maxNote)
	if err != nil {
		return nil, 0, err
	}
	for _, line := range linesOf(note) {
		if a, ok := parse(line); ok {
			all = append(all, a)
		} else {
			strange++
		}
	}
	return all, strange, nil
}

// linesOf are the lines of a note that are not empty.
func linesOf(note string) []string {
	return slices.DeleteFunc(strings.Split(note, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
}

func parse(line string) (a Attestation, ok bool) {
	err := json.Unmarshal([]byte(line), &a)
	return a, err == nil && len(a.Statement) > 0 && slices.Contains([]Kind{Unsigned, SSH, OpenPGP}, a.Kind)
}
