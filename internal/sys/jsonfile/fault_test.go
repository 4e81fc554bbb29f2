package jsonfile

import (
	"strings"
	"testing"

	"github.com/tailscale/hujson"
)

func TestCheckFindsAllFaults(t *testing.T) {
	rule := Fields(map[string]Rule{
		"name":  String,
		"on":    Boolean,
		"size":  Both(Number, Holds("above 0", func(v *hujson.Value) bool { return NumberOf(v) > 0 })),
		"mode":  OneOf("a", "b"),
		"list":  ListOf(String),
		"each":  EachMember(Object),
		"array": Array,
	}, "name", "mode")
	d := mustParse(t, "\ufeff{\"ö\": 1, \"on\": 1,\n \"size\": 0, \"mode\": \"c\", \"list\": [\"x\", 5, null],\n \"each\": {\"x\": {}, \"y\": []}, \"array\": {}}")
	var got []string
	for _, f := range d.Check(rule) {
		got = append(got, f.String())
	}
	same(t, "faults", strings.Join(got, "\n"), `1:1: name is missing
1:16: on must be a boolean, is a number
2:10: size must be above 0
2:21: mode must be one of a, b
2:40: list[1] must be a string, is a number
2:43: list[2] must be a string, is null
3:25: each.y must be an object, is an array
3:39: array must be an array, is an object`)
}

func TestCheckOfTheWrongType(t *testing.T) {
	for text, want := range map[string]string{
		`[]`:         "1:1:  must be an object, is an array",
		`{"a":null}`: "1:6: a must be an object, is null",
		`{"a":{}}`:   "",
		`{}`:         "",
	} {
		var got []string
		for _, f := range mustParse(t, text).Check(Fields(map[string]Rule{"a": Fields(nil)})) {
			got = append(got, f.String())
		}
		same(t, text, strings.Join(got, "\n"), want)
	}
}
