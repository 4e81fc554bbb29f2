// Package watch tells when files change, without looking again and again.
package watch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/stopgate/stopgate/internal/control/nudge"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

// longest is the pause between two tries to watch what cannot be watched.
const longest = 5 * time.Second

// Directory calls look at least once after each change in a directory, and when it
// begins, until the context ends. The directory is made where it is missing.
//
// A system that watches no more for us is no reason to stop looking: the error is told,
// and it looks from time to time while it tries again. When that succeeds it tells nil.
func Directory(ctx context.Context, dir string, look func(), tell func(error)) {
	for wait := 50 * time.Millisecond; ctx.Err() == nil; wait = min(2*wait, longest) {
		all, err := changes(ctx, dir)
		if ctx.Err() == nil {
			tell(err)
		}
		look()
		if err == nil {
			wait = 50 * time.Millisecond
			for range all {
				look()
			}
		}
		_ = pause.For(ctx, wait)
	}
}

// changes returns a channel that has a value after something happened in a directory: at
// least one after the last change, however many there were. It is closed when the context
// ends.
func changes(ctx context.Context, dir string) (<-chan struct{}, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	if err := watcher.Add(dir); err != nil {
		watcher.Close()
		return nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	w := &watch{watcher: watcher, path: filepath.Clean(dir), changes: make(chan struct{}, 1)}
	go w.run(ctx)
	return w.changes, nil
}

type watch struct {
	watcher *fsnotify.Watcher
	path    string
	changes chan struct{}
}

func (w *watch) run(ctx context.Context) {
	defer close(w.changes)
	defer w.watcher.Close()
	for {
		select {
		case <-ctx.Done():
			return
		case event, open := <-w.watcher.Events:
			if !open {
				return
			}
			w.tell()
			if event.Name == w.path && event.Has(fsnotify.Remove|fsnotify.Rename) {
				w.again(ctx)
			}
		case _, open := <-w.watcher.Errors:
			if !open {
				return
			}
			w.tell() // there were more changes than the system keeps: look
		}
	}
}

// tell says that something changed, unless that was said and nobody has looked yet.
func (w *watch) tell() {
	nudge.Reader(w.changes)
}

// again goes on after somebody removed what is watched. The directory that was removed
// is made again by whoever has something to write, and the system cannot tell when: so
// that alone is looked for.
func (w *watch) again(ctx context.Context) {
	for range pause.Doubling(ctx, 10*time.Millisecond, time.Second) {
		if err := w.watcher.Add(w.path); err == nil {
			w.tell()
			return
		}
	}
}
