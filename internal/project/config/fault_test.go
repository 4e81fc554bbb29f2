package config

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/project/document"
)

func TestFaultAsJSON(t *testing.T) {
	_, err := ParseProject("config.yml", []byte("hook:\n"))
	got, _ := json.Marshal(err.(*document.Faults).All)
	want := `[{"file":"config.yml","line":1,"column":1,"message":"unknown key \"hook\"",` +
		`"excerpt":"hook:\n^^^^","hint":"did you mean \"hooks\"?"}]`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A position is exact whatever stands before it.
func TestPositions(t *testing.T) {
	before := rapid.SampledFrom([]string{
		"    # a comment\n",
		"# one further left\n",
		"\n", "   \n",
		"    - run: plain\n",
		"    - run: make # and a comment\n",
		"    - run: plain words\n        that go on\n",
		"    - run: 'quoted\n        ''text'''\n",
		"    - run: \"more\\\n        text\\n\"\n",
		"    - run: |\n        make a\n\n          make b\n",
		"    - run: |+ # keep\n        make a\n\n\n",
		"    - run: >-\n        make a\n        make b\n\n",
		"    - {run: 日本語, message: \"日本\"}\n",
		"    - {\n      run: a,\n      timeout: 5s\n    }\n",
		"    - &x\n      run: a\n    - *x\n",
		"    -   run:\ta\n        message:\t\tb\tc\n",
	})
	entry := rapid.SampledFrom([]string{
		"    - run: a\n      zzz: 1\n",
		"    - zzz: 1\n      run: a\n",
		"    - {run: a, zzz: 1}\n",
		"    - {message: \"日本語\", run: 'é''', zzz: 1}\n",
		"    - {run:\ta, zzz: 1}\n",
		"    - {run: !!str a, zzz: 1}\n",
		"    - {message: &zzz zzz1, run: a, zzz: 1}\n",
	})
	end := rapid.SampledFrom([]string{"\n", "\r\n"})
	rapid.Check(t, func(t *rapid.T) {
		text := "hooks:\n  Stop:\n" + strings.Join(rapid.SliceOfN(before, 0, 6).Draw(t, "before"), "") +
			entry.Draw(t, "entry")
		wantLine, wantColumn := find(text, "zzz:")
		text = strings.ReplaceAll(text, "\n", end.Draw(t, "end"))

		_, err := ParseProject("config.yml", []byte(text))
		if err == nil {
			t.Fatalf("no fault in\n%s", text)
		}
		if want := "config.yml:" + wantLine + ":" + wantColumn + `: unknown key "zzz"`; !strings.Contains(err.Error(), want) {
			t.Fatalf("want %s, got %v in\n%s", want, err, text)
		}
	})
}

func find(text, word string) (line, column string) {
	before := text[:strings.Index(text, word)]
	start := strings.LastIndex(before, "\n") + 1
	return strconv.Itoa(1 + strings.Count(before, "\n")), strconv.Itoa(1 + len([]rune(before[start:])))
}
