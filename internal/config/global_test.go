package config

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestGlobalDefaults(t *testing.T) {
	want := &Global{Journal: Journal{MaxAge: 720 * time.Hour, MaxSize: 256 << 20}}
	got, err := LoadGlobal(filepath.Join(t.TempDir(), "missing.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("missing file (-want +got):\n%s", diff)
	}
	want.Exists = true
	for _, text := range []string{"", "trust: off\n", "notify:\njournal:\n", "journal: {payloads: false}\n"} {
		got, err := ParseGlobal("config.yml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestGlobal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yml")
	write(t, file, `trust: enforce
notify:
  command: notify-send stopgate
journal:
  payloads: true
  max_age: 48h
  max_size: 64MiB
`)
	got, err := LoadGlobal(file)
	if err != nil {
		t.Fatal(err)
	}
	want := &Global{
		Exists:  true,
		Trust:   TrustEnforce,
		Notify:  Notify{Command: "notify-send stopgate"},
		Journal: Journal{Payloads: true, MaxAge: 48 * time.Hour, MaxSize: 64 << 20},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "4096": 4096, "1KiB": 1 << 10, "3MiB": 3 << 20, "2GiB": 2 << 30, "256 MiB": 256 << 20,
		"8589934591GiB": 8589934591 << 30,
	} {
		g, err := ParseGlobal("config.yml", []byte("journal: {max_size: "+text+"}"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if g.Journal.MaxSize != want {
			t.Errorf("%s: got %d, want %d", text, g.Journal.MaxSize, want)
		}
	}
}

// Losing the file that says trust: enforce must not go unnoticed.
func TestGlobalLinkIntoNowhere(t *testing.T) {
	link := filepath.Join(t.TempDir(), "config.yml")
	if err := os.Symlink("gone.yml", link); err != nil {
		t.Skip(err)
	}
	if g, err := LoadGlobal(link); err == nil {
		t.Errorf("got %+v and no error", g)
	}
}
