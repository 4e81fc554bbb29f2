package runbook

import (
	"fmt"
	"strings"
	"testing"
)

// A template in a script stands between double quotes, or the runbook is not run.
func TestRulingP2TemplatesInScriptsAreQuoted(t *testing.T) {
	for _, test := range []struct{ script, want string }{
		{`echo "${var.x}"`, ""},
		{`echo "a ${var.x} b"'c'"${var.y}"`, ""},
		{`echo "$(printf %s "${var.x}")"`, ""},
		{`test "${error}" && cd "${project}/${invoke.dir}"`, ""},
		{`cat <<< "${var.x}"`, ""},
		{"if true; then\n  echo \"${steps.a.output.b}\"\nfi", ""},
		{`echo ${step} ${pipeline_id} ${HOME} ${x:-y}`, ""},
		{`echo "${x:-"${var.x}"}"`, ""},
		{`echo ${var.x}`, "var.x 0"},
		{`echo '${var.x}'`, "var.x 0"},
		{`echo "${var.x}" ${var.x}`, "var.x 1"},
		{`echo "$(cat ${var.x})"`, "var.x 0"},
		{"echo \"`cat ${var.x}`\"", "var.x 0"},
		{"echo \"`cat \"${var.x}\"`\" \"${var.x}\"", "var.x 0"}, // a shell takes away the backslashes first
		{"x=`echo \"$(cat \"${var.x}\")\"`", "var.x 0"},
		{"> \"${var.x}\" echo \"`date`\" \"${var.y}\"", ""},
		{`echo $(( ${var.x} + 1 ))`, "var.x 0"},
		{`echo "$(( ${var.x} + 1 ))"`, "var.x 0"},
		{"cat <<END\n${var.x}\nEND", "var.x 0"},
		{"cat <<'END'\n${var.x}\nEND", "var.x 0"},
		{"cat <<END\n\"${var.x}\"\nEND", "var.x 0"},
		{"cat <<END\n$(echo \"${var.x}\")\nEND", ""},
		{"true # ${var.x}", "var.x 0"},
		{`case ${var.x} in a) ;; esac`, "var.x 0"},
		{`for i in ${steps.list.output.all}; do echo "$i"; done`, "steps.list.output.all 0"},
		{`x=${prompt}`, "prompt 0"},
		{`x=${error}; y=${project}; z=${invoke.dir}`, "error 0, project 0, invoke.dir 0"},
		{`echo "${var.x}" )`, "var.x 0"}, // it cannot be read
		{`echo "${var.x}`, "var.x 0"},
		{`echo "${foo.bar}" "${var.x}"`, ""},
		{`echo "${item}" ${item} ${item.name}`, "item 1, item.name 0"},
	} {
		var got []string
		for _, e := range exposed(test.script, true) {
			got = append(got, fmt.Sprint(e.name, " ", e.nth))
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%s\ngot %q, want %q", test.script, got, test.want)
		}
	}
	const text = "[command.c]\nargs = \"<x>\"\nrun = 'echo \"${var.x}\" ${var.x}'\n"
	_, faults := Parse("x.toml", []byte(text), noFile)
	if want := `x.toml:3:24: ${var.x} is not in double quotes, so the shell may run what its value says`; faults.Error() != want {
		t.Errorf("got %v", faults)
	}
	if len(faults) == 0 || faults[0].Hint != `write "${var.x}", or "$VAR_X"` {
		t.Errorf("%+v", faults)
	}
}

// Between backquotes double quotes do not help: $( ) does.
func TestRulingP2TemplatesBetweenBackquotes(t *testing.T) {
	const text = "[command.c]\nargs = \"<x>\"\nrun = 'echo \"`cat \"${var.x}\"`\"'\n"
	_, faults := Parse("x.toml", []byte(text), noFile)
	if want := `x.toml:3:20: ${var.x} is between backquotes, where the shell may run what its value says`; faults.Error() != want {
		t.Errorf("got %v", faults)
	}
	if len(faults) != 1 || faults[0].Hint != "write $( ) instead of the backquotes" {
		t.Errorf("%+v", faults)
	}
}

func FuzzExposed(f *testing.F) {
	f.Add(`echo "${var.x}" <<END`)
	f.Add("cat <<'E'\n${var.x}\nE")
	f.Fuzz(func(t *testing.T, script string) {
		for _, e := range exposed(script, true) {
			if !strings.Contains(script, "${"+e.name+"}") {
				t.Errorf("%q has no %q", script, e.name)
			}
		}
	})
}
