//go:build unix

package change

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// linking makes a repository beside a folder with files, and links it to them.
func linking(t *testing.T) (r *gittest.Repo, outside *gittest.Repo) {
	t.Helper()
	r = small(t)
	outside = gittest.At(t, filepath.Join(t.TempDir(), "outside"))
	outside.Write("env", "1", "conf/x", "1", "conf/deep/y", "1", "other", "1")
	symlink(t, outside.Path("env"), r.Path("env.o"))
	symlink(t, outside.Path("conf"), r.Path("conf.o"))
	symlink(t, outside.Path("env"), outside.Path("conf/link"))
	symlink(t, outside.Path("nowhere"), r.Path("nowhere.o"))
	symlink(t, "circle.o", r.Path("circle.o"))
	symlink(t, outside.Path("second"), r.Path("first.o"))
	symlink(t, "env", outside.Path("second"))
	symlink(t, "ignored", r.Path("within.o"))
	r.Write("ignored", "1", "sub/z.o", "1")
	symlink(t, outside.Path("env"), r.Path("sub/link"))
	symlink(t, outside.Path("conf"), r.Path("sub/folder"))
	return r, outside
}

func symlink(t *testing.T, to, at string) {
	t.Helper()
	check(t, os.Symlink(to, at))
}

// What is named counts with the content that a gate reads, and a link that ends nowhere is a value, too.
func TestRuling123InputsFollowLinks(t *testing.T) {
	tests := map[string]struct {
		pattern string
		write   string // outside, or "./" in the project
		same    bool
	}{
		"a file outside":                             {pattern: "env.o", write: "env"},
		"by a wildcard":                              {pattern: "*v.o", write: "env"},
		"another file outside":                       {pattern: "env.o", write: "other", same: true},
		"an ignored file of the project":             {pattern: "within.o", write: "./ignored"},
		"by way of another link":                     {pattern: "first.o", write: "env"},
		"one that ended nowhere":                     {pattern: "nowhere.o", write: "nowhere"},
		"in a folder":                                {pattern: "sub", write: "env"},
		"deep below a wildcard":                      {pattern: "**/link", write: "env"},
		"a folder":                                   {pattern: "conf.o", write: "conf/x"},
		"a new file in a folder":                     {pattern: "conf.o", write: "conf/new"},
		"deep in a folder":                           {pattern: "conf.o", write: "conf/deep/y"},
		"a file in a folder":                         {pattern: "conf.o/x", write: "conf/x"},
		"a wildcard in a folder":                     {pattern: "conf.o/*", write: "conf/x"},
		"a link in a folder to which a link leads":   {pattern: "conf.o", write: "env"},
		"a folder to which no pattern leads":         {pattern: "sub/*", write: "conf/x", same: true},
		"a folder to which a wildcard does not lead": {pattern: "**", write: "conf/x", same: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r, outside := linking(t)
			w := open(t, r)
			before := inputs(t, w, test.pattern)
			if test.write[0] == '.' {
				r.Write(test.write[2:], "2")
			} else {
				outside.Write(test.write, "2")
			}
			after := inputs(t, w, test.pattern)
			if !before.Exact || !after.Exact || (after.ID == before.ID) != test.same {
				t.Errorf("exact: %t, %t (%s%s); the same: %t", before.Exact, after.Exact, before.Why, after.Why, after.ID == before.ID)
			}
			if cold := inputs(t, open(t, r), test.pattern); cold.ID != after.ID {
				t.Error("it depends on the index")
			}
		})
	}
	t.Run("a link on the way leads elsewhere", func(t *testing.T) {
		r, outside := linking(t)
		outside.Write("other", "2")
		w := open(t, r)
		before := inputs(t, w, "first.o")
		outside.Remove("second")
		symlink(t, "other", outside.Path("second"))
		if after := inputs(t, w, "first.o"); after.ID == before.ID {
			t.Error("it is the same")
		}
	})
	t.Run("ends nowhere", func(t *testing.T) {
		r, _ := linking(t)
		got := inputs(t, open(t, r), "nowhere.o", "circle.o")
		if !got.Exact || len(got.files) != 2 {
			t.Errorf("exact: %t %s, %q", got.Exact, got.Why, got.names())
		}
	})
	t.Run("the same elsewhere", func(t *testing.T) {
		var ids, places []string
		for _, place := range []string{"here", "there"} {
			t.Run(place, func(t *testing.T) {
				r := small(t)
				beside := filepath.Join(r.Dir, "..", "beside")
				check(t, os.WriteFile(beside, []byte("1"), 0o600))
				symlink(t, "../beside", r.Path("link.o"))
				places, ids = append(places, beside), append(ids, inputs(t, open(t, r), "*.o", "a").ID)
			})
		}
		if ids[0] != ids[1] || places[0] == places[1] {
			t.Errorf("%q in %q", ids, places)
		}
	})
}

// What cannot be read, or not in time, proves nothing.
func TestInputsThatLeadToMoreThanFiles(t *testing.T) {
	r := small(t)
	fifo := filepath.Join(t.TempDir(), "pipe")
	check(t, syscall.Mkfifo(fifo, 0o600))
	symlink(t, fifo, r.Path("pipe.o"))
	symlink(t, "/dev/zero", r.Path("zero.o"))
	many := t.TempDir()
	for i := range maxOutside {
		check(t, os.WriteFile(filepath.Join(many, strconv.Itoa(i)), nil, 0o600))
	}
	check(t, os.Mkdir(filepath.Join(many, "folder"), 0o700))
	symlink(t, many, r.Path("many.o"))
	w := open(t, r)
	for _, pattern := range []string{"pipe.o", "zero.o", "many.o", "many.o/**"} {
		if got := inputs(t, w, pattern); got.Exact {
			t.Errorf("%s is exact", pattern)
		}
	}

	huge := filepath.Join(t.TempDir(), "huge")
	check(t, os.WriteFile(huge, nil, 0o600))
	check(t, os.Truncate(huge, 1<<40))
	symlink(t, huge, r.Path("huge.o"))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if got, err := w.Inputs(ctx, []string{"huge.o"}, ""); !errors.Is(err, context.DeadlineExceeded) || got.Exact {
		t.Errorf("exact: %t, %v", got.Exact, err)
	}
}
