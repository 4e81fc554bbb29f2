package process

import "testing"

func TestKilled(t *testing.T) {
	for name, tt := range map[string]struct {
		result Result
		want   bool
	}{
		"a failure":                      {Result{Code: 1}, false},
		"a signal":                       {Result{Signal: 9}, true},
		"a signal as a shell tells it":   {Result{Code: 129}, true},
		"the last signal there is":       {Result{Code: 192}, true},
		"no signal has this number":      {Result{Code: 193}, false},
		"the shell's own code":           {Result{Code: 128}, false},
		"ended by us, its time was over": {Result{Signal: 9, TimedOut: true}, false},
	} {
		if got := tt.result.Killed(); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
