package logfile

import (
	"os"
	"strings"
	"testing"
)

func TestBoundedStartsAnew(t *testing.T) {
	f, err := Open(t.TempDir(), "x.log")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	log, line := Bounded{f}, strings.Repeat("x", 1<<10-1)+"\n"
	for range 5 << 10 {
		if _, err := log.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := log.Write([]byte("the last\n")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(f.Name())
	if err != nil || len(text) > most+len(line) || !strings.HasSuffix(string(text), "x\nthe last\n") || text[0] != 'x' {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}
