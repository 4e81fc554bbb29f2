package supervisor

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
)

// forgetAfter is how long nothing must have been heard of a session.
const forgetAfter = 30 * 24 * time.Hour

const (
	damagedSuffix = ".damaged"
	// litterPrefix is what package atomicfile calls a file that it has not
	// finished. Killed, it leaves that.
	litterPrefix = ".stopgate-"
)

// Prune removes what is left of sessions that nobody has heard of for a month. It
// has no error to return: what cannot be removed now is tried again with the next
// session.
func (d Dir) Prune(now time.Time) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || info.IsDir() || now.Sub(info.ModTime()) <= forgetAfter {
			continue
		}
		name := entry.Name()
		if session, ok := sessionOf(name); ok {
			d.forget(session, now)
		} else if disposable(name) {
			_ = os.Remove(d.join(name))
		}
	}
}

// sessionOf is the session whose state or lock has the name.
func sessionOf(name string) (session string, ok bool) {
	if session, ok = cut(name, statePrefix, stateSuffix); !ok {
		session, ok = cut(name, lockPrefix, lockSuffix)
	}
	return session, ok && CheckSession(session) == nil
}

// disposable reports whether a file can go without a lock.
func disposable(name string) bool {
	if strings.HasPrefix(name, litterPrefix) {
		return true
	}
	rest, ours := strings.CutPrefix(name, statePrefix)
	return ours && (strings.HasSuffix(rest, outputSuffix) || strings.Contains(rest, stateSuffix+damagedSuffix))
}

func cut(name, prefix, suffix string) (string, bool) {
	rest, begins := strings.CutPrefix(name, prefix)
	middle, ends := strings.CutSuffix(rest, suffix)
	return middle, begins && ends
}

// forget removes the state of a session and its lock, unless somebody holds that
// or the state is young after all: a lock is as old as its session.
func (d Dir) forget(session string, now time.Time) {
	unlock, err := lockfile.Acquire(context.Background(), d.lockFile(session), 0)
	if err != nil {
		return
	}
	info, err := os.Lstat(d.StateFile(session))
	young := err == nil && now.Sub(info.ModTime()) <= forgetAfter
	if young || os.Remove(d.StateFile(session)) != nil && disk.Exists(d.StateFile(session)) {
		unlock()
		return
	}
	_ = lockfile.Remove(d.lockFile(session), unlock)
}

// own lists the files in the directory that have one of our names.
func (d Dir) own() (files []string) {
	entries, _ := os.ReadDir(d.path) // none: there is nothing of ours
	for _, entry := range entries {
		name := entry.Name()
		_, ofSession := sessionOf(name)
		if ofSession || disposable(name) || name == logName || strings.HasPrefix(name, logName+".") || name == logLockName {
			files = append(files, d.join(name))
		}
	}
	return files
}

// Exists reports whether there is a directory that is empty or has something of ours in it.
func (d Dir) Exists() bool {
	entries, err := os.ReadDir(d.path)
	return err == nil && (len(entries) == 0 || len(d.own()) > 0)
}

// Remove removes what the supervisor keeps, and the directory when nothing else is in it.
func (d Dir) Remove() (failed error) {
	for _, file := range d.own() {
		failed = errors.Join(failed, os.Remove(file))
	}
	_ = os.Remove(d.path) // fails if it holds other files
	return failed
}
