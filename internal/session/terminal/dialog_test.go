package terminal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recognised says which of the captured screens keep the client from working.
func recognised(name string) string {
	_, what, _ := strings.Cut(name, "-")
	switch what {
	case "trust":
		return Trust
	case "api-key":
		return APIKey
	case "logged-out":
		return Login
	}
	views := seen()
	view, ok := views[name]
	if !ok {
		view = views[what]
	}
	if view.State == Dialog {
		return OtherMenu
	}
	return ""
}

func TestRecogniseRealScreens(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "screens", "*.txt"))
	if err != nil || len(files) < 70 {
		t.Fatalf("%d screens, %v", len(files), err)
	}
	for _, file := range files {
		screen, err := os.ReadFile(file)
		check(t, err)
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		if got, want := Recognise(string(screen)), recognised(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestRecognise(t *testing.T) {
	const (
		rule       = "────────────────────────────────────────\n"
		box        = rule + "❯\u00a0\n" + rule + "  ? for shortcuts\n"
		permission = rule + " Bash command\n\n   touch x\n\n Do you want to proceed?\n ❯ 1. Yes\n   2. No\n"
		about      = "● The client will ask:\n\n  Select login method:\n\n  Let's get started.\n\n  Do you want to use this API key?\n\n  ❯ 1. Yes, I trust this folder\n    2. No, exit\n\n"
	)
	for name, tt := range map[string]struct{ screen, want string }{
		"nothing":                            {"", ""},
		"a shell":                            {"$ claude\nSelect a method\n", ""},
		"the very first start":               {"Welcome to Claude Code v2.1.197\n\n Let's get started.\n\n Choose the text style that looks best with your terminal\n To change this later, run /theme\n\n ❯ 1. Auto (match terminal) ✔\n   2. Dark mode\n", Onboarding},
		"security notes":                     {" Security notes:\n\n 1. Claude can make mistakes\n\n Press Enter to continue…\n", Onboarding},
		"no network":                         {" Unable to connect to Anthropic services\n\n Failed to connect to api.example.com: ENOTFOUND\n", Onboarding},
		"how to log in":                      {" Select login method:\n\n ❯ 1. Claude account with subscription\n   2. Anthropic Console account\n", Login},
		"how to log in, under a talk":        {"❯ /login\n\n" + rule + "  Login\n\n  Select login method:\n\n  ❯ 1. Claude account\n", Login},
		"the code of a login":                {" Browser didn't open? Use the url below to sign in (c to copy)\n\nhttps://example.com\n\n Paste code here if prompted > \n", Login},
		"in colours":                         {"\x1b[1m Do you want to use this API key?\x1b[0m\n\n    Yes\n  \x1b[38;5;153m❯\x1b[39m No (recommended)\n", APIKey},
		"in a frame":                         {"│ Do you want to use this API key?   │\n│ ❯ 2. No (recommended)   │\n", APIKey},
		"a talk about all of them":           {about + box, ""},
		"the same before another dialog":     {about + permission, OtherMenu},
		"the same where nobody knows":        {about, OtherMenu},
		"a refused prompt":                   {"❯ hello\n  there\n\n  ⎿  Invalid API key · Please run /login\n\n✻ Worked for 0s\n\n" + box, Login},
		"refused, and then logged in":        {"❯ hello\n  ⎿  Not logged in · Please run /login\n\n❯ hello\n\n● Hello!\n\n" + box, ""},
		"a tool that says so":                {"❯ run it\n\n● Bash(claude -p hi)\n  ⎿  Not logged in · Please run /login\n\n" + box, ""},
		"a prompt that says so":              {"❯ why does it say\n  Not logged in · Please run /login\n\n● Because.\n\n" + box, ""},
		"an answer that says so":             {"❯ hello\n\n● It says\n  ⎿  Not logged in · Please run /login\n\n" + box, ""},
		"told under the box":                 {"● Hello!\n\n" + box + "                    Not logged in · Run /login\n", Login},
		"typed into the box":                 {rule + "❯\u00a0Not logged in · Run /login\n" + rule + "  ? for shortcuts\n", ""},
		"an entry with other words":          {rule + " ❯ 1. Yes, I trust this folder and all others\n   2. No\n", OtherMenu},
		"the words in the middle of a line":  {" They say: Select login method: and so on\n", ""},
		"the question without the client":    {"Is this a project you trust?\nYes, I trust nobody\n", ""},
		"a rule and nothing under it":        {about + rule, OtherMenu},
		"an escape sequence that is cut off": {" Select login method:\x1b[", Login},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Recognise(tt.screen); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzRecognise(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "screens", "*.txt"))
	check(f, err)
	for _, file := range files {
		screen, err := os.ReadFile(file)
		check(f, err)
		f.Add(string(screen))
	}
	f.Fuzz(func(t *testing.T, captured string) {
		kind := Recognise(captured)
		p, err := NewPatterns("", "")
		check(t, err)
		// One that can be typed to is kept from working by nothing but a login.
		if state := p.Look(captured).State; (state == Ready || state == Occupied) && kind != "" && kind != Login {
			t.Errorf("%q with %v", kind, state)
		}
		if kind == OtherMenu && p.Look(captured).State != Dialog {
			t.Error("a dialog that is none")
		}
	})
}
