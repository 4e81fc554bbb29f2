package plane

import (
	"strings"
	"testing"
)

// A machine leaves its fleet when the person says yes; no answer is no.
func TestIssue20LeavingAFleetIsConfirmed(t *testing.T) {
	for typed, leaves := range map[string]bool{"y\n": true, "YES\n": true, "\n": false, "no\n": false, "vps\n": false, "": false, "y": false} {
		var out strings.Builder
		err := agreeToLeave(strings.NewReader(typed), &out, []string{"vps\x1b[2J"})
		if (err == nil) != leaves || err != nil && !strings.Contains(err.Error(), "nothing was changed") {
			t.Errorf("%q: %v", typed, err)
		}
		if !strings.HasPrefix(out.String(), "Take vps") || strings.Contains(out.String(), "\x1b") {
			t.Errorf("it asks %q", out.String())
		}
	}
}
