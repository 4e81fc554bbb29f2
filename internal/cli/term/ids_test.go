package term

import (
	"errors"
	"testing"
)

func TestOnlyOne(t *testing.T) {
	if _, err := OnlyOne("3f", nil, "pipeline", "look"); err == nil || err.Error() != "there is no pipeline 3f" {
		t.Errorf("none: %v", err)
	}
	if id, err := OnlyOne("3f", map[string]string{"3f9a": "x"}, "pipeline", ""); id != "3f9a" || err != nil {
		t.Errorf("one: %q, %v", id, err)
	}
	if id, err := OnlyOne("3f", map[string]string{"3f": "x", "3f9a": "y"}, "pipeline", ""); id != "3f" || err != nil {
		t.Errorf("one in full: %q, %v", id, err)
	}
	_, err := OnlyOne("3f", map[string]string{"3f9a": "pipeline a", "3f00": "pipeline b"}, "pipeline", "")
	var hinted UsageError
	if !errors.As(err, &hinted) || hinted.Error() != "3f is ambiguous (2 matches)" || hinted.Hint != "  3f00  pipeline b\n  3f9a  pipeline a" {
		t.Errorf("two: %v, %q", err, hinted.Hint)
	}
}
