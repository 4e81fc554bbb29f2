package hook

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
)

func TestReadTakesAWholePayload(t *testing.T) {
	got, err := Read(iotest.OneByteReader(strings.NewReader(valid)), ReadPatience)
	if err != nil || string(got) != valid {
		t.Errorf("%q, %v", got, err)
	}
}

func TestReadAnswersAlthoughStdinStaysOpen(t *testing.T) {
	for name, tt := range map[string]struct {
		sent string
		ok   bool
	}{
		"whole":   {valid + "\n", true},
		"nothing": {"", false},
		"half":    {valid[:30], false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, w := io.Pipe()
				defer w.Close()
				go io.WriteString(w, tt.sent)
				got, err := Read(r, ReadPatience)
				if (err == nil) != tt.ok {
					t.Errorf("%q, %v", got, err)
				}
				if tt.ok && string(got) != tt.sent {
					t.Errorf("%q", got)
				}
			})
		})
	}
}

func TestReadIsBoundedInSize(t *testing.T) {
	if _, err := Read(strings.NewReader(strings.Repeat(" ", MaxPayload)), ReadPatience); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	_, err := Read(strings.NewReader(strings.Repeat(" ", MaxPayload+1)), ReadPatience)
	if err == nil || !strings.Contains(err.Error(), "larger than 8 MiB") {
		t.Errorf("over the limit: %v", err)
	}
	endless := io.MultiReader(strings.NewReader("{"), zeros{})
	if _, err := Read(endless, ReadPatience); err == nil {
		t.Error("endless input was accepted")
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestReadTellsAnError(t *testing.T) {
	broken := errors.New("broken pipe")
	if _, err := Read(iotest.ErrReader(broken), ReadPatience); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}
