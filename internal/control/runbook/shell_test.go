package runbook

import (
	"strings"
	"testing"
)

func FuzzSimpleCommand(f *testing.F) {
	for _, run := range []string{"claude", "A=1 claude 'x y' \"a ${b} \\\" c\" \\\n d", "claude; x", "a $(claude)", "`claude`", "x'", "$", "\\", "${", "claude #"} {
		f.Add(run)
	}
	f.Fuzz(func(t *testing.T, script string) {
		if unfit(script) != "" {
			return // no runbook has it
		}
		words, ok := simpleCommand(script)
		end := 0
		for _, w := range words {
			if w.at < end || w.raw == "" || script[w.at:w.at+len(w.raw)] != w.raw {
				t.Fatalf("%q: %+v", script, w)
			}
			// What stands between words is nothing.
			if strings.Trim(strings.ReplaceAll(script[end:w.at], "\\\n", ""), " \t\r\n") != "" {
				t.Fatalf("%q: something before %+v", script, w)
			}
			end = w.at + len(w.raw)
		}
		if !ok && words != nil {
			t.Fatalf("%q: %v", script, words)
		}
		if ok && len(words) > 0 {
			again, same := simpleCommand(Exec(script))
			if !same || len(again) < len(words) {
				t.Fatalf("%q: %q", script, Exec(script))
			}
		}
		if args, isClaude := claudeArgs(script); isClaude && !ok || len(args) > len(words) {
			t.Fatalf("%q: %v", script, args)
		}
		startsClaude(script)
	})
}
