package gauntlet

import (
	"testing"

	"pgregory.net/rapid"
)

func TestClassify(t *testing.T) {
	tests := []struct {
		ok     bool
		output string
		want   Status
	}{
		{true, "No applicable gates for these changes.\n", NoApplicableGates},
		{true, "", Passed},
		{true, "Status: Failed", Passed},
		{false, "Status: Passed", TerminationPassed},
		{false, "Status: Passed with warnings", TerminationWarnings},
		{false, "Status: Retry limit exceeded", TerminationRetryLimit},
		{false, "Status: Passed\nStatus: Retry limit exceeded\nbye", TerminationRetryLimit},
		{false, "No applicable gates", Failed},
		{false, "Status: Failed\n", Failed},
		{false, "", Failed},
	}
	for _, tt := range tests {
		for size := 1; size <= len(tt.output)+1; size++ {
			p := &phrases{}
			for rest := tt.output; rest != ""; {
				n := min(size, len(rest))
				if _, err := p.Write([]byte(rest[:n])); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if got := classify(tt.ok, p); got != tt.want {
				t.Errorf("ok %t, %q in writes of %d: %s, want %s", tt.ok, tt.output, size, got, tt.want)
			}
		}
	}
}

// However output is cut into writes, the status is that of the whole.
func TestClassifyDoesNotDependOnWrites(t *testing.T) {
	word := rapid.SampledFrom([]string{"Status: Passed", " with warnings", "Status: Retry limit exceeded", "No applicable gates", "Status: ", "\n", "x"})
	rapid.Check(t, func(t *rapid.T) {
		whole, pieces := &phrases{}, &phrases{}
		var all []byte
		for _, w := range rapid.SliceOf(word).Draw(t, "words") {
			all = append(all, w...)
		}
		_, _ = whole.Write(all)
		for rest := all; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			_, _ = pieces.Write(rest[:n])
			rest = rest[n:]
		}
		for _, ok := range []bool{true, false} {
			if a, b := classify(ok, whole), classify(ok, pieces); a != b {
				t.Fatalf("whole %s, in pieces %s: %q", a, b, all)
			}
		}
	})
}
