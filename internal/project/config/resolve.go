package config

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
)

// entryPoint looks the gates of an entry point up.
func (l *loader) entryPoint(draft entryDraft) EntryPoint {
	e := draft.EntryPoint
	for _, entry := range draft.checks {
		check := resolve(l, entry, l.checks, checksFolder)
		if check == nil {
			continue
		}
		if entry.inline != nil {
			l.instruct(check)
		}
		e.Checks = append(e.Checks, &check.Check)
	}
	for _, entry := range draft.reviews {
		review := l.builtin(entry)
		if review == nil {
			review = resolve(l, entry, l.reviews, reviewsFolder)
		}
		if review != nil {
			e.Reviews = append(e.Reviews, review)
		}
	}
	return e
}

// builtin is the review of ours that an entry names, unless the project has one
// of that name.
func (l *loader) builtin(entry listed[Review]) *Review {
	name := entry.name.text
	text, ours := Builtin(name)
	if !ours || entry.inline != nil || l.reviews[name] != nil {
		return nil
	}
	review := newReview(name, l.preference)
	review.Prompt = strings.TrimSpace(text)
	review.Pos = entry.name.place.Position
	return review
}

// resolve returns the gate that an entry is or names, or nil after a fault.
func resolve[T any](l *loader, entry listed[T], files map[string]*T, folder string) *T {
	name := entry.name.text
	file, exists := files[name]
	switch {
	case entry.inline != nil && exists:
		l.fault(entry.name.fault("there is a file for "+quote(name)+" in "+filepath.Join(l.shown, folder)+" too", "rename one of them"))
	case entry.inline != nil:
		inline := *entry.inline // the project may be asked again
		return &inline
	case !exists:
		l.unknown(entry.name, slices.Collect(maps.Keys(files)), folder)
	}
	return file
}

// unknown finds fault with a name that leads to no gate.
func (l *loader) unknown(name mention, known []string, folder string) {
	if folder == reviewsFolder {
		known = append(known, Builtins()...)
	}
	slices.Sort(known)
	hint := document.DidYouMean(name.text, known)
	if hint == "" {
		hint = "there is no such file in " + filepath.Join(l.shown, folder)
		if len(known) > 0 {
			hint += "; known: " + strings.Join(known, ", ")
		}
	}
	l.fault(name.fault("unknown "+strings.TrimSuffix(folder, "s")+" "+quote(name.text), hint))
}
