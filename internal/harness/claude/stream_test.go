package claude

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// reading is what a stream made of its input.
type reading struct {
	raw   strings.Builder
	texts []string
	done  int
}

func (r *reading) stream() *Stream {
	return &Stream{
		Line: func(line []byte) { r.raw.Write(line) },
		Text: func(text string) { r.texts = append(r.texts, text) },
		Done: func() { r.done++ },
	}
}

const (
	saidLine = `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Looking."},{"type":"tool_use","name":"Read","input":{"text":"no"}},{"type":"text","text":"Done."}]}}`
	toolLine = `{"type":"user","message":{"content":[{"type":"tool_result","content":[{"type":"text","text":"not the model"}]}]}}`
	bareLine = `{"type":"text","text":"bare"}`
	oldLine  = `{"type":"text","content":"older"}`
)

func TestStream(t *testing.T) {
	input := strings.Join([]string{initLine, saidLine, "noise \"text\"", toolLine, bareLine, oldLine, "{broken \"result\"", successLine, textLine, saidLine}, "\n")
	for name, size := range map[string]int{"at once": len(input), "byte by byte": 1, "in pieces": 7} {
		t.Run(name, func(t *testing.T) {
			var r reading
			s := r.stream()
			for rest := input; rest != ""; {
				n, err := s.Write([]byte(rest[:min(size, len(rest))]))
				check(t, err)
				rest = rest[n:]
			}
			result, err := s.Result()
			if err != nil || string(result.Structured) != `{"a":1}` {
				t.Errorf("got %+v, %v", result, err)
			}
			if diff := cmp.Diff([]string{"Looking.", "Done.", "bare", "older"}, r.texts); diff != "" {
				t.Error(diff)
			}
			if r.raw.String() != input {
				t.Errorf("the raw lines differ:\n%s", r.raw.String())
			}
			if r.done != 1 {
				t.Errorf("done %d times", r.done)
			}
		})
	}
}

func TestStreamWithoutResult(t *testing.T) {
	var s Stream
	for _, line := range []string{initLine, "", "words", toolLine} {
		_, _ = s.Write([]byte(line + "\n"))
	}
	if _, err := s.Result(); !errors.Is(err, ErrNoResult) {
		t.Errorf("got %v", err)
	}
}

func TestStreamOfLongLines(t *testing.T) {
	var r reading
	s := r.stream()
	long := `{"type":"result","result":"` + strings.Repeat("x", 5<<20) + `"}`
	_, _ = s.Write([]byte(long))
	if result, err := s.Result(); err != nil || len(result.Text) != 5<<20 || r.raw.String() != long {
		t.Errorf("%d bytes, %v", len(result.Text), err)
	}
}

func TestResultOfAnotherShape(t *testing.T) {
	r, err := ParseResult([]byte(`{"type":"result","subtype":"success","is_error":"no","result":{"completed":true},"usage":7,"total_cost_usd":"much"}`))
	if err != nil || r.Text != `{"completed":true}` || r.Cost != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = ParseResult([]byte(`{"type":"result","result":"x","total_cost_usd":0.25,"usage":{"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":3,"cache_creation_input_tokens":4,"server_tool_use":{}}}`))
	if want := (Usage{1, 2, 3, 4}); err != nil || r.Cost != 0.25 || r.Usage != want {
		t.Errorf("%+v, %v", r, err)
	}
}

func FuzzStream(f *testing.F) {
	f.Add([]byte(initLine+"\n"+saidLine+"\n"+successLine), 3)
	f.Add([]byte("{\n\n}\n"+oldLine), 1)
	f.Fuzz(func(t *testing.T, input []byte, size int) {
		size = max(1, size)
		var r reading
		s := r.stream()
		for rest := input; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			_, _ = s.Write(rest[:min(size, len(rest))])
		}
		_, err := s.Result()
		if r.raw.String() != string(input) {
			t.Errorf("got %q of %q", r.raw.String(), input)
		}
		if (err == nil) != (r.done == 1) {
			t.Errorf("%v, done %d times", err, r.done)
		}
	})
}
