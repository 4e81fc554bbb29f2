package launch

import (
	"os"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/process"
)

var must = checktest.OK

// Where the home is shared, a client of another machine is not ours to bury.
func TestClientsOfOtherMachines(t *testing.T) {
	gone := process.Identity{PID: 1, Start: "0", Boot: "another"}
	for name, tt := range map[string]struct {
		rec   record
		lives bool
	}{
		"here":             {record{Claude: process.Self(), Host: hostname()}, true},
		"here, gone":       {record{Claude: gone, Host: hostname()}, false},
		"there":            {record{Claude: gone, Host: "elsewhere", Since: time.Now().Add(-24 * time.Hour)}, true},
		"there, long ago":  {record{Claude: gone, Host: "elsewhere", Since: time.Now().Add(-30 * 24 * time.Hour)}, false},
		"of an older file": {record{Claude: process.Self()}, true},
		"older file, gone": {record{Claude: gone}, false},
	} {
		r := NewRegistry(t.TempDir())
		must(t, os.Mkdir(r.dir, 0o700))
		id := journal.NewID()
		must(t, r.create(id, tt.rec))
		if got := len(r.sweep()) == 1; got != tt.lives {
			t.Errorf("%s: lives %t", name, got)
		}
		if _, err := os.Stat(r.path(id)); (err == nil) != tt.lives {
			t.Errorf("%s: %v", name, err)
		}
	}
}
