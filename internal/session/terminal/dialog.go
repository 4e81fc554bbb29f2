package terminal

import (
	"regexp"
	"strings"
)

// What keeps a client from working on what it was told.
const (
	Trust      = "trust"      // it asks whether the directory is to be trusted
	Login      = "login"      // nobody is logged in
	APIKey     = "api_key"    // it asks whether to use the key that it has found
	Onboarding = "onboarding" // it asks what it asks at its very first start
	OtherMenu  = "dialog"     // it asks something else
)

// Lines of Claude Code's dialogs, without what stands before and behind them.
const (
	trustLines      = `(?:❯ )?(?:\d+\. )?Yes, I trust this folder`
	keyLines        = `Do you want to use this API key\?`
	loginLines      = `Select login method:|Paste code here if prompted >.*|Browser didn't open\? Use the url below to sign in.*`
	onboardingLines = `Let's get started\.|Security notes:|Use Claude Code's terminal setup\?|Unable to connect to Anthropic services`
	// rulePattern is the border that a dialog has above it, under the conversation.
	rulePattern = `^[ \x{A0}]*[─▔]{20,}[ \x{A0}]*$`
	// talkPattern is where something said or done begins: there is a conversation.
	talkPattern = `^● |^❯ [^\d]|^ *⎿ `
	// refusedPattern is a prompt that Claude Code itself has answered.
	refusedPattern = `\A❯ .*\n(?:  +[^ ⎿\n].*\n|[ \x{A0}]*\n)*  ⎿ .*(?:Please run|Run) /login`
	// loggedOutPattern stands under the input box.
	loggedOutPattern = `(?:^|  )Not logged in · `
)

// Recognise tells what a captured screen shows that keeps Claude Code from working, or "".
// What is said about such things in a conversation does not count.
func Recognise(captured string) (kind string) {
	patterns, err := NewPatterns("", "")
	if err != nil {
		return ""
	}
	text := parse(captured).text
	if start, end, isBox := patterns.box(text); isBox {
		if loggedOut(text[:start], text[end:]) {
			return Login
		}
		return ""
	}
	asked := dialog(text)
	for _, known := range []struct{ kind, lines string }{
		{Trust, trustLines}, {APIKey, keyLines}, {Login, loginLines}, {Onboarding, onboardingLines},
	} {
		if matches(`^[ │\x{A0}]*(?:`+known.lines+`)[ │\x{A0}]*$`, asked) {
			return known.kind
		}
	}
	if patterns.Look(captured).State == Dialog {
		return OtherMenu
	}
	return ""
}

func matches(pattern, text string) bool {
	return regexp.MustCompile("(?m)" + pattern).MatchString(text)
}

// dialog is the part of a screen without an input box that is no conversation.
func dialog(text string) string {
	if !matches(talkPattern, text) {
		return text
	}
	rules := regexp.MustCompile("(?m)"+rulePattern).FindAllStringIndex(text, -1)
	if len(rules) == 0 {
		return ""
	}
	return text[rules[len(rules)-1][1]:]
}

// loggedOut tells whether Claude Code answered the last prompt with the advice to log in,
// or gives it under its input box.
func loggedOut(above, under string) bool {
	last := strings.LastIndex("\n"+above, "\n❯ ")
	return last >= 0 && matches(refusedPattern, above[last:]) || matches(loggedOutPattern, under)
}
