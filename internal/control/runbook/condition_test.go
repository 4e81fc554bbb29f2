package runbook

import (
	"errors"
	"strings"
	"testing"
)

func TestConditions(t *testing.T) {
	vars := map[string]string{"var.env": "prod", "var.no": "false", "var.empty": "", "var.odd": `' == '" || true && ( ${var.env}`, "steps.a.output.n": "3"}
	for _, test := range []struct {
		text string
		want bool
	}{
		{`true`, true},
		{`false`, false},
		{`!false`, true},
		{`!!false`, false},
		{`${var.env}`, true},
		{`${var.no}`, false},
		{`${var.empty}`, false},
		{`${var.unknown}`, false},
		{`${var.env} == prod`, true},
		{`"${var.env}" == 'prod'`, true},
		{`${var.env}==prod`, true},
		{`${var.env} != prod`, false},
		{`${var.env}uct == product`, true},
		{`'${var.env}-${steps.a.output.n}' == "prod-3"`, true},
		{`${var.empty} == ""`, true},
		{`"a \"b\" \\" == 'a "b" \'`, true},
		{`false || true && false`, false},
		{`(false || true) && true`, true},
		{`true || false && false`, true},
		{`!(${var.env} == prod)`, false},
		{`!${var.no} == true`, true},
		{`${var.odd} == x`, false},
		{`"${var.odd}" == "${var.odd}"`, true},
		{`${steps.a.output.n} == 3`, true},
		{" \n\ttrue\r\n", true},
	} {
		got, err := Holds(test.text, vars)
		if err != nil || got != test.want {
			t.Errorf("%s: %v, %v", test.text, got, err)
		}
	}
}

func TestConditionsThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		``:                       "a value is missing at the end",
		`true &&`:                "a value is missing at the end",
		`== a`:                   `a value is missing before "== a"`,
		`a == == b`:              `a value is missing before "== b"`,
		`(a`:                     "a closing parenthesis is missing",
		`a)`:                     `unexpected ")"`,
		`a b`:                    `unexpected "b"`,
		`a == b == c`:            `unexpected "== c"`,
		`'a`:                     "a closing quote is missing",
		`a & b`:                  `unexpected "& b"`,
		`a = b`:                  `unexpected "= b"`,
		strings.Repeat("!", 500): "more than 100 levels of parentheses and !",
		strings.Repeat("(", 500): "more than 100 levels of parentheses and !",
	} {
		err := checkCondition(text)
		var bad *ConditionError
		if !errors.As(err, &bad) || bad.Message != want {
			t.Errorf("%.20s: %v, want %s", text, err, want)
		}
	}
}

func FuzzCondition(f *testing.F) {
	f.Add(`"${var.x}" == 'a' && !(b || ${var.x})`, "v")
	f.Fuzz(func(t *testing.T, text, value string) {
		valid := checkCondition(text) == nil
		_, err := Holds(text, map[string]string{"var.x": value})
		if (err == nil) != valid {
			t.Errorf("%q with %q: %v", text, value, err)
		}
	})
}
