package journal

import (
	"bytes"
	"os"
	"testing"
)

func TestKeyIsMadeOnce(t *testing.T) {
	j := tempJournal(t, Limits{})
	first, err := j.Key()
	if err != nil || len(first) != keySize {
		t.Fatalf("key %x, %v", first, err)
	}
	if second, err := j.Key(); err != nil || !bytes.Equal(first, second) {
		t.Errorf("second key %x, %v, want %x", second, err, first)
	}
	if other, _ := tempJournal(t, Limits{}).Key(); bytes.Equal(first, other) {
		t.Error("two journals have the same key")
	}
	check(t, os.WriteFile(j.path(keyName), first[:31], 0o600))
	_, err = j.Key()
	wantError(t, err, j.path(keyName), "has 31 bytes", "delete it")
}

func TestPromptHash(t *testing.T) {
	key := bytes.Repeat([]byte{7}, keySize)
	want := PromptHash(key, "fix the bug")
	// From: printf 'fix the bug' | openssl dgst -sha256 -mac HMAC -macopt hexkey:0707…
	if want != "9cb3445bfe78258cf766e96cc11f393e" {
		t.Errorf("hash %q", want)
	}
	for _, same := range []string{" fix the bug\n", "fix\tthe\r\n  bug", "fix the\u00a0bug"} {
		if got := PromptHash(key, same); got != want {
			t.Errorf("hash of %q is %s, want %s", same, got, want)
		}
	}
	for _, other := range []string{"", "fixthe bug", "Fix the bug", "fix the bug."} {
		if PromptHash(key, other) == want {
			t.Errorf("%q has the same hash", other)
		}
	}
	if PromptHash(key[1:], "fix the bug") == want {
		t.Error("another key gives the same hash")
	}
}
