package sqlite

import (
	"os"
	"strings"
	"testing"
)

// A machine that loses power while the database is made leaves a file that undoes what was begun.
// Verify, which changes nothing, cannot have it undone, and takes it for a store without events.
func TestIssue20PowerLostWhileTheStoreIsMade(t *testing.T) {
	path := tempPath(t)
	interrupted(t, path)
	report := verify(t, path)
	if !report.Sound() || report.Events != 0 || len(report.Notes) == 0 || !strings.Contains(strings.Join(report.Notes, "\n"), "was being made when the machine lost power") {
		t.Errorf("%+v", report)
	}

	s := mustOpen(t, path)
	if found := s.Found(); len(found) > 0 {
		t.Errorf("found %v", found)
	}
	check(t, once(t.Context(), s))
	check(t, s.Close())
	if report := verify(t, path); !report.Sound() || report.Events != 1 {
		t.Errorf("%+v", report)
	}
}

// interrupted makes a database whose first transaction has reached the file and is not committed.
func interrupted(t *testing.T, path string) {
	t.Helper()
	other := tempPath(t)
	check(t, os.WriteFile(other, nil, 0o600))
	conn, err := raw(t, other).Conn(t.Context())
	check(t, err)
	defer conn.Close()
	for _, statement := range []string{
		"CREATE TABLE gone (x)", "DROP TABLE gone", // so that the file has a page that can be put back
		"PRAGMA cache_size = 1", "BEGIN", "CREATE TABLE half (x)", "INSERT INTO half VALUES (randomblob(100000))",
	} {
		_, err := conn.ExecContext(t.Context(), statement)
		check(t, err)
	}
	for _, suffix := range []string{"", "-journal"} {
		data, err := os.ReadFile(other + suffix)
		check(t, err)
		check(t, os.WriteFile(path+suffix, data, 0o600))
	}
}
