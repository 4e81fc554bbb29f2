//go:build unix

package main

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestBeforeAndAfterEachRun(t *testing.T) {
	l := testLab(t)
	var log strings.Builder
	note := func(word string) func(context.Context) error {
		return func(context.Context) error { log.WriteString(word); return nil }
	}
	p := program{name: "p", dir: l.dir, args: []string{"sh", "-c", "echo out; echo err >&2"}, wants: "out\nerr\n", piped: true, before: note("b"), after: note("a")}
	if _, err := l.race(t.Context(), 1, p); err != nil {
		t.Fatal(err)
	}
	if want := strings.Repeat("ba", warmUp+1); log.String() != want {
		t.Errorf("%q, want %q", &log, want)
	}
	p.after = func(context.Context) error { return io.ErrNoProgress }
	if _, err := l.race(t.Context(), 1, p); err == nil {
		t.Error("work that was not done is not noticed")
	}
}

// What holds the output open is waited for, as the client does.
func TestPipedWaitsForTheEndOfTheOutput(t *testing.T) {
	l := testLab(t)
	late := l.path("late")
	p := program{name: "p", dir: l.dir, args: []string{"sh", "-c", "(while ! test -e go; do sleep 0.01; done; touch " + late + ") & touch go"}, piped: true}
	if _, _, err := l.run(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(late); err != nil {
		t.Error("it was not waited for what the program left behind")
	}
}

func TestTakePastes(t *testing.T) {
	input := pasteStart + "one\r2" + pasteEnd + "three" + pasteStart + "\x1b[20~" + pasteEnd
	for name, in := range map[string]io.Reader{"at once": strings.NewReader(pasteStart + "three" + pasteEnd), "bytes": iotest.OneByteReader(strings.NewReader(input))} {
		var got []string
		if err := takePastes(in, 5, func(text []byte) { got = append(got, string(text)) }); err != io.EOF {
			t.Error(err)
		}
		want := []string{"one\r2", "three", "\x1b[20~"}
		if name == "at once" {
			want = want[1:2]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestLongPromptFits(t *testing.T) {
	for _, size := range []int{1, 100, 100_000} {
		text := longPrompt(size)
		if len(text) != size || strings.HasSuffix(text, ";") || strings.ToValidUTF8(text, "") != text {
			t.Errorf("%d: %d bytes", size, len(text))
		}
	}
}

func TestStandInShowsTheTextOfAPaste(t *testing.T) {
	c := clientStandIn{typed: []byte(pasteStart + "a\nb" + pasteEnd + "c")}
	if got := c.box(); got != "a\nbc" {
		t.Errorf("%q", got)
	}
}
