package settings

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
	"github.com/stopgate/stopgate/internal/sys/racetest"
)

func supervisor(program string) *Entry {
	return &Entry{Event: hook.Stop, Command: ShellCommand(program, "supervisor-hook"), Timeout: 660 * time.Second}
}

const ccc = "/usr/local/bin/ccc"

func mustApply(t testing.TB, path string, c Change) (put []Put, changed bool) {
	t.Helper()
	put, changed, err := Apply(path, c)
	if err != nil {
		t.Fatalf("apply: %v", err)
	}
	return put, changed
}

// puts writes the values for people to read.
func puts(all []Put) string {
	var lines []string
	for _, p := range all {
		lines = append(lines, strings.Join(p.Path, ".")+"="+string(p.Value))
	}
	return strings.Join(lines, " ")
}

// stands reports whether applying the change once more leaves the file alone.
func stands(t testing.TB, path string, c Change, put []Put) {
	t.Helper()
	before := get(t, path)
	when := old(t, path)
	c.Was = put
	again, changed := mustApply(t, path, c)
	info, _ := os.Stat(path)
	if changed || !info.ModTime().Equal(when) {
		t.Errorf("the second time it was changed again")
	}
	same(t, "second time", get(t, path), before)
	if diff := cmp.Diff(put, again); diff != "" {
		t.Errorf("put the second time:\n%s", diff)
	}
}

func TestApplySupervises(t *testing.T) {
	const mine = `{"type":"command","command":"/usr/local/bin/ccc supervisor-hook","timeout":660}`
	for _, tt := range []struct{ name, before, after string }{
		{"empty file", "", `{
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "/usr/local/bin/ccc supervisor-hook",
            "timeout": 660
          }
        ]
      }
    ]
  }
}
`},
		{"other keys", `{"model":"x"}`, `{"model":"x","hooks":{"Stop":[{"hooks":[` + mine + `]}]}}`},
		{"white space in an empty object", "{ \"hooks\" : {  } }", `{ "hooks" : {"Stop": [{"hooks": [{"type": "command", "command": "/usr/local/bin/ccc supervisor-hook", "timeout": 660}]}]} }`},
		{"other hooks", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a"}]}]}}`, `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a"}]},{"hooks":[` + mine + `]}]}}`},
		{
			"what looks like it", `{"hooks":{"SubagentStop":[{"hooks":[` + mine + `]}],"Stop":[{"hooks":[{"type":"command","command":"other supervisor-hook"}]}]}}`,
			`{"hooks":{"SubagentStop":[{"hooks":[` + mine + `]}],"Stop":[{"hooks":[{"type":"command","command":"other supervisor-hook"}]},{"hooks":[` + mine + `]}]}}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := settingsPath(t, tt.before)
			c := Change{Supervisor: supervisor(ccc)}
			put, changed := mustApply(t, path, c)
			if !changed || put != nil {
				t.Errorf("changed %v, put %v", changed, put)
			}
			same(t, "supervised", get(t, path), tt.after)
			same(t, "backup", get(t, path+".stopgate-backup"), tt.before)
			stands(t, path, c, nil)

			if _, changed := mustApply(t, path, Change{}); changed {
				t.Error("without Remove the entry went")
			}
			if _, changed := mustApply(t, path, Change{Remove: true}); !changed {
				t.Error("not reported as a change")
			}
			same(t, "removed", get(t, path), tt.before)
			if exists(path + ".stopgate-backup") {
				t.Error("the backup was left behind")
			}
		})
	}
}

// The entry of another installation is not ours while that program is there; then there are
// two. Where the program is gone, the entry is taken over.
func TestApplyLeavesAnotherInstallationsEntry(t *testing.T) {
	dir := t.TempDir()
	other, mine := filepath.ToSlash(filepath.Join(dir, "other", "ccc"+suffix)), filepath.ToSlash(filepath.Join(dir, "mine", "ccc"+suffix))
	for _, program := range []string{other, mine} {
		check(t, os.MkdirAll(filepath.Dir(program), 0o755))
		check(t, os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755))
	}
	path := settingsPath(t)
	mustApply(t, path, Change{Supervisor: supervisor(other)})
	theirs := get(t, path)
	mustApply(t, path, Change{Supervisor: supervisor(mine), Own: mine})
	if both := get(t, path); !strings.Contains(both, other) || !strings.Contains(both, mine) {
		t.Errorf("both are installed:\n%s", both)
	}
	mustApply(t, path, Change{Remove: true, Own: mine})
	same(t, "removed", get(t, path), theirs)

	check(t, os.Remove(other))
	mustApply(t, path, Change{Supervisor: supervisor(mine), Own: mine})
	if now := get(t, path); strings.Contains(now, other) || !strings.Contains(now, mine) {
		t.Errorf("an entry that leads nowhere stays:\n%s", now)
	}
}

func TestApplyRewritesWhereItStands(t *testing.T) {
	before := `{"hooks":{"Stop":[{"hooks":[
		{"type":"command","command":"a"},
		{"type":"command","command":"'/old path/ccc' supervisor-hook","async":true,"timeout":5,"statusMessage":"mine"},
		{"type":"command","command":"stopgate hook Stop"},
		{"type":"command","command":"/old/stopgate","args":["supervisor-hook"]},
		{"type":"command","command":"/own/name supervisor-hook"}]}]}}`
	after := `{"hooks":{"Stop":[{"hooks":[
		{"type":"command","command":"a"},
		{"type":"command","command":"/own/name supervisor-hook","timeout":660,"statusMessage":"mine"},
		{"type":"command","command":"stopgate hook Stop"}]}]}}`
	path := settingsPath(t, before)
	c := Change{Supervisor: supervisor("/own/name")}
	mustApply(t, path, c)
	same(t, "rewritten", get(t, path), after)
	stands(t, path, c, nil)
	mustApply(t, path, Change{Remove: true, Own: "/own/name"})
	same(t, "removed", get(t, path), `{"hooks":{"Stop":[{"hooks":[
		{"type":"command","command":"a"},
		{"type":"command","command":"stopgate hook Stop"}]}]}}`)
}

// Nobody's plain launch makes a file.
func TestApplyOfNothing(t *testing.T) {
	path := settingsPath(t)
	for _, c := range []Change{{}, {Remove: true}, {Merge: json.RawMessage("{}")}, {Was: []Put{{Path: []string{"a"}, Value: json.RawMessage("1")}}}} {
		if put, changed := mustApply(t, path, c); changed || len(put) > 0 || exists(filepath.Dir(path)) {
			t.Errorf("%+v: changed %v, put %v", c, changed, put)
		}
	}
	for _, text := range []string{"", "{ }", "{\"model\" : 5}"} {
		put(t, path, text)
		if _, changed := mustApply(t, path, Change{Remove: true}); changed || get(t, path) != text {
			t.Errorf("%q became %q", text, get(t, path))
		}
	}
}

func TestApplyMakesAndRemovesAFile(t *testing.T) {
	for name, c := range map[string]Change{
		"entry":    {Supervisor: supervisor(ccc)},
		"settings": {Merge: json.RawMessage(`{"model":"x","permissions":{"allow":["Bash"]}}`)},
		"both":     {Supervisor: supervisor(ccc), Merge: json.RawMessage(`{"model":"x","hooks":{"Stop":[]}}`)},
	} {
		path := settingsPath(t)
		was, changed := mustApply(t, path, c)
		info, err := os.Stat(path)
		if err != nil || !changed || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Fatalf("%s: changed %v, %v, %v", name, changed, info, err)
		}
		stands(t, path, c, was)
		was, _ = mustApply(t, path, Change{Supervisor: c.Supervisor, Was: was, Merge: json.RawMessage(`{"model":"y"}`)})
		mustApply(t, path, Change{Remove: true, Was: was})
		if exists(filepath.Dir(path)) {
			t.Errorf("%s: %s is left", name, get(t, path))
		}
	}
}

func TestApplyMerges(t *testing.T) {
	const prov = `{"hooks":[{"type":"command","command":"p"}]}`
	const mine = `{"hooks":[{"type":"command","command":"/usr/local/bin/ccc supervisor-hook","timeout":660}]}`
	const gate = `{"hooks":[{"type":"command","command":"stopgate hook Stop","timeout":9}]}`
	for _, tt := range []struct {
		name, before, merge, after, put string
		supervised                      bool
	}{
		{"missing values", `{"a":1}`, `{"model":"m","x":[1, 2],"n":null}`, `{"a":1,"model":"m","x":[1,2],"n":null}`, `model="m" x=[1,2] n=null`, false},
		{"the person's own win", `{"model":"x","l":[],"n":null,"o":"text"}`, `{"model":"m","l":[1],"n":{"a":1},"o":{"a":1}}`, `{"model":"x","l":[],"n":null,"o":"text"}`, ``, false},
		{"objects recurse", `{"p":{"a":1,"q":{ }}}`, `{"p":{"a":2,"b":3,"q":{"r":{}}}}`, `{"p":{"a":1,"q":{"r":{}},"b":3}}`, `p.b=3 p.q.r={}`, false},
		{"objects are made", "{\n  \"a\": 1\n}\n", `{"p":{"allow":["x"],"q":{"r":1.50}}}`, `{
  "a": 1,
  "p": {
    "allow": [
      "x"
    ],
    "q": {
      "r": 1.50
    }
  }
}
`, `p={} p.allow=["x"] p.q={} p.q.r=1.50`, false},
		{
			"hooks of a provider beside ours", `{"a":1}`, `{"hooks":{"Stop":[` + prov + `]}}`,
			`{"a":1,"hooks":{"Stop":[` + prov + `,` + mine + `]}}`, `hooks={} hooks.Stop=[` + prov + `]`, true,
		},
		{
			"hooks of a provider beside the gates", `{"hooks":{"Stop":[` + gate + `]}}`, `{"hooks":{"Stop":[` + prov + `]}}`,
			`{"hooks":{"Stop":[` + gate + `,` + prov + `,` + mine + `]}}`, `hooks.Stop=[` + prov + `]`, true,
		},
		{
			"hooks of a person stay alone", `{"hooks":{"Stop":[{"hooks":[]}]}}`, `{"hooks":{"Stop":[` + prov + `],"PreToolUse":[` + prov + `]}}`,
			`{"hooks":{"Stop":[{"hooks":[]}],"PreToolUse":[` + prov + `]}}`, `hooks.PreToolUse=[` + prov + `]`, false,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := settingsPath(t, tt.before)
			c := Change{Merge: json.RawMessage(tt.merge)}
			if tt.supervised {
				c.Supervisor = supervisor(ccc)
			}
			was, changed := mustApply(t, path, c)
			if changed != (tt.before != tt.after) {
				t.Errorf("changed is %v", changed)
			}
			same(t, "merged", get(t, path), tt.after)
			same(t, "put", puts(was), tt.put)
			stands(t, path, c, was)

			if tt.supervised { // one after the other
				mustApply(t, path, Change{Remove: true, Was: was, Merge: c.Merge})
				if n := len(inspect(location{User, path}).Supervisor); n != 0 {
					t.Errorf("%d entries are left", n)
				}
			}
			if put, _ := mustApply(t, path, Change{Remove: true, Was: was}); len(put) > 0 {
				t.Errorf("put %s", puts(put))
			}
			same(t, "taken out", get(t, path), tt.before)
			if exists(path + ".stopgate-backup") {
				t.Error("the backup was left behind")
			}
		})
	}
}

// What a person does to the file between two launches stays.
func TestApplyKeepsEditsMadeMeanwhile(t *testing.T) {
	const merge = `{"model":"m","n":1,"p":{"allow":["x"],"ask":[]}}`
	for _, tt := range []struct{ name, before, edit, with, after string }{
		{"a value was changed", `{"a":1}`, `"m"`, `"mine"`, `{"a":1,"model":"mine"}`},
		{"a value was written otherwise", `{"a":1}`, `"n":1`, `"n" : 1.0`, `{"a":1}`},
		{"a value was deleted", `{"a":1}`, `"model":"m",`, ``, `{"a":1}`},
		{"a value came twice", `{"a":1}`, `"model":"m"`, `"model":"m","model":"m"`, `{"a":1,"model":"m","model":"m"}`},
		{"an object got more", `{"a":1}`, `"ask":[]`, `"ask":[],"deny":["y"]`, `{"a":1,"p":{"deny":["y"]}}`},
		{"an object that was there", `{"p":{}}`, `{"p"`, `{"b":2,"p"`, `{"b":2,"p":{}}`},
		{"an object became another thing", `{"a":1}`, `{"allow":["x"],"ask":[]}`, `null`, `{"a":1,"p":null}`},
		{"a key was added", `{"a":1}`, `"a":1`, `"a":1,"b":2`, `{"a":1,"b":2}`},
		{"a hook was added beside ours", `{"a":1}`, `"timeout":660}]`, `"timeout":660},{"type":"command","command":"b"}]`, `{"a":1,"hooks":{"Stop":[{"hooks":[{"type":"command","command":"b"}]}]}}`},
		{"everything else was deleted", `{"a":1}`, `"a":1,`, ``, `{}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := settingsPath(t, tt.before)
			was, _ := mustApply(t, path, Change{Supervisor: supervisor(ccc), Merge: json.RawMessage(merge)})
			edited := strings.Replace(get(t, path), tt.edit, tt.with, 1)
			if edited == get(t, path) {
				t.Fatalf("nothing to edit in\n%s", edited)
			}
			put(t, path, edited)
			mustApply(t, path, Change{Remove: true, Was: was})
			same(t, "taken out", get(t, path), tt.after)
		})
	}
}

func TestApplySwitches(t *testing.T) {
	path := settingsPath(t, `{"a":1}`)
	c := Change{Supervisor: supervisor(ccc), Merge: json.RawMessage(`{"model":"m","p":{"x":1,"y":2}}`)}
	was, _ := mustApply(t, path, c)
	c.Merge, c.Was = json.RawMessage(`{"model":"n","p":{"y":2},"q":3}`), was
	was, _ = mustApply(t, path, c)
	same(t, "put", puts(was), `model="n" p={} p.y=2 q=3`)
	same(t, "switched", get(t, path), `{"a":1,"p":{"y":2},"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/usr/local/bin/ccc supervisor-hook","timeout":660}]}]},"model":"n","q":3}`)
	stands(t, path, c, was)
	mustApply(t, path, Change{Remove: true, Was: was})
	same(t, "taken out", get(t, path), `{"a":1}`)
}

// A launch that was killed remembers more than it put, and objects as a whole.
func TestApplyTakesOutWhatALaunchMayHavePut(t *testing.T) {
	path := settingsPath(t, `{"a":1}`)
	mustApply(t, path, Change{Merge: json.RawMessage(`{"model":"n","p":{"y":2,"z":{}}}`)})
	put(t, path, strings.Replace(get(t, path), `"y":2`, `"y":2,"mine":3`, 1))
	was := []Put{
		{Path: []string{"model"}, Value: json.RawMessage(`"m"`)},
		{Path: []string{"model"}, Value: json.RawMessage(`"n"`)},
		{Path: []string{"p"}, Value: json.RawMessage(`{"z":{},"y":2.0}`)},
		{Path: []string{"a"}, Value: json.RawMessage(`2`)},
		{Path: []string{"a", "b"}, Value: json.RawMessage(`2`)},
		{Path: []string{"gone"}, Value: json.RawMessage(`2`)},
		{Path: []string{"a"}, Value: json.RawMessage(`{`)},
		{Path: []string{"a"}},
		{},
	}
	if put, _ := mustApply(t, path, Change{Was: was}); len(put) > 0 {
		t.Errorf("put %s", puts(put))
	}
	same(t, "taken out", get(t, path), `{"a":1,"p":{"mine":3}}`)
}

func TestApplyRefuses(t *testing.T) {
	good := Change{Supervisor: supervisor(ccc)}
	for _, tt := range []struct {
		text string
		c    Change
		want string
	}{
		{"{\n  \"a\": ,\n}", good, ":2:8: invalid character ','"},
		{"{\n  \"a\": ,\n}", Change{Remove: true}, ":2:8: invalid character ','"},
		{`[]`, good, ":1:1: the top level must be an object"},
		{"{\n\"hooks\": []}", good, `:2:10: "hooks" must be an object, is an array`},
		{`{"hooks":{"Stop":[],"Stop":[]}}`, Change{Remove: true}, `:1:21: duplicate key "Stop"`},
		{"{\"a\":1,\n\"model\":5}", good, ":2:9: model must be a string, is a number"},
		{"{\"a\":1,\n\"model\":5}", Change{Merge: json.RawMessage(`{"b":1}`)}, ":2:9: model must be a string, is a number"},
		{`{}`, Change{Merge: json.RawMessage(`{"model":5}`)}, "with these settings Claude Code would ignore the whole file"},
		{`{}`, Change{Merge: json.RawMessage(`{"hooks":{"Stop":5}}`)}, `the settings of the launch:1:18: "Stop" must be an array`},
		{`{}`, Change{Merge: json.RawMessage(`[]`)}, "the top level must be an object"},
		{`{}`, Change{Merge: json.RawMessage(`{`)}, "unexpected end"},
		{`{}`, Change{Supervisor: &Entry{Command: "ccc"}}, "not a supervisor's command"},
		{`{}`, Change{Supervisor: &Entry{Command: "ccc supervisor-hook -x"}}, "not a supervisor's command"},
		{`{}`, Change{Supervisor: supervisor("/a\xff/ccc")}, "not UTF-8"},
		{`{}`, Change{Supervisor: &Entry{Command: "ccc supervisor-hook", Timeout: -1}}, "negative"},
	} {
		path := settingsPath(t, tt.text)
		when := old(t, path)
		put, changed, err := Apply(path, tt.c)
		if err == nil || changed || put != nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: changed %v, put %v, error %v; want %s", tt.text, changed, put, err, tt.want)
		}
		info, _ := os.Stat(path)
		if get(t, path) != tt.text || !info.ModTime().Equal(when) || exists(path+".stopgate-backup") {
			t.Errorf("%s: refused, but something was written", tt.text)
		}
	}
}

// A fault in our own entry is fixed, and one that stays is no reason to keep ours.
// An entry that is there does not make a file one that the client takes.
func TestApplyRefusesWhatStandsInVain(t *testing.T) {
	const mine = `"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/usr/local/bin/ccc supervisor-hook","timeout":660}]}]}`
	for _, text := range []string{`{"model":5,` + mine + `}`, `{"hooks":{},` + mine + `}`, `{` + mine + `,}`} {
		path := filepath.Join(t.TempDir(), "settings.json")
		put(t, path, text)
		if _, changed, err := Apply(path, Change{Supervisor: supervisor(ccc)}); err == nil || changed {
			t.Errorf("%s: changed %t, %v", text, changed, err)
		}
		same(t, text, get(t, path), text)
	}
}

func TestApplyFixesItsOwnEntry(t *testing.T) {
	const ours = `"hooks":{"Stop":[{"hooks":[{"type":"command","command":"ccc supervisor-hook","timeout":"5"}]}]}`
	path := settingsPath(t, `{`+ours+`}`)
	mustApply(t, path, Change{Supervisor: supervisor(ccc)})
	if f := inspect(location{User, path}); f.Dropped() || len(f.Supervisor) != 1 {
		t.Errorf("%+v", f)
	}
	path = settingsPath(t, `{"model":5,`+ours+`}`)
	mustApply(t, path, Change{Remove: true})
	same(t, "removed", get(t, path), `{"model":5}`)
}

// Two of ours would be two reviews.
func TestApplyLeavesOneEntry(t *testing.T) {
	const ours = `{"type":"command","command":"/usr/local/bin/ccc supervisor-hook","timeout":660}`
	path := settingsPath(t, `{"hooks":{"Stop":[{"hooks":[`+ours+`,`+ours+`]}]}}`)
	mustApply(t, path, Change{Supervisor: supervisor(ccc)})
	same(t, "applied", get(t, path), `{"hooks":{"Stop":[{"hooks":[`+ours+`]}]}}`)
}

// Two kinds of entries share one file and one backup.
func TestApplyAndInstallLeaveEachOtherAlone(t *testing.T) {
	const before = "{\n  \"hooks\": { }\n}\n"
	install := func(t *testing.T, path string) { mustInstall(t, path, entry(hook.Stop)) }
	uninstall := func(t *testing.T, path string) { mustUninstall(t, path) }
	launch := func(t *testing.T, path string) { mustApply(t, path, Change{Supervisor: supervisor(living)}) }
	plain := func(t *testing.T, path string) { mustApply(t, path, Change{Remove: true}) }
	for name, steps := range map[string][4]func(*testing.T, string){
		"install first, uninstall first": {install, launch, uninstall, plain},
		"install first, uninstall last":  {install, launch, plain, uninstall},
		"launch first, uninstall first":  {launch, install, uninstall, plain},
		"launch first, uninstall last":   {launch, install, plain, uninstall},
	} {
		t.Run(name, func(t *testing.T) {
			path := settingsPath(t, before)
			steps[0](t, path)
			steps[1](t, path)
			f := inspect(location{User, path})
			if len(f.Entries) != 1 || len(f.Supervisor) != 1 || f.Foreign != 0 {
				t.Fatalf("%+v", f)
			}
			steps[2](t, path)
			f = inspect(location{User, path})
			if len(f.Entries)+len(f.Supervisor) != 1 || !exists(path+".stopgate-backup") {
				t.Fatalf("%+v, backup %v", f, exists(path+".stopgate-backup"))
			}
			steps[3](t, path)
			same(t, "at the end", get(t, path), before)
			if exists(path + ".stopgate-backup") {
				t.Error("the backup was left behind")
			}
		})
	}
}

func TestConcurrentLaunches(t *testing.T) {
	for path, n := range map[string]int{
		settingsPath(t, `{"mine":[1,  2],"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a"}]}]}}`): 300,
		settingsPath(t): 50,
	} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			before, _ := os.ReadFile(path)
			var all sync.WaitGroup
			for i := range n {
				all.Go(func() {
					c := Change{Supervisor: supervisor(ccc)}
					if i%6 == 0 {
						c = Change{Remove: true}
					}
					if _, _, err := Apply(path, c); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			f := inspect(location{User, path})
			if f.Dropped() || len(f.Supervisor) > 1 {
				t.Errorf("%+v\n%s", f, get(t, path))
			}
			mustApply(t, path, Change{Supervisor: supervisor(ccc)})
			if f := inspect(location{User, path}); f.Dropped() || len(f.Supervisor) != 1 {
				t.Errorf("%+v\n%s", f, get(t, path))
			}
			mustApply(t, path, Change{Remove: true})
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Errorf("became %s", after)
			}
		})
	}
}

func TestApplyThroughALink(t *testing.T) {
	path, target := settingsPath(t), settingsPath(t, "{}")
	os.MkdirAll(filepath.Dir(path), 0o755)
	environtest.Symlink(t, target, path)
	mustApply(t, path, Change{Supervisor: supervisor(ccc)})
	if f := inspect(location{User, target}); len(f.Supervisor) != 1 {
		t.Errorf("%+v", f)
	}
	mustApply(t, path, Change{Remove: true})
	same(t, "target", get(t, target), "{}")
}

// What could not be read again is not written, and what was there stays.
func TestApplyRefusesToWriteTooMuch(t *testing.T) {
	racetest.Skip(t)
	path := settingsPath(t, `{"a":1}`)
	merge, _ := json.Marshal(map[string]string{"x": strings.Repeat("x", jsonfile.MaxSize)})
	if _, changed, err := Apply(path, Change{Merge: merge}); changed || err == nil {
		t.Errorf("changed %v, error %v", changed, err)
	}
	same(t, "file", get(t, path), `{"a":1}`)
}
