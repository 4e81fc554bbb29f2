package setup

import "testing"

// One commit has three names: of make, of a package, and of go install.
func TestIssue19TheSameCommitIsNotStale(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	made := answer{version: "v0.1.0-3-g0123456", commit: commit}
	for _, test := range []struct {
		other answer
		same  bool
	}{
		{answer{version: "v0.1.1-snapshot.3.g0123456", commit: commit[:12]}, true},
		{answer{version: "v0.1.1-0.20261117120000-0123456789ab", commit: commit[:12]}, true},
		{answer{version: "v0.1.0-3-g0123456-dirty", commit: commit}, false},
		{answer{version: "v0.1.0-3-g0123456", commit: "fedcba987654"}, false},
		{answer{version: "v0.1.0-3-g0123456"}, true}, // it does not say
		{answer{version: "v0.1.0"}, false},
	} {
		if got := sameBuild(made, test.other); got != test.same {
			t.Errorf("%+v: %t", test.other, got)
		}
	}
}
