// Package statefile keeps what one process leaves for the next: a value as JSON, in a file that only
// stopgate writes. Files that people write too are for package jsonfile.
package statefile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// damageError is the decoder's error about a file, in its words.
type damageError struct{ error }

func (e damageError) Unwrap() error { return e.error }

// IsDamaged reports whether an error of Read is about what the file holds, and not about reading it.
func IsDamaged(err error) bool {
	_, damaged := errors.AsType[damageError](err)
	return damaged
}

// Read reads a file of at most that many bytes. With an error the value is zero.
func Read[T any](path string, most int64) (v T, err error) {
	text, err := regular.Read(path, most)
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return *new(T), damageError{err}
	}
	return v, nil
}

// Write replaces the file. The value is durable when it returns without an error.
func Write(path string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(text, '\n'), 0o600)
}

// Lock keeps the processes apart that change a file.
type Lock struct {
	Path     string
	Patience time.Duration // with the others, each of which holds it for the milliseconds of a sync
	What     string        // it is about, for the error; may be empty
}

// ErrKeep is what a change returns that leaves the file as it is.
var ErrKeep = errors.New("the file is left unchanged")

// Update changes the value in a file while no other process does. read decides what a file counts as
// that is missing or damaged. After an error the file is as it was.
func Update[T any](ctx context.Context, path string, lock Lock, read func() (T, error), change func(*T) error) error {
	return Change(ctx, lock, read, change, func(v T) error { return Write(path, v) })
}

// Change is Update for a file that is written in another form, or with something done before.
func Change[T any](ctx context.Context, lock Lock, read func() (T, error), change func(*T) error, write func(T) error) error {
	release, err := lockfile.Acquire(ctx, lock.Path, lock.Patience)
	if err != nil && lock.What != "" {
		err = fmt.Errorf("lock %s: %w", lock.What, err)
	}
	if err != nil {
		return err
	}
	defer release()

	v, err := read()
	if err != nil {
		return err
	}
	switch err := change(&v); {
	case errors.Is(err, ErrKeep):
		return nil
	case err != nil:
		return err
	}
	return write(v)
}
