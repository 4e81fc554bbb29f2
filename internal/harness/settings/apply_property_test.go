package settings

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// anyMerge is an object of settings, some of which a document may have already.
func anyMerge(t *rapid.T) json.RawMessage {
	var members []string
	for range rapid.IntRange(0, 3).Draw(t, "settings") {
		members = append(members, rapid.SampledFrom([]string{
			`"a":` + anyJSON(t, 2),
			`"b":{"c":{"d":` + anyJSON(t, 1) + `},"x":1}`,
			`"b":{"c":{"e":[]},"x":{}}`,
			`"ä\u0000":{"x":2}`,
			`"hooks":{"Stop":[{"hooks":[{"type":"command","command":"p"}]}],"PreToolUse":[]}`,
			`"hooks":{"Stop":[{"hooks":[{"type":"command","command":"q"}]}]}`,
			`"hooks":{}`,
			`"hooks":{"Stop":[{"hooks":[{"type":"command","command":"ccc supervisor-hook"}]}]}`,
			`"hooks":{"Stop":[{"hooks":[{"type":"command","command":"r"},{"type":"command","command":"ccc supervisor-hook"}]}],"PreToolUse":[]}`,
			`"hooks":{"Stop":[{"hooks":[{"type":"command","command":"stopgate hook"}]}]}`,
		}).Draw(t, "member"))
	}
	text := json.RawMessage("{" + strings.Join(members, ",") + "}")
	if d, err := parse("", text); err != nil || d.editable() != nil {
		return nil // hooks came twice
	}
	return text
}

func anyChange(t *rapid.T) Change {
	c := Change{Merge: anyMerge(t), Own: "/own/na'me"}
	switch rapid.SampledFrom([]string{"supervised", "plain", "plain beside a supervised one"}).Draw(t, "launch") {
	case "supervised":
		c.Supervisor = supervisor(rapid.SampledFrom([]string{ccc, "/a b/stopgate", "/own/na'me"}).Draw(t, "program"))
	case "plain":
		c.Remove = true
	}
	return c
}

// launches applies some changes to the file, one after the other, each of them
// twice. A document that the client drops comes back as it was.
func launches(t *rapid.T, before []byte) (text []byte, put []Put) {
	text = before
	for range rapid.IntRange(1, 4).Draw(t, "launches") {
		if rapid.Bool().Draw(t, "install") {
			text = must(install("f", text, []Entry{entry(hook.Stop), entry(hook.SessionEnd)}))
		}
		c := anyChange(t)
		after, now, err := apply(text, before, c, put)
		if err != nil {
			if d, _ := parse("f", text); len(d.faults(User)) == 0 {
				t.Fatalf("%q: %v", text, err)
			}
			return before, nil
		}
		again, nowAgain, err := apply(after, before, c, now)
		if err != nil || !bytes.Equal(again, after) {
			t.Fatalf("once  %q\ntwice %q, %v", after, again, err)
		}
		if diff := cmp.Diff(now, nowAgain); diff != "" {
			t.Fatalf("put (-once +twice):\n%s", diff)
		}
		if d, _ := parse("f", after); c.Supervisor != nil && len(d.find(func(e Entry) bool { return e.CallsSupervisor("/own/na'me") })) != 1 {
			t.Fatalf("not one entry in %q", after)
		}
		text, put = after, now
	}
	return text, put
}

func apply(text, before []byte, c Change, was []Put) ([]byte, []Put, error) {
	c.Was = was
	a, err := newApplication("f", text, before, c)
	if err != nil {
		return nil, nil, err
	}
	after, err := a.run()
	return after, a.put, err
}

// leave undoes everything, in either order.
func leave(t *rapid.T, text, before []byte, put []Put) []byte {
	first := rapid.Bool().Draw(t, "uninstall first")
	if first {
		text = must(uninstall("f", text, before))
	}
	text, _, err := apply(text, before, Change{Remove: true, Own: "/own/na'me"}, put)
	if err != nil {
		t.Fatal(err)
	}
	if !first {
		text = must(uninstall("f", text, before))
	}
	return text
}

func TestLaunchesLeaveNothingBehind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := []byte(written(t, anySettings(t)))
		text, put := launches(t, before)
		if after := leave(t, text, before, put); !bytes.Equal(after, before) {
			t.Fatalf("before %q\nwith   %q\nafter  %q", before, text, after)
		}
	})
}

// An edit somewhere else, made while something of ours is there, is all that is left.
func TestLaunchesKeepAnyEdit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := []byte(written(t, anySettings(t)))
		edit := func(text []byte) []byte {
			d, _ := parse("f", text)
			root, _ := d.Object()
			d.Layout().PrependMember(root, "edit", []int{1})
			return d.Text()
		}
		text, put := launches(t, before)
		after, _ := parse("f", leave(t, edit(text), before, put))
		want, _ := parse("f", edit(before))
		if !jsonfile.Equal(after.Root(), want.Root()) {
			t.Fatalf("want %s\ngot  %s", want.Text(), after.Text())
		}
	})
}

func FuzzApply(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "{ }", `{"a":1,"b":{ }}`, "{\r\n\t\"hooks\" : {\"Stop\":[ ] }\r\n}", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"ccc supervisor-hook"}]}]}}`,
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"stopgate hook"}]}]},"a":1,"a":{}}`, "\ufeff{\"b\":null}",
	} {
		f.Add([]byte(seed), []byte(`{"a":{"b":[1]},"hooks":{"Stop":[{"hooks":[]}]}}`), []byte(`[{"path":["a"],"value":1}]`))
	}
	f.Fuzz(func(t *testing.T, text, merge, remembered []byte) {
		var was []Put
		_ = json.Unmarshal(remembered, &was)
		c := Change{Supervisor: supervisor(ccc), Merge: merge}
		after, put, err := apply(text, text, c, was)
		if err != nil {
			return
		}
		again, putAgain, err := apply(after, text, c, put)
		if err != nil || !bytes.Equal(again, after) || !cmp.Equal(put, putAgain) {
			t.Fatalf("once  %q, %s\ntwice %q, %s, %v", after, puts(put), again, puts(putAgain), err)
		}
		if !json.Valid(bytes.TrimPrefix(after, []byte(jsonfile.ByteOrderMark))) {
			t.Fatalf("%q became %q", text, after)
		}
		left, _, err := apply(after, text, Change{Remove: true}, put)
		check(t, err)
		if d, _ := parse("", text); len(was) == 0 && len(d.find(func(e Entry) bool { return e.CallsSupervisor() })) == 0 && !bytes.Equal(left, text) {
			t.Fatalf("%q became %q", text, left)
		}
	})
}
