package runbook

import "testing"

func TestExpand(t *testing.T) {
	vars := map[string]string{"var.x": "1", "var.dry-run": "2", "step": "3", "var.loop": "${var.loop}", "var.e": "", "": "never"}
	for text, want := range map[string]string{
		"":                           "",
		"a":                          "a",
		"${var.x}":                   "1",
		"a${var.x}b${step}c":         "a1b3c",
		"${var.dry-run}":             "2",
		"${var.e}":                   "",
		"${var.y} ${HOME} $x $ { ${": "${var.y} ${HOME} $x $ { ${",
		"${x:-${var.x}}":             "${x:-1}",
		"$${var.x}":                  "$1",
		"${${var.x}}":                "${1}",
		"${var.x":                    "${var.x",
		"${ var.x }":                 "${ var.x }",
		"${var.loop}":                "${var.loop}",
		"${var.é}":                   "${var.é}",
	} {
		if got := Expand(text, vars); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestExpandShell(t *testing.T) {
	vars := map[string]string{"var.x": "a\\b$c`d\"e'f\n"}
	if got, want := ExpandShell(`echo "${var.x}" ${var.y} $z`, vars), `echo "a\\b\$c\`+"`"+`d\"e'f`+"\n"+`" ${var.y} $z`; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
