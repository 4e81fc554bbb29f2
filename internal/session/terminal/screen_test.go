package terminal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func builtin(t testing.TB) Patterns {
	t.Helper()
	p, err := NewPatterns("", "")
	check(t, err)
	return p
}

// seen says what each of the captured screens shows.
func seen() map[string]View {
	wrapped := strings.TrimSpace(strings.Repeat("abcdefg ", 60))
	return map[string]View{
		"fresh":        {State: Ready},
		"after-turn":   {State: Ready},
		"after-clear":  {State: Ready},
		"renamed":      {State: Ready}, // the upper border has a name in it
		"unfocused":    {State: Ready}, // no cursor is drawn
		"shortcuts":    {State: Ready},
		"busy":         {State: Ready},
		"logged-out":   {State: Ready},
		"queued":       {State: Ready}, // the box has a hint in it
		"typed":        {State: Occupied, Box: "hello world"},
		"typed-number": {State: Occupied, Box: "1. do this"},
		"slash-menu":   {State: Occupied, Box: "/cl"},
		"file-menu":    {State: Occupied, Box: "@REA"},
		"two-lines":    {State: Occupied, Box: "one\ntwo"},
		"narrow-typed": {State: Occupied, Box: "a text that is rather longer than the box of sixty\ncolumns can hold in one line"},
		"wrapped":      {State: Occupied, Box: wrapped},
		"tall":         {State: Occupied, Box: "typed line 0\ntyped line 1\ntyped line 2\ntyped line 3\ntyped line 4\ntyped line 5\ntyped line 6\ntyped line 7\ntyped line 8\ntyped line 9\ntyped line 10\ntyped line 11"},
		"emoji":        {State: Occupied, Box: "👩‍👩‍👧 é 日本語 x"},
		"pasted-lines": {State: Occupied, Box: "[Pasted text #1 +4 lines]"},
		"pasted-long":  {State: Occupied, Box: "[Pasted text #2]"},

		"permission-bash":  {State: Dialog},
		"permission-write": {State: Dialog},
		"ask":              {State: Dialog},
		"ask-free-text":    {State: Dialog},
		"ask-chat":         {State: Dialog}, // directly under a border
		"ask-several":      {State: Dialog},
		"ask-two":          {State: Dialog},
		"exit-plan":        {State: Dialog},
		"trust":            {State: Dialog},
		"api-key":          {State: Dialog},
		"model-menu":       {State: Dialog},

		"ask-several-submit": {State: NoPrompt}, // no number, not indented
		"resume-menu":        {State: NoPrompt},
		"help":               {State: NoPrompt},
		"transcript":         {State: NoPrompt},
		"auto-mode":          {State: NoPrompt}, // a dialog without a glyph

		// Where the versions differ.
		"2.1.197-shell-mode":       {State: Occupied, Box: "!ls"},
		"2.1.325-shell-mode":       {State: NoPrompt}, // another glyph
		"2.1.197-shell-mode-empty": {State: Ready},
		"2.1.325-shell-mode-empty": {State: NoPrompt},
		"2.1.197-history-search":   {State: NoPrompt}, // an empty box, but the cursor is under it
		"2.1.325-history-search":   {State: Dialog},
		"2.1.197-config-menu":      {State: NoPrompt},
		"2.1.325-config-menu":      {State: Dialog},
		"2.1.197-very-tall":        {State: NoPrompt}, // its beginning is off the screen
		"2.1.325-very-tall":        {State: Occupied, Box: "l51"},
	}
}

func TestLookAtRealScreens(t *testing.T) {
	patterns, views := builtin(t), seen()
	files, err := filepath.Glob(filepath.Join("testdata", "screens", "*.txt"))
	if err != nil || len(files) < 70 {
		t.Fatalf("%d screens, %v", len(files), err)
	}
	for _, file := range files {
		screen, err := os.ReadFile(file)
		check(t, err)
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		want, ok := views[name]
		if !ok {
			_, what, _ := strings.Cut(name, "-")
			if want, ok = views[what]; !ok {
				t.Errorf("%s: nobody says what it shows", name)
			}
		}
		got := patterns.Look(string(screen))
		if got.State == Occupied && strings.HasSuffix(name, "very-tall") {
			got.Box, _, _ = strings.Cut(got.Box, "\n")
		}
		if strings.HasSuffix(name, "wrapped") {
			got.Box = strings.ReplaceAll(got.Box, "\n", " ")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestWorksOnRealScreens(t *testing.T) {
	patterns := builtin(t)
	for _, version := range []string{"2.1.197", "2.1.325"} {
		for name, want := range map[string]bool{
			"busy": true, "queued": true,
			"fresh": false, "after-turn": false, "after-clear": false, "renamed": false, "unfocused": false, "typed": false,
			"permission-bash": false, "help": false,
		} {
			screen, err := os.ReadFile(filepath.Join("testdata", "screens", version+"-"+name+".txt"))
			check(t, err)
			works, known := patterns.Works(string(screen))
			if isBox := patterns.Look(string(screen)).State != Dialog && name != "help"; works != want || known != isBox {
				t.Errorf("%s in %s: %v, %v, want %v", name, version, works, known, want)
			}
		}
	}
}

func TestWorks(t *testing.T) {
	const border = "──────────────\n"
	patterns := builtin(t)
	for name, tt := range map[string]struct {
		screen       string
		works, known bool
	}{
		"nothing":                  {"", false, false},
		"no colours":               {border + "❯ \n" + border, false, false},
		"no box":                   {"\x1b[90m❯ \n", false, false},
		"the default colour":       {"\x1b[90m" + border + "\x1b[39m❯ \n" + border, false, true},
		"a colour":                 {border + "\x1b[38;5;246m❯ \x1b[39m\n" + border, true, true},
		"a true colour":            {border + "\x1b[38;2;39;0;39m❯ \n" + border, true, true},
		"a named colour":           {border + "\x1b[90m❯ \n" + border, true, true},
		"the border's colour":      {"\x1b[37m" + border + "❯ \n" + border, true, true},
		"dim":                      {"\x1b[37m" + border + "\x1b[39;2m❯ \n" + border, true, true},
		"a background":             {border + "\x1b[48;5;246m❯ \n" + border, false, false},
		"a colour in the box only": {border + "❯ \x1b[38;5;246mhint\n" + border, false, true},
		"a colour that has ended":  {"\x1b[31mred\x1b[0m\n" + border + "❯ \n" + border, false, true},
	} {
		if works, known := patterns.Works(tt.screen); works != tt.works || known != tt.known {
			t.Errorf("%s: %v, %v, want %v, %v", name, works, known, tt.works, tt.known)
		}
	}
}

func TestLook(t *testing.T) {
	const border = "──────────────\n"
	patterns := builtin(t)
	for name, tt := range map[string]struct {
		screen string
		want   View
	}{
		"nothing":                      {"", View{}},
		"blank":                        {"\n\n\n", View{}},
		"a shell":                      {"$ ls\nREADME\n$ ", View{}},
		"a glyph as a shell's prompt":  {"~/project\n❯ ", View{}},
		"no lower border":              {border + "❯ \n", View{}},
		"no upper border":              {"❯ \n" + border, View{}},
		"a line between":               {border + "Choose one\n❯ \n" + border, View{}},
		"text that is not the box's":   {border + "❯ \nEnter to select\n" + border, View{}},
		"empty":                        {border + "❯ \n" + border, View{State: Ready}},
		"no-break space":               {border + "❯\u00a0\n" + border, View{State: Ready}},
		"a box with sides":             {"╭────╮\n│ ❯  │\n╰────╯\n", View{State: Ready}},
		"text between sides":           {"╭────╮\n│ ❯ a │\n│   b │\n╰────╯\n", View{State: Occupied, Box: "a\nb"}},
		"the last box counts":          {border + "❯ old\n" + border + "\n" + border + "❯ \n" + border, View{State: Ready}},
		"menu under the box":           {border + "❯ \n" + border + "  ❯ one\n    two\n", View{State: Dialog}},
		"flat menu under the box":      {border + "❯ \n" + border + "❯ one\n  two\n", View{}},
		"numbered menu under the box":  {border + "❯ \n" + border + "❯ 1) one\n", View{State: Dialog}},
		"history is not a dialog":      {" ❯ 1. Yes\n" + border + "❯ \n" + border, View{State: Ready}},
		"a text that looks like one":   {border + "❯ a\n  ❯ 1. Yes\n" + border, View{State: Occupied, Box: "a\n❯ 1. Yes"}},
		"a text with a border":         {border + "❯ a\n  ─────\n  b\n" + border, View{State: Occupied, Box: "a\n─────\nb"}},
		"text after blank lines":       {border + "❯ \n\n  b\n" + border, View{State: Occupied, Box: "b"}},
		"a suggestion":                 {border + "❯ \x1b[7mT\x1b[0;2mry this\x1b[0m\n" + border, View{State: Ready}},
		"a suggestion, unfocused":      {border + "❯ \x1b[2mTry this\x1b[0m\n" + border, View{State: Ready}},
		"a suggestion of two lines":    {border + "❯ \x1b[2mTry\n  this\x1b[0m\n" + border, View{State: Ready}},
		"text, then a suggestion":      {border + "❯ /cl\x1b[7me\x1b[0;2mar\x1b[0m\n" + border, View{State: Occupied, Box: "/cl"}},
		"the cursor on the text":       {border + "❯ \x1b[7ma\x1b[0mb\n" + border, View{State: Occupied, Box: "ab"}},
		"dim ends with 22":             {border + "❯ \x1b[2mx\x1b[22my\n" + border, View{State: Occupied, Box: "y"}},
		"a colour with a two in it":    {border + "❯ \x1b[38;5;2mx\x1b[48;2;2;2;2my\x1b[38;2mz\n" + border, View{State: Occupied, Box: "xyz"}},
		"a link":                       {border + "❯ \x1b]8;;http://x\x1b\\x\x1b]8;;\x1b\\\n" + border, View{State: Occupied, Box: "x"}},
		"an empty SGR ends all":        {border + "❯ \x1b[2mx\x1b[my\n" + border, View{State: Occupied, Box: "y"}},
		"cursor under the box":         {border + "❯ \n" + border + "search: \x1b[7m \x1b[0m\n", View{}},
		"decoration under the box":     {border + "❯ \n" + border + "\x1b[7m main \x1b[0m\n", View{State: Ready}},
		"decoration and cursor in box": {border + "❯ \x1b[7m \x1b[0m\n" + border + "\x1b[7mx\x1b[0m\n", View{State: Ready}},
	} {
		if diff := cmp.Diff(tt.want, patterns.Look(tt.screen)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestPatternsOfOnesOwn(t *testing.T) {
	p, err := NewPatterns(`^> `, `^Proceed\?$`)
	check(t, err)
	for screen, want := range map[string]View{
		"> ":                   {State: Ready},
		"> text\nmore":         {State: Occupied, Box: "text"},
		"> old\n> \nfooter":    {State: Ready},
		"> \nProceed?\n":       {State: Dialog},
		"Proceed?\nyes\n> \n":  {State: Ready},
		"Proceed?\n":           {State: Dialog},
		"❯ ":                   {},
		"we may say Proceed? ": {},
	} {
		if diff := cmp.Diff(want, p.Look(screen)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", screen, diff)
		}
	}
	for what, patterns := range map[string][2]string{"prompt": {"(", ""}, "dialog": {"", "["}} {
		if _, err := NewPatterns(patterns[0], patterns[1]); err == nil || !strings.Contains(err.Error(), what+" pattern") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestHolds(t *testing.T) {
	for name, tt := range map[string]struct {
		box, text string
		want      bool
	}{
		"all of it":        {"go on,\n  please", "go on, please ", true},
		"a part":           {"go on", "go on, please", false},
		"more":             {"go on, please", "go on", false},
		"some paste":       {"[Pasted text #1 +3 lines]", "go on", false},
		"nothing to go by": {"🙂", "🙃", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (View{State: Occupied, Box: tt.box}).Holds(tt.text); got != tt.want {
				t.Error(got)
			}
		})
	}
	if (View{State: Dialog, Box: "go on"}).Holds("go on") {
		t.Error("a dialog holds a text")
	}
}

func TestShows(t *testing.T) {
	long := strings.Repeat("all work and no play ", 200)
	for name, tt := range map[string]struct {
		box, text string
		want      bool
	}{
		"the same":                   {"/clear", "/clear", true},
		"spaces around":              {"/clear", " /clear\n", true},
		"wrapped":                    {"one two\nthree", "one two three", true},
		"wrapped within a word":      {"one tw\no three", "one two three", true},
		"tabs":                       {"a    b", "a\tb", true},
		"emoji are drawn in any way": {"👩👩 ok", "👩‍👩‍👧 ok", true},
		"combined and not":           {"cafe", "cafe\u0301", true},
		"nothing but emoji":          {"👩", "👩‍👧", true},
		"the beginning of it":        {long[:100], long, true},
		"a part of it":               {long[1000:1100], long, true},
		"a paste":                    {"[Pasted text #1 +3 lines]", "a\nb\nc\nd", true},
		"a paste of two lines":       {"[Pasted text #12 +1 line]", "a\nb", true},
		"a long paste":               {"[Pasted text #2]", long, true},
		"another text":               {"/model", "/clear", false},
		"less of it":                 {"/cl", "/clear", false},
		"too little of it":           {"all work", long, false},
		"more than that":             {"/clear now", "/clear", false},
		"a person typed before it":   {"x" + long, long, false},
		"a paste and more":           {"[Pasted text #1 +3 lines] and", "a\nb\nc\nd", false},
	} {
		if got := (View{State: Occupied, Box: tt.box}).Shows(tt.text); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	for _, state := range []State{NoPrompt, Ready, Dialog} {
		if (View{State: state, Box: "/clear"}).Shows("/clear") {
			t.Errorf("shown though there is %q", state)
		}
	}
}

func FuzzLook(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "screens", "2.1.325-*.txt"))
	check(f, err)
	for _, file := range files {
		screen, err := os.ReadFile(file)
		check(f, err)
		f.Add(string(screen))
	}
	f.Add("───\n❯ \n───\n\x1b")
	f.Add("───\n❯ \x1b[2;7m\xff\n\x1b]0;")
	patterns, err := NewPatterns("", "")
	check(f, err)
	f.Fuzz(func(t *testing.T, screen string) {
		view := patterns.Look(screen)
		if (view.Box != "") != (view.State == Occupied) {
			t.Errorf("Look(%q) = %+v", screen, view)
		}
		for _, option := range []string{"❯ 1. Yes\n  2. No\n", " ❯ Yes\n   No\n", "❯ Yes\n  No\n"} {
			if got := patterns.Look(screen + "\n" + option); got.State == Ready || got.State == Occupied {
				t.Errorf("Look(%q + %q) = %+v", screen, option, got)
			}
		}
	})
}
