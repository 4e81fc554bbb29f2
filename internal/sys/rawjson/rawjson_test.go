package rawjson

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// doc has one of everything.
type doc struct {
	Name  string   `json:"name"`
	Count int      `json:"count"`
	Sub   *string  `json:"sub"`
	List  []string `json:"list"`
	Inner inner    `json:"inner"`
}

type inner struct {
	A string `json:"a,omitempty"`
}

func (d doc) encode() []byte {
	w := &Writer{}
	w.Object(func() {
		w.Name("name")
		w.String(d.Name)
		w.Name("count")
		w.Int(d.Count)
		w.Name("sub")
		if d.Sub == nil {
			w.Null()
		} else {
			w.String(*d.Sub)
		}
		w.Name("list")
		w.Array(func() {
			for _, s := range d.List {
				w.Element()
				w.String(s)
			}
		})
		w.Name("inner")
		w.Object(func() {
			if d.Inner.A != "" {
				w.Name("a")
				w.String(d.Inner.A)
			}
		})
	})
	return w.Text
}

func decode(text []byte) (d doc, ok bool) {
	r := NewReader(text)
	r.Object(func() {
		if r.Has("name") {
			d.Name = r.String()
		}
		if r.Has("count") {
			d.Count = r.Int()
		}
		if r.Has("sub") && !r.Null() {
			s := r.String()
			d.Sub = &s
		}
		if r.Has("list") {
			d.List = []string{}
			r.Array(func() { d.List = append(d.List, r.String()) })
		}
		if r.Has("inner") {
			r.Object(func() {
				if r.Has("a") {
					d.Inner.A = r.String()
				}
			})
		}
	})
	return d, r.Done()
}

// indented is what encoding/json writes for people.
func indented(t testing.TB, v any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

func TestWriterWritesAsEncodingJSONDoes(t *testing.T) {
	odd := "a\x00<&>\u2028 ü🎉\r\n\t\"\\\x7f\xff"
	for _, d := range []doc{
		{List: []string{}},
		{Name: "n", Count: -12, Sub: &odd, List: []string{"", odd, "a\nb\t\"c\\"}, Inner: inner{"x"}},
		{Name: odd, List: []string{"one"}},
	} {
		if diff := cmp.Diff(indented(t, d), string(d.encode())); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestReaderReadsWhatTheWriterWrites(t *testing.T) {
	sub := "a\nb\t\"c\\ü"
	want := doc{Name: "n", Count: -12, Sub: &sub, List: []string{"", "two"}, Inner: inner{"x"}}
	got, ok := decode(want.encode())
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("done %t (-want +got):\n%s", ok, diff)
	}
}

func TestReaderGivesUp(t *testing.T) {
	for _, text := range []string{
		"", "{", "null", "[]", `{"name":"a"`, `{"name":"a",}`, `{"name":"a"}x`, `{"name":"a"}{}`, `{,"name":"a"}`,
		`{"other":1}`, `{"name":"a","name":"b"}`, `{"count":1,"name":"a"}`, `{"Name":"a"}`, `{"name" "a"}`,
		`{"name":null}`, `{"name":1}`, `{"name":"a`, `{"name":"\u0041"}`, `{"name":"\`, "{\"name\":\"a\nb\"}", "{\"name\":\"\xff\"}",
		`{"count":"1"}`, `{"count":01}`, `{"count":1.0}`, `{"count":1e3}`, `{"count":-}`, `{"count":99999999999999999999}`, `{"count":}`,
		`{"list":["a",]}`, `{"list":[,"a"]}`, `{"list":["a" "b"]}`, `{"list":["a"`, `{"list":[`, `{"list":[1]}`, `{"list":{}}`,
		"{\u00a0}", `{"inner":{"a":"x"}`,
	} {
		if d, ok := decode([]byte(text)); ok {
			t.Errorf("%s is read as %+v", text, d)
		}
	}
}

// What is read to the end is what encoding/json reads.
func FuzzReader(f *testing.F) {
	sub := "a\nb"
	f.Add(doc{Name: "n", Count: 1, Sub: &sub, List: []string{"a", "b"}, Inner: inner{"x"}}.encode())
	f.Add([]byte(` { "name" : "\"\\" , "list" : [ ] } `))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, ok := decode(text)
		if !ok {
			return
		}
		var want doc
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

// Members finds in a valid object what encoding/json finds.
func FuzzMembers(f *testing.F) {
	for _, text := range []string{
		`{}`, ` { "a" : 1 , "b":[{"c":"]}"},"\\\""] } `, `{"a":"\\","a\"":{"x":{}},"":null,"n":-1.5e3}`, `{"a":true,}`, `{"a"`,
		`{"a":"b}`, `{"a":]}`, `{1:2}`, `{"\u00e9":"é"}`, `[{"a":1}]`, `{"a":1 2}`, `{"a":1}{"b":2}`, "{\"\xff\":1}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, ok := Members(text)
		var want map[string]json.RawMessage
		if !utf8.Valid(text) || json.Unmarshal(text, &want) != nil || want == nil {
			return // it only must not panic
		}
		if !ok {
			t.Fatal("it was not taken apart")
		}
		found := map[string]json.RawMessage{}
		for _, m := range got {
			found[m.Name] = m.Value
		}
		if diff := cmp.Diff(want, found); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}
