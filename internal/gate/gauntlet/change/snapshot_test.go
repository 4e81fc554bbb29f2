package change

import (
	"testing"
	"time"
)

// Nothing vouches for a file that was written just now: it could be written again and look the same.
func TestOnlySettledFilesAreLearned(t *testing.T) {
	at := time.Now()
	file := func(path string, age time.Duration) entry {
		return entry{path: path, stat: stat{mode: typeRegular | 0o644, mtime: at.Add(-age).UnixNano(), ctime: at.Add(-age).UnixNano()}}
	}
	old, fresh, coming := file("old", time.Hour), file("fresh", settle-1), file("coming", -time.Hour)
	for name, tt := range map[string]struct {
		known, files []entry
		want         []string
		changed      bool
	}{
		"all new":             {nil, []entry{coming, fresh, old}, []string{"old"}, true},
		"nothing settled":     {nil, []entry{coming, fresh}, nil, false},
		"known already":       {[]entry{old}, []entry{old}, []string{"old"}, false},
		"one that was edited": {[]entry{file("fresh", time.Hour), old}, []entry{fresh, old}, []string{"old"}, true},
		"just settled":        {nil, []entry{file("a", settle)}, []string{"a"}, true},
	} {
		s := &snapshot{at: at, known: tt.known}
		known, changed := s.learn(tt.files)
		var got []string
		for _, e := range known {
			got = append(got, e.path)
		}
		if len(got) != len(tt.want) || len(got) > 0 && got[0] != tt.want[0] || changed != tt.changed {
			t.Errorf("%s: learned %q, changed %t; want %q, %t", name, got, changed, tt.want, tt.changed)
		}
	}
}
