package seedtest

import (
	"fmt"
	"strings"
	"testing"
)

// recorder is a test whose words are kept.
type recorder struct {
	testing.TB
	said string
}

func (r *recorder) Helper()                           {}
func (r *recorder) Logf(format string, args ...any)   { r.said += fmt.Sprintf(format, args...) }
func (r *recorder) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func TestTheSeedIsPrintedAndCanBeGiven(t *testing.T) {
	t.Setenv(Variable, "")
	printed := &recorder{TB: t}
	want := New(printed).Uint64()
	seed, _, found := strings.Cut(strings.TrimPrefix(printed.said, Variable+"="), " ")
	if !found {
		t.Fatalf("it said %q", printed.said)
	}

	t.Setenv(Variable, seed)
	if got := New(&recorder{TB: t}).Uint64(); got != want {
		t.Errorf("with its seed the source began with %d, not with %d", got, want)
	}
}

func TestASeedThatIsNoNumberIsRefused(t *testing.T) {
	t.Setenv(Variable, "x")
	defer func() {
		if recover() == nil {
			t.Error("it was taken")
		}
	}()
	New(&recorder{TB: t})
}
