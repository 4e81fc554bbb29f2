package terminal

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// What we go by on a client's screen. Clients change their wording and their looks with
// every release; these are the shapes that the versions we know have in common.
const (
	// promptPattern finds the input box: the prompt glyph directly under a border, with
	// the box's text, and a border under it. The upper border may carry the session's
	// name. A glyph that does not stand so, in a menu or before an old prompt, matches
	// without the group.
	promptPattern = `^[╭┌]?─{3}.*[─╮┐]\n[ │]*❯(.*\n(?:[ │].*\n|\n)*?)[╰└]?─{3}.*[─╯┘]$|^[ │]*❯`
	// dialogPattern finds the selected entry of a menu. It is indented or has a number.
	dialogPattern = `^[ │]+❯|^❯[ \x{A0}]*\d+[.)]`
	// pastedPattern is what the box shows instead of a paste that is long or has many
	// lines.
	pastedPattern = `^\[Pasted text #\d+(?: \+\d+ lines?)?\]$`
)

// Patterns finds Claude Code's input box on a screen, and its dialogs. In both of them ^
// and $ are the ends of a line.
type Patterns struct {
	// Prompt matches the beginning of an input box. If it has a group, that is the text
	// in the box, and a match in which the group takes no part is no box after all.
	// Without a group the text is the rest of the line. The last match counts.
	Prompt *regexp.Regexp
	// Dialog matches something in an open dialog. What stands above the box is history.
	Dialog *regexp.Regexp
}

// NewPatterns compiles patterns; an empty one stands for the built-in one.
func NewPatterns(prompt, dialog string) (Patterns, error) {
	var p Patterns
	var err error
	if p.Prompt, err = compile("prompt", prompt, promptPattern); err != nil {
		return Patterns{}, err
	}
	p.Dialog, err = compile("dialog", dialog, dialogPattern)
	return p, err
}

func compile(what, pattern, builtin string) (*regexp.Regexp, error) {
	if pattern == "" {
		pattern = builtin
	}
	compiled, err := regexp.Compile("(?m)" + pattern)
	if err != nil {
		return nil, fmt.Errorf("%s pattern %q: %w", what, pattern, err)
	}
	return compiled, nil
}

// State says what would become of a text that is typed now.
type State int

const (
	NoPrompt State = iota // nobody knows: there is no input box, or the keys go elsewhere
	Ready                 // the input box is empty
	Occupied              // it would be added to what is in the box
	Dialog                // a dialog is open: keys would answer it
)

func (s State) String() string {
	switch s {
	case Ready:
		return "ready"
	case Occupied:
		return "text in the input box"
	case Dialog:
		return "a dialog is open"
	}
	return "no prompt"
}

// View is what is to be seen of Claude Code on a screen.
type View struct {
	State State
	// Box is the text in the input box, with the line breaks of the screen. What the
	// client itself suggests there is not text.
	Box string
}

// Look tells what a screen shows, as Capture gives it. Where the shapes do not tell,
// it is not Ready.
func (p Patterns) Look(captured string) View {
	s := parse(captured)
	start, end, isBox := p.box(s.text)
	switch {
	case p.Dialog.MatchString(s.text[end:]):
		return View{State: Dialog}
	case !isBox:
		return View{}
	}
	text := s.typed(start, end)
	switch {
	case text != "":
		return View{State: Occupied, Box: text}
	case !s.cursor(start, end) && s.cursor(end, len(s.text)):
		return View{} // the keys go to what is under the box, such as a search
	}
	return View{State: Ready}
}

// Works tells whether Claude Code shows that it works on something: then the glyph before
// the box is not drawn as plain text is. Without a box, or without any colours on the
// screen, nobody knows.
func (p Patterns) Works(captured string) (works, known bool) {
	s := parse(captured)
	start, _, isBox := p.box(s.text)
	if !isBox || start == 0 {
		return false, false
	}
	return s.looks[start-1]&(dim|coloured) != 0, slices.ContainsFunc(s.looks, func(l look) bool { return l&coloured != 0 })
}

// box finds the text of the last input box. If something below it looks like one and
// is none, isBox is false.
func (p Patterns) box(text string) (start, end int, isBox bool) {
	for _, match := range p.Prompt.FindAllStringSubmatchIndex(text, -1) {
		switch {
		case len(match) == 2:
			start, end, isBox = match[1], match[1]+lineEnd(text[match[1]:]), true
		case match[2] >= 0:
			start, end, isBox = match[2], match[3], true
		default:
			isBox = false
		}
	}
	return start, end, isBox
}

func lineEnd(text string) int {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return i
	}
	return len(text)
}

// Shows tells whether the box holds that text, as far as a screen can tell: Claude Code
// wraps it, shows only a part of it, or puts a few words in the place of a paste.
func (v View) Shows(text string) bool {
	if v.State != Occupied {
		return false
	}
	if regexp.MustCompile(pastedPattern).MatchString(v.Box) {
		return true
	}
	const enough = 40 // letters that are not there by chance
	seen, want := essence(v.Box), essence(text)
	if len(seen) == len(want) {
		return seen == want
	}
	return len(seen) >= enough && strings.Contains(want, seen)
}

// Holds tells whether the box holds all of that text and nothing else, for sure.
func (v View) Holds(text string) bool {
	want := essence(text)
	return v.State == Occupied && want != "" && essence(v.Box) == want
}

// essence is what of a text looks the same on every screen. White space, signs that
// combine with others, and emoji do not.
func essence(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.In(r, unicode.M, unicode.Cf, unicode.So, unicode.Sk) {
			return -1
		}
		return r
	}, text)
}
