package jsonfile

import (
	"encoding/json"
	"testing"

	"github.com/tailscale/hujson"
)

func TestStringOf(t *testing.T) {
	for _, literal := range []string{`""`, `"a b"`, `"\u0061\/\n"`, `"\\"`, `"\""`, `"ä始"`, "\"\xff\"", `"\ud800"`} {
		var want string
		check(t, json.Unmarshal([]byte(literal), &want))
		if got := StringOf(&hujson.Value{Value: hujson.Literal(literal)}); got != want {
			t.Errorf("%s is %q, want %q", literal, got, want)
		}
	}
	for _, other := range []string{"1", "true", "null"} {
		if got := StringOf(&hujson.Value{Value: hujson.Literal(other)}); got != "" {
			t.Errorf("%s is %q", other, got)
		}
	}
}
