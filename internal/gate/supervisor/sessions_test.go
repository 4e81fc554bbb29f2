package supervisor

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSessions(t *testing.T) {
	d := newDir(t)
	if ids, err := d.Sessions(); ids != nil || err != nil {
		t.Errorf("of no directory: %q, %v", ids, err)
	}
	update(t, d, "b", countOne)
	update(t, d, "a-output", countOne)
	plant(t, d, "c", "{")
	check(t, d.Log(noon, "x"))
	for _, name := range []string{
		"supervisor-b-output.jsonl", "supervisor-b.json.damaged", "supervisor-.json", "supervisor-...json", "supervisor- x.json",
		"supervisor-" + strings.Repeat("x", maxSession+1) + ".json", "other.json", litterPrefix + "1.json",
	} {
		check(t, os.WriteFile(d.join(name), nil, 0o600))
	}
	ids, err := d.Sessions()
	check(t, err)
	if diff := cmp.Diff([]string{"a-output", "b", "c"}, ids); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSessionsOfWhatIsNoDirectory(t *testing.T) {
	d := newDir(t)
	check(t, os.WriteFile(d.path, nil, 0o600))
	if ids, err := d.Sessions(); err == nil {
		t.Errorf("lists %q", ids)
	}
}
