package jsonfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct{ text, where, why string }{
		{"{\n  \"a\": ,\n}", "f:2:8: ", "invalid character ','"},
		{`{"a":1`, "f:1:6: ", "unexpected end"},
		{"{\n  // mine\n}", "f:2:3: ", "no comments"},
		{`{"ä": 1, /* x */ "b": 2}`, "f:1:10: ", "no comments"},
		{"{\"a\": [1,\n ]}", "f:2:2: ", "no trailing comma"},
		{"\ufeff{\"a\": 1,}", "f:1:9: ", "no trailing comma"},
		{"{} {}", "f:1:4: ", "after top-level value"},
		{strings.Repeat("[", 20000), "f:", "depth"},
	} {
		d, err := Parse("f", []byte(tt.text))
		if err == nil || !strings.HasPrefix(err.Error(), tt.where) || !strings.Contains(err.Error(), tt.why) {
			t.Errorf("%.40q: %v, error %v; want %s%s", tt.text, d, err, tt.where, tt.why)
		}
	}
}

func TestRefusalsHaveAPlace(t *testing.T) {
	_, syntax := Parse("f", []byte("{\n  \"a\": ,\n}"))
	for want, err := range map[Refusal]error{
		{Name: "f", Line: 2, Column: 8, Why: "invalid character ',' looking for beginning of value"}: syntax,
		{Name: "f", Line: 2, Column: 1, Why: "the top level must be an object, is an array"}:         mustParse(t, "\n[]").NeedObject(),
	} {
		var got *Refusal
		if !errors.As(err, &got) || *got != want {
			t.Errorf("%v is no %+v", err, want)
		}
	}
}

func TestDecode(t *testing.T) {
	var v struct {
		A int
		B []string
	}
	if err := mustParse(t, "\ufeff{\"a\": 1, \"b\": [\"x\"]}\r\n").Decode(&v); err != nil || v.A != 1 || len(v.B) != 1 {
		t.Errorf("%+v, %v", v, err)
	}
	if err := mustParse(t, `{"a": "x"}`).Decode(&v); err == nil || !strings.HasPrefix(err.Error(), "f: ") {
		t.Errorf("error = %v", err)
	}
	if err := mustParse(t, " \n").Decode(&v); err != nil {
		t.Errorf("an empty text: %v", err)
	}
}

func TestSetKeepsTheRest(t *testing.T) {
	for _, tt := range []struct{ name, before, after string }{
		{"no text", "", "{\n  \"current\": \"b\"\n}\n"},
		{"changed where it stands", "{\n\t\"current\" : \"a\" ,\n\t\"x\": [1,  2]\n}", "{\n\t\"current\" : \"b\" ,\n\t\"x\": [1,  2]\n}"},
		{"the same, written otherwise", `{"current":"\u0062" }`, `{"current":"\u0062" }`},
		{"of duplicates the last", `{"current":"b","current":"a"}`, `{"current":"b","current":"b"}`},
		{"of another type", `{"current":{"x":1}}`, `{"current":"b"}`},
		{"added in lines", "{\r\n    \"x\": {}\r\n}\r\n", "{\r\n    \"x\": {},\r\n    \"current\": \"b\"\r\n}\r\n"},
		{"added on a line", `{"x": 1}`, `{"x": 1, "current": "b"}`},
		{"added to nothing", "\ufeff{ }", "\ufeff{\"current\":\"b\"}"},
	} {
		d := mustParse(t, tt.before)
		d.Set("current", "b")
		same(t, tt.name, string(d.Text()), tt.after)
	}
}

func TestSetOfLargeValues(t *testing.T) {
	d := mustParse(t, "{\n  \"a\": 1\n}\n")
	d.Set("p", map[string]any{"x": json.RawMessage(`{"b":[1.50,"<&>"],"a":1}`)})
	same(t, "text", string(d.Text()), `{
  "a": 1,
  "p": {
    "x": {
      "b": [
        1.50,
        "<&>"
      ],
      "a": 1
    }
  }
}
`)
}

func TestEqual(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":[1,2]}`, "{ \"b\" : [1.0, 2e0],\n \"a\":1 }", true},
		{`{"a":1,"a":2}`, `{"a":2}`, true},
		{`"\u0061\/"`, `"a/"`, true},
		{`1e999`, `1e999`, true},
		{`1e999`, `1`, false},
		{`[1,2]`, `[2,1]`, false},
		{`{"a":null}`, `{}`, false},
		{`0`, `false`, false},
		{`"1"`, `1`, false},
	} {
		a, b := mustParse(t, tt.a), mustParse(t, tt.b)
		if got := Equal(a.Root(), b.Root()); got != tt.want || Equal(b.Root(), a.Root()) != got {
			t.Errorf("%s and %s: %v", tt.a, tt.b, got)
		}
	}
}

func FuzzDocument(f *testing.F) {
	for _, seed := range []string{
		"", " \n", "{}", "[]", "{\"a\":1,}", "\ufeff{}", "{\r\n\t\"x\" : {\"Stop\":[ ] }\r\n}", `{"a" :1 , "x":[ 1 ,2 ]}`,
		`{"x":1,"x":{}}`, "{\"a\":1} // x", `{"a":1e999}`, "{\"\xff\":1}",
	} {
		f.Add([]byte(seed), "x", `{"a":[1,{"b":"c"}]}`)
	}
	f.Fuzz(func(t *testing.T, text []byte, name, value string) {
		d, err := Parse("f", text)
		if err != nil {
			return
		}
		if len(bytes.TrimSpace(bytes.TrimPrefix(text, []byte(ByteOrderMark)))) > 0 && !bytes.Equal(d.Text(), text) {
			t.Fatalf("%q packs to %q", text, d.Text())
		}
		d.Check(Fields(map[string]Rule{"x": ListOf(String)}, "y"))
		if d.NeedObject() != nil || !utf8.ValidString(name) || !json.Valid([]byte(value)) {
			return
		}
		d.Set(name, json.RawMessage(value))
		once := d.Text()
		var members map[string]json.RawMessage
		if err := json.Unmarshal(bytes.TrimPrefix(once, []byte(ByteOrderMark)), &members); err != nil {
			t.Fatalf("%q became %q: %v", text, once, err)
		}
		d, err = Parse("f", once)
		check(t, err)
		d.Set(name, json.RawMessage(value))
		if !bytes.Equal(d.Text(), once) {
			t.Fatalf("once  %q\ntwice %q", once, d.Text())
		}
	})
}
