package setup

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseChecks(t *testing.T) {
	t.Parallel()
	got := parseChecks([]string{
		"make lint", "unit=npm test", "-", "npm run lint", "CI=1 make test", "http_proxy=x make", "=x", "a=", "unit=again", "2=x",
	})
	want := []newCheck{
		{"lint", "make lint"},
		{"unit", "npm test"},
		{"lint-2", "npm run lint"},
		{"test", "CI=1 make test"}, // a variable, and not a name
		{"check", "http_proxy=x make"},
		{"check-2", "=x"},
		{"check-3", "a="},
		{"unit-2", "again"},
		{"check-4", "2=x"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(newCheck{})); diff != "" {
		t.Error(diff)
	}
}

// The first configuration means the commands that were given, whatever those are.
func TestFirstConfig(t *testing.T) {
	t.Parallel()
	strange := []string{"make lint", `echo "a: b" # 'c' \n`, "a\tb", "é ✓ 😀", "- x", "{}", "a\nb"}
	for _, texts := range [][]string{nil, strange[:1], strange} {
		for _, base := range []string{"", "main", "a: b #"} {
			checks := parseChecks(texts)
			dir := t.TempDir()
			if err := (firstConfig{checks, base}).write(dir); err != nil {
				t.Fatal(err)
			}
			c, err := ReadContents(dir, dir)
			if err != nil {
				t.Errorf("%q from %q: %v", texts, base, err)
				continue
			}
			var got []newCheck
			for _, ep := range c.gates.EntryPoints {
				for _, check := range ep.Checks {
					got = append(got, newCheck{check.Name, check.Command})
				}
			}
			if diff := cmp.Diff(checks, got, cmp.AllowUnexported(newCheck{})); diff != "" || c.Gauntlet.BaseBranch != base {
				t.Errorf("%q from %q, not %q:\n%s", texts, base, c.Gauntlet.BaseBranch, diff)
			}
		}
	}
}
