package settings

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

var someEvents = []hook.Event{hook.Stop, hook.PreToolUse, hook.SessionEnd, "WorktreeCreate"}

func anyEntries(t *rapid.T) []Entry {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Entry {
		event := rapid.SampledFrom(someEvents).Draw(t, "event")
		return Entry{
			Event:   event,
			Matcher: rapid.SampledFrom([]string{"", "Bash", "A|\"<b>\""}).Draw(t, "matcher"),
			Command: rapid.SampledFrom([]string{"stopgate", "/a b & c/stopgate", `C:\bin\stopgate.exe`}).Draw(t, "command"),
			Args:    []string{"hook", string(event)},
			Timeout: rapid.SampledFrom([]time.Duration{0, 1500 * time.Millisecond, time.Second, time.Hour}).Draw(t, "timeout"),
		}
	}), 1, 5).Draw(t, "entries")
}

// anySettings is a document of foreign content, with hooks more often than chance.
func anySettings(t *rapid.T) string {
	var members []string
	for range rapid.IntRange(0, 4).Draw(t, "members") {
		members = append(members, rapid.SampledFrom([]string{`"a"`, `"env"`, `"ä\u0000"`}).Draw(t, "key")+":"+anyJSON(t, 2))
	}
	if rapid.Bool().Draw(t, "has hooks") {
		at := rapid.IntRange(0, len(members)).Draw(t, "at")
		members = append(members[:at:at], append([]string{`"hooks":` + anyHooks(t)}, members[at:]...)...)
	}
	return "{" + strings.Join(members, ",") + "}"
}

func anyHooks(t *rapid.T) string {
	var members []string
	for _, event := range rapid.Permutation(someEvents).Draw(t, "events")[:rapid.IntRange(0, 3).Draw(t, "n")] {
		groups := rapid.SliceOfN(rapid.SampledFrom([]string{
			`{"hooks":[]}`, `{"hooks":[{"type":"command","command":"sh -c 'stopgate hook Stop'","if":"x"}]}`, `{"matcher":"x","hooks":[{"type":"command","command":"a","timeout":1.0}]}`,
			`{"hooks":[{"type":"http","url":"http://h"},{"command":"stopgate hook"}]}`, `5`, `{}`,
		}), 0, 3).Draw(t, "groups")
		members = append(members, `"`+string(event)+`":[`+strings.Join(groups, ",")+"]")
	}
	return "{" + strings.Join(members, ",") + "}"
}

func anyJSON(t *rapid.T, depth int) string {
	kinds := 4
	if depth > 0 {
		kinds = 6
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return "null"
	case 1:
		return rapid.SampledFrom([]string{"1.50", "-0", "12345678901234567890", "1E+2"}).Draw(t, "number")
	case 2:
		return rapid.SampledFrom([]string{`"\u00e9\/"`, `""`, `"{ // ,]"`, `"é\r\n"`}).Draw(t, "string")
	case 3:
		return "true"
	case 4:
		return "[" + anyJSON(t, depth-1) + "," + anyJSON(t, depth-1) + "]"
	}
	return `{"x":` + anyJSON(t, depth-1) + `,"x":` + anyJSON(t, depth-1) + "}"
}

// written lays a document out in one of the ways people and programs do.
func written(t *rapid.T, compact string) string {
	var b bytes.Buffer
	switch rapid.SampledFrom([]string{"two", "four", "tab", "minified", "python", "wild"}).Draw(t, "layout") {
	case "two":
		json.Indent(&b, []byte(compact), "", "  ")
	case "four":
		json.Indent(&b, []byte(compact), "", "    ")
	case "tab":
		json.Indent(&b, []byte(compact), "", "\t")
	case "minified":
		b.WriteString(compact)
	case "python":
		v, _ := hujson.Parse([]byte(compact))
		spaced(&v)
		b.Write(v.Pack())
	case "wild":
		b.WriteString(wild(t, compact))
	}
	text := b.String() + rapid.SampledFrom([]string{"", "\n", " \n\n"}).Draw(t, "end")
	if rapid.Bool().Draw(t, "crlf") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "mark") + text
}

// spaced puts a space after each colon and comma.
func spaced(v *hujson.Value) {
	for x := range v.All() {
		switch x := x.Value.(type) {
		case *hujson.Object:
			for i := range x.Members {
				if i > 0 {
					x.Members[i].Name.BeforeExtra = hujson.Extra(" ")
				}
				x.Members[i].Value.BeforeExtra = hujson.Extra(" ")
			}
		case *hujson.Array:
			for i := range x.Elements {
				if i > 0 {
					x.Elements[i].BeforeExtra = hujson.Extra(" ")
				}
			}
		}
	}
}

// wild puts random white space wherever JSON allows it.
func wild(t *rapid.T, compact string) string {
	space := func() hujson.Extra {
		return hujson.Extra(rapid.SampledFrom([]string{"", "", " ", "\n", "\n\n   ", "\t", "\r\n "}).Draw(t, "space"))
	}
	v, _ := hujson.Parse([]byte(compact))
	for x := range v.All() {
		x.BeforeExtra = space()
	}
	for x := range v.All() {
		switch x := x.Value.(type) {
		case *hujson.Object:
			x.AfterExtra = space()
			for i := range x.Members {
				x.Members[i].Name.AfterExtra = space()
				if i < len(x.Members)-1 {
					x.Members[i].Value.AfterExtra = space()
				}
			}
		case *hujson.Array:
			x.AfterExtra = space()
			for i := range max(len(x.Elements)-1, 0) {
				x.Elements[i].AfterExtra = space()
			}
		}
	}
	return v.String()
}

// A file that the client drops is refused and not touched; of others nothing is
// left behind.
func TestInstallThenUninstallIsIdentity(t *testing.T) {
	path := settingsPath(t)
	rapid.Check(t, func(rt *rapid.T) {
		before := written(rt, anySettings(rt))
		put(t, path, before)
		if f := inspect(location{User, path}); f.Dropped() {
			if _, err := Install(path, anyEntries(rt)); err == nil || get(t, path) != before {
				rt.Fatalf("error %v; became %q", err, get(t, path))
			}
			return
		}
		for range rapid.IntRange(1, 3).Draw(rt, "installs") {
			mustInstall(t, path, anyEntries(rt)...)
		}
		mustUninstall(t, path)
		if after := get(t, path); after != before {
			rt.Fatalf("before %q\nafter  %q", before, after)
		}
	})
}

func TestInstallKeepsForeignContent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := []byte(written(t, anySettings(t)))
		entries := anyEntries(t)
		after := must(install("f", before, entries))
		if got, want := foreign(t, after), foreign(t, before); got != want {
			t.Fatalf("foreign content\nbefore %s\nafter  %s\nfile %q", want, got, after)
		}
		if !bytes.Contains(before, []byte("\n")) && bytes.Contains(after, []byte("\n")) {
			t.Fatalf("one line became several: %q", after)
		}
		if again := must(install("f", after, entries)); !bytes.Equal(again, after) {
			t.Fatalf("once  %q\ntwice %q", after, again)
		}
		d, _ := parse("f", after)
		for _, event := range eventsOf(entries) {
			if diff := cmp.Diff(sorted(wanted(entries, event)), sorted(wanted(entriesOf(d), event))); diff != "" {
				t.Fatalf("entries (-want +got):\n%s", diff)
			}
		}
	})
}

// An edit somewhere else, made between install and uninstall, is all that is left.
func TestUninstallKeepsAnyEdit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := []byte(written(t, anySettings(t)))
		installed := must(install("f", before, anyEntries(t)))
		edit := func(text []byte) []byte {
			d, _ := parse("f", text)
			root, _ := jsonfile.ObjectOf(d.Root())
			d.Layout().PrependMember(root, "edit", []int{1})
			return d.Text()
		}
		left := must(uninstall("f", edit(installed), before))
		want, got := foreign(t, edit(before)), foreign(t, left)
		if got != want {
			t.Fatalf("want %s\ngot  %s", want, got)
		}
	})
}

// foreign is the document without our entries, in order, without white space.
func foreign(t *rapid.T, text []byte) string {
	d, err := parse("f", text)
	if err != nil {
		t.Fatal(err)
	}
	ours := d.find(Entry.ours)
	for _, p := range ours {
		p.remove()
	}
	root, _ := jsonfile.ObjectOf(d.Root())
	events, _ := jsonfile.ObjectOf(jsonfile.Member(root, "hooks"))
	for _, p := range ours {
		if len(p.groups.Elements) == 0 {
			jsonfile.CutMember(events, string(p.entry.Event))
		}
	}
	d.Root().Minimize()
	// An event or a hooks object that is empty may be ours or not; the exact
	// tests look at those.
	compact := string(d.Root().Pack())
	for _, event := range someEvents {
		compact = strings.ReplaceAll(compact, `,"`+string(event)+`":[]`, "")
		compact = strings.ReplaceAll(compact, `"`+string(event)+`":[],`, "")
		compact = strings.ReplaceAll(compact, `"`+string(event)+`":[]`, "")
	}
	compact = strings.ReplaceAll(compact, `,"hooks":{}`, "")
	compact = strings.ReplaceAll(compact, `"hooks":{},`, "")
	return strings.ReplaceAll(compact, `"hooks":{}`, "")
}

func must(text []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return text
}

func sorted(entries []Entry) map[string]int {
	all := map[string]int{}
	for _, e := range entries {
		text, _ := json.Marshal(e)
		all[string(text)]++
	}
	return all
}

func FuzzInstall(f *testing.F) {
	for _, seed := range []string{
		"", " \n", "{}", "[]", "{\"a\":1,}", "\ufeff{}", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"stopgate hook"}]}]}}`,
		"{\r\n\t\"hooks\" : {\"Stop\":[ ] }\r\n}", `{"hooks":{"Stop":[5,{"hooks":5},{"hooks":[5]}]}}`, `{"a" :1 , "b":[ 1 ,2 ]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		want := []Entry{entry(hook.Stop)}
		installed, err := install("f", text, want)
		if err != nil {
			return
		}
		if !json.Valid(bytes.TrimPrefix(installed, []byte(jsonfile.ByteOrderMark))) {
			t.Fatalf("%q became %q", text, installed)
		}
		d, _ := parse("f", installed)
		if got := wanted(entriesOf(d), hook.Stop); len(got) != 1 || !got[0].equal(want[0]) {
			t.Fatalf("%q holds %v", installed, got)
		}
		if again := must(install("f", installed, want)); !bytes.Equal(again, installed) {
			t.Fatalf("once  %q\ntwice %q", installed, again)
		}
		was, _ := parse("f", text)
		left := must(uninstall("f", installed, append([]byte{}, text...)))
		if len(entriesOf(was)) == 0 {
			same(t, "uninstalled", string(left), string(text))
		}
		if d, _ := parse("f", left); len(entriesOf(d)) > 0 {
			t.Fatalf("%v left of %q", entriesOf(d), text)
		}
		d.faults(User)
	})
}
