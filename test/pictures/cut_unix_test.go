//go:build unix

package pictures

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// chapter is a part of the film. It begins when the screen shows a text.
type chapter struct {
	begins, caption string
	holds           time.Duration // how long its first screen stays
}

var chapters = []chapter{
	{"", "You ask for a change", 0},
	{"esc to interrupt", "The agent makes it", 0},
	{"● Done.", "The agent says it is done, so stopgate runs the tests", 2 * time.Second},
	{"Ran 1 stop hook", "They fail: the stop is blocked, and the agent reads why", 5 * time.Second},
	{"removed 1 line", "The agent fixes it", 2 * time.Second},
	{"Stop says", "The tests pass: the agent may stop", 5 * time.Second},
}

const (
	// typingTime is how long the user types, and readingTime how long the whole prompt stays.
	typingTime, readingTime = 2500 * time.Millisecond, time.Second
	// waitTime is how long Claude Code is shown at work before something happens.
	waitTime = 1300 * time.Millisecond
)

// spinner is the line by which Claude Code shows that it works; it changes all the time.
var spinner = regexp.MustCompile(`(?m)^[·✢✳✶✻✽*] .*$|^●|\d+s|\d+ tokens`)

// cut shortens the waits of a recording, and gives people time to read.
func cut(t *testing.T, recorded []Frame) []Frame {
	t.Helper()
	var film []Frame
	next := 0
	for len(recorded) > 0 {
		scene := recorded[:sceneLength(recorded)]
		recorded = recorded[len(scene):]

		least, most := time.Duration(0), waitTime
		for next < len(chapters) && strings.Contains(scene[0].Screen.String(), chapters[next].begins) {
			least = chapters[next].holds
			most = max(most, least)
			next++
		}
		film = append(film, limit(scene, least, most, chapters[next-1].caption)...)
	}
	if next < len(chapters) {
		t.Fatalf("the recording never shows %q", chapters[next].begins)
	}
	return typed(film)
}

// typed gives the user the same time to type, however many keys were seen one by one.
func typed(film []Frame) []Frame {
	first := 0
	for first < len(film) && film[first].Caption == chapters[0].caption {
		first++
	}
	for i := range film[:first] {
		film[i].For = typingTime / time.Duration(first)
	}
	film[first-1].For += readingTime
	return film
}

// sceneLength is how many frames differ by their spinner only.
func sceneLength(frames []Frame) int {
	still := func(f Frame) string { return spinner.ReplaceAllString(f.Screen.String(), "") }
	first := still(frames[0])
	for i, f := range frames {
		if still(f) != first {
			return i
		}
	}
	return len(frames)
}

// limit has a scene take at least and at most some time.
func limit(scene []Frame, least, most time.Duration, caption string) (kept []Frame) {
	total := time.Duration(0)
	for _, f := range scene {
		if total >= most {
			break
		}
		f.For, f.Caption = min(f.For, most-total), caption
		total += f.For
		kept = append(kept, f)
	}
	if total < least {
		kept[len(kept)-1].For += least - total
	}
	return kept
}
