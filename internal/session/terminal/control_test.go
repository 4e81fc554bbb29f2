package terminal

import (
	"bufio"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		stream string
		lines  []string
		failed bool
		ours   bool
		err    error
	}{
		"empty answer":          {"%begin 10 1 1\n%end 10 1 1\n", nil, false, true, nil},
		"lines":                 {"%begin 10 1 1\na\n\nb\n%end 10 1 1\n", []string{"a", "", "b"}, false, true, nil},
		"failure":               {"%begin 10 1 1\nno\n%error 10 1 1\n", []string{"no"}, true, true, nil},
		"not ours":              {"%begin 10 1 0\n%end 10 1 0\n", nil, false, false, nil},
		"notifications":         {"%session-changed $1 a\n%output %1 x\n%begin 10 1 1\n%end 10 1 1\n", nil, false, true, nil},
		"another guard":         {"%begin 10 1 1\n%end 10 2 1\n%error 11 1 1\n%end 10 1 1\n", []string{"%end 10 2 1", "%error 11 1 1"}, false, true, nil},
		"nothing":               {"", nil, false, false, io.EOF},
		"only notifications":    {"%exit\n", nil, false, false, io.EOF},
		"cut off":               {"%begin 10 1 1\na\n", nil, false, false, io.EOF},
		"cut off in the guard":  {"%begin 10 1 1\na\n%end 10 1", nil, false, false, io.EOF},
		"an end without begin":  {"%end 10 1 1\n", nil, false, false, io.EOF},
		"a begin without guard": {"%begin \n%begin 10 1 1\n%end 10 1 1\n", nil, false, true, nil},
	} {
		a, ours, err := readAnswer(bufio.NewReader(strings.NewReader(tt.stream)))
		if diff := cmp.Diff(tt.lines, a.lines); diff != "" || a.failed != tt.failed || ours != tt.ours || err != tt.err {
			t.Errorf("%s: %+v, %t, %v\n%s", name, a, ours, err, diff)
		}
	}
}

func FuzzReadAnswer(f *testing.F) {
	f.Add("%begin 10 1 1\na\n%end 10 1 1\n", "%end 10 1 1")
	f.Add("%begin \n", "")
	f.Fuzz(func(t *testing.T, stream, line string) {
		r := bufio.NewReader(strings.NewReader(stream))
		for {
			if _, _, err := readAnswer(r); err != nil {
				break
			}
		}
		line, _, _ = strings.Cut(line, "\n")
		if line == "%end 77 7 1" || line == "%error 77 7 1" {
			return
		}
		a, ours, err := readAnswer(bufio.NewReader(strings.NewReader("%begin 77 7 1\n" + line + "\n%end 77 7 1\n")))
		if err != nil || !ours || len(a.lines) != 1 || a.lines[0] != line {
			t.Errorf("%q: %+v, %t, %v", line, a, ours, err)
		}
	})
}
