// Package watch tells when files change, without looking again and again. It is apart
// from package journal because the program that answers hooks does not follow anything.
package watch

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/stopgate/stopgate/internal/journal"
)

// Changes returns a channel that has a value after something happened to the file, or in
// the directory, at path: at least one after the last change, however many there were.
// It is closed when the context ends. The path has to be there.
func Changes(ctx context.Context, path string) (<-chan struct{}, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", path, err)
	}
	if err := watcher.Add(path); err != nil {
		watcher.Close()
		return nil, fmt.Errorf("watch %s: %w", path, err)
	}
	changes := make(chan struct{}, 1)
	w := &watch{watcher: watcher, path: filepath.Clean(path), changes: changes}
	go w.run(ctx)
	return changes, nil
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
	select {
	case w.changes <- struct{}{}:
	default:
	}
}

// again goes on after somebody removed what is watched. The directory that was removed
// is made again by whoever has something to write, and the system cannot tell when: so
// that alone is looked for.
func (w *watch) again(ctx context.Context) {
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		if err := w.watcher.Add(w.path); err == nil {
			w.tell()
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// Follow is the journal's Select that goes on as there are more entries, until the context
// ends, which is no error. The journal's directory is dir. A value in ask makes it look at
// once.
//
// After each look it yields the entry with the place that it has come to, and without
// anything else: everything before it was yielded.
func Follow(ctx context.Context, j *journal.Journal, dir string, from journal.Position, wanted func(json []byte) bool, ask <-chan struct{}) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			yield(journal.Entry{}, err)
			return
		}
		changes, err := Changes(ctx, dir)
		if err != nil {
			yield(journal.Entry{}, err)
			return
		}
		for at := from; ; {
			for entry, err := range j.Select(at, wanted) {
				if ctx.Err() != nil {
					return
				}
				if !yield(entry, err) || err != nil {
					return
				}
				at = entry.Position
			}
			if !yield(journal.Entry{Position: at}, nil) {
				return
			}
			select {
			case <-changes: // also when the context ended
			case <-ask:
			}
			if ctx.Err() != nil {
				return
			}
		}
	}
}
