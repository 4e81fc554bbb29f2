package runbook

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseArgSpec(t *testing.T) {
	for text, want := range map[string][]Arg{
		"":                nil,
		"  ":              nil,
		"<a>":             {{Name: "a", Required: true}},
		"[a]":             {{Name: "a"}},
		"<a...>":          {{Name: "a", Required: true, Variadic: true}},
		"[a...]":          {{Name: "a", Variadic: true}},
		"--a":             {{Name: "a", Option: true}},
		"[--a]":           {{Name: "a", Option: true}},
		"-b/--a":          {{Name: "a", Option: true, Short: "b"}},
		"--a <v>":         {{Name: "a", Option: true, Value: "v", Required: true}},
		"[--a <v>]":       {{Name: "a", Option: true, Value: "v"}},
		"[ -b/--a  <v> ]": {{Name: "a", Option: true, Short: "b", Value: "v"}},
		"<a> [b] --c":     {{Name: "a", Required: true}, {Name: "b"}, {Name: "c", Option: true}},
		"[a] --c <v> -d/--dry-run [rest...]": {
			{Name: "a"},
			{Name: "c", Option: true, Value: "v", Required: true},
			{Name: "dry-run", Option: true, Short: "d"},
			{Name: "rest", Variadic: true},
		},
	} {
		got, err := parseArgSpec(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, got.Args); diff != "" {
			t.Errorf("%q (-want +got)\n%s", text, diff)
		}
		again, err := parseArgSpec(got.String())
		if diff := cmp.Diff(got, again); diff != "" || err != nil {
			t.Errorf("%q, written as %q: %v\n%s", text, got, err, diff)
		}
	}
}

func TestParseArgSpecFaults(t *testing.T) {
	for text, want := range map[string]struct {
		at      int
		message string
	}{
		"<a":             {2, `">" is missing`},
		"[a":             {2, `"]" is missing`},
		"<>":             {1, "empty"},
		"<a b>":          {2, `">" is missing`},
		"a":              {0, "use <name>"},
		"<a><b>":         {3, "a space is missing"},
		"<a> <a>":        {4, "duplicate"},
		"<a> --a":        {4, "duplicate"},
		"-x/--a -x/--b":  {7, "duplicate -x"},
		"[a] <b>":        {4, "cannot follow [a]"},
		"<a...> <b>":     {7, "nothing can follow"},
		"<a...> [b]":     {7, "nothing can follow"},
		"-a":             {2, `"/--" is missing`},
		"--":             {2, "empty"},
		"--a <>":         {5, "empty"},
		"<é>":            {1, "empty"},
		"<-a>":           {1, "starts like an option"},
		"<a>\n<b>":       {3, "a space is missing"},
		"[--a <v]":       {7, `">" is missing`},
		"<a> [b...] [c]": {11, "nothing can follow"},
	} {
		_, err := parseArgSpec(text)
		var wrong *ArgSpecError
		if !errors.As(err, &wrong) || wrong.At != want.at || !strings.Contains(wrong.Message, want.message) {
			t.Errorf("%q: want %v, got %#v", text, want, err)
		}
	}
}

func TestParseArgs(t *testing.T) {
	const spec = "<name> [where] [--base <ref>] -f/--force [-n/--count <n>] [rest...]"
	type values = map[string]string
	for _, test := range []struct {
		spec  string
		args  []string
		want  values
		wrong string
	}{
		{spec, []string{"a"}, values{"name": "a"}, ""},
		{spec, []string{"a", "b", "c", "d e"}, values{"name": "a", "where": "b", "rest": "c d e"}, ""},
		{spec, []string{"--force", "a", "--base", "main"}, values{"name": "a", "force": "true", "base": "main"}, ""},
		{spec, []string{"-f", "--base=", "a", "-n", "-3"}, values{"name": "a", "force": "true", "base": "", "count": "-3"}, ""},
		{spec, []string{"--", "--force"}, values{"name": "--force"}, ""},
		{spec, []string{"-"}, values{"name": "-"}, ""},
		{spec, []string{""}, values{"name": ""}, ""},
		{spec, nil, nil, "missing required argument: <name>"},
		{spec, []string{"a", "--bsae", "x"}, nil, "unknown option: --bsae; did you mean --base?"},
		{spec, []string{"a", "-x"}, nil, "unknown option: -x; put -- before"},
		{spec, []string{"a", "--base"}, nil, "--base needs a value: <ref>"},
		{spec, []string{"a", "--force=no"}, nil, "--force takes no value"},
		{spec, []string{"a", "-f", "--force"}, nil, "--force is given twice"},
		{spec, []string{"a\x00"}, nil, "NUL"},
		{spec, []string{"a", "--base", "\x00"}, nil, "NUL"},
		{spec, []string{"--", "a\x00"}, nil, "NUL"},
		{"--to <x>", nil, nil, "missing required option: --to"},
		{"", []string{"a"}, nil, "unexpected positional argument: a"},
		{"<a>", []string{"a", "b"}, nil, "unexpected positional argument: b"},
		{"<a...>", nil, nil, "missing required argument: <a>"},
		{"<force>", []string{"--force"}, nil, "unknown option: --force"},
	} {
		s, err := parseArgSpec(test.spec)
		check(t, err)
		got, err := s.parse(test.args, nil)
		if test.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), test.wrong) {
				t.Errorf("%q: want %s, got %v, %v", test.args, test.wrong, got, err)
			}
			continue
		}
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got)\n%s", test.args, err, diff)
		}
	}
}
