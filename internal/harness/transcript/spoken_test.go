package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestE9SpokenLeavesTheProjectsMemoryOut(t *testing.T) {
	lines := []string{
		`{"type":"queue-operation","content":"PLANTED"}`,
		`{"type":"user","uuid":"1","parentUuid":null,"message":{"role":"user","content":"do it"}}`,
		`{"type":"attachment","uuid":"2","parentUuid":"1","attachment":{"type":"instructions","files":["PLANTED"]}}`,
		`{"type":"attachment","uuid":"3","parentUuid":"2","attachment":{"type":"of a later client","files":["PLANTED"]}}`,
		`{"type":"api-request-blob","message":{"content":"PLANTED"}}`,
		`{"type":"progress","uuid":"4","parentUuid":"3","data":"PLANTED"}`,
		`{"type":"assistant","uuid":"5","parentUuid":"4","message":{"role":"assistant","content":[{"type":"text","text":"<a> & \u2028"}]}}`,
		`half a li`,
		`{"type":"attachment","uuid":"6","parentUuid":"5","attachment":{"type":"queued_command","prompt":"and this"}}`,
		`{"type":"attachment","uuid":"7","parentUuid":"6","attachment":{"type":"nested_memory","content":"PLANTED"}}`,
		`{"type":"system","subtype":"compact_boundary","uuid":"8","parentUuid":null,"logicalParentUuid":"7"}`,
		`{"type":"user","uuid":"9","parentUuid":"8","message":{"role":"user","content":"go on"}}`,
	}
	want := []string{
		lines[1],
		`{"message":{"role":"assistant","content":[{"type":"text","text":"\u003ca\u003e \u0026 \u2028"}]},"parentUuid":"1","type":"assistant","uuid":"5"}`,
		lines[8],
		`{"logicalParentUuid":"6","parentUuid":null,"subtype":"compact_boundary","type":"system","uuid":"8"}`,
		lines[11],
	}
	for _, end := range []string{"", "\n"} {
		var out strings.Builder
		check(t, Spoken(&out, strings.NewReader(strings.Join(lines, "\n")+end)))
		if diff := cmp.Diff(strings.Join(want, "\n")+"\n", out.String()); diff != "" {
			t.Error(diff)
		}
	}
}

// The first line that is left out has nothing before it, and lines may name each other.
func TestE9SpokenKeepsTheChain(t *testing.T) {
	for name, text := range map[string]string{
		"first": `{"type":"attachment","uuid":"1","parentUuid":null,"attachment":{"type":"instructions"}}
{"type":"user","uuid":"2","parentUuid":"1"}`,
		"a ring": `{"type":"attachment","uuid":"1","parentUuid":"3","attachment":{"type":"instructions"}}
{"type":"attachment","uuid":"3","parentUuid":"1","attachment":{"type":"instructions"}}
{"type":"user","uuid":"2","parentUuid":null}`,
	} {
		var out strings.Builder
		check(t, Spoken(&out, strings.NewReader(text)))
		if got := out.String(); !strings.Contains(got, `"parentUuid":null`) || strings.Count(got, "\n") != 1 {
			t.Errorf("%s: %q", name, got)
		}
	}
	failed := Spoken(refusing{}, strings.NewReader(`{"type":"user"}`))
	if failed == nil {
		t.Error("a copy that could not be written is taken for whole")
	}
}

type refusing struct{}

func (refusing) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestSaid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	text := `{"type":"user","message":{"role":"user","content":"the prompt"}}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"the answer <1>"}]}}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","name":"Read"}]}}
{"type":"user","message":{"role":"assistant","content":"what a person quotes"}}
`
	check(t, os.WriteFile(path, []byte(text), 0o600))
	for message, want := range map[string]bool{"the answer <1>": true, " the answer <1>\n": true, "the prompt": false, "what a person quotes": false, "another": false, "": false} {
		if got := Said(path, message); got != want {
			t.Errorf("%q: %t", message, got)
		}
	}
	if Said(filepath.Join(t.TempDir(), "none"), "x") {
		t.Error("a file that is not there says something")
	}
}
