package settings

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tailscale/hujson"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

func TestInstallKeepsTheLayout(t *testing.T) {
	bash := entry(hook.PreToolUse)
	bash.Matcher = "Bash"
	tests := []struct {
		name, before, after string
		entries             []Entry
	}{
		{"missing or empty file", "", `{
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "/opt/bin/stopgate",
            "args": [
              "hook",
              "Stop"
            ],
            "timeout": 1200
          }
        ]
      }
    ]
  }
}
`, []Entry{entry(hook.Stop)}},
		{
			"minified", `{"a":1,"hooks":{"PreToolUse":[]}}`,
			`{"a":1,"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"/opt/bin/stopgate","args":["hook","PreToolUse"],"timeout":600}]}]}}`,
			[]Entry{bash},
		},
		{
			"one line with gaps", `{"a": [1, 2]}` + "\n",
			`{"a": [1, 2], "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/opt/bin/stopgate", "args": ["hook", "Stop"], "timeout": 1200}]}]}}` + "\n",
			[]Entry{entry(hook.Stop)},
		},
		{"empty object on one line", `{}`, `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/opt/bin/stopgate","args":["hook","Stop"],"timeout":1200}]}]}}`, []Entry{entry(hook.Stop)}},
		{
			"a line inside an indented file",
			"{\n\t\"hooks\": {\n\t\t\"Stop\": [{ \"hooks\": [] }]\n\t}\n}",
			"{\n\t\"hooks\": {\n\t\t\"Stop\": [{ \"hooks\": [] }, {\"hooks\": [{\"type\": \"command\", \"command\": \"/opt/bin/stopgate\", \"args\": [\"hook\", \"Stop\"], \"timeout\": 1200}]}]\n\t}\n}",
			[]Entry{entry(hook.Stop)},
		},
		{
			"tabs, CRLF, byte order mark, no newline at the end",
			"\ufeff{\r\n\t\"x\" : 1,\r\n\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [\r\n\t\t]\r\n\t}\r\n}",
			"\ufeff{\r\n\t\"x\" : 1,\r\n\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [\r\n\t\t\t{\r\n\t\t\t\t\"hooks\": [\r\n\t\t\t\t\t{\r\n\t\t\t\t\t\t\"type\": \"command\",\r\n\t\t\t\t\t\t\"command\": \"/opt/bin/stopgate\",\r\n\t\t\t\t\t\t\"args\": [\r\n\t\t\t\t\t\t\t\"hook\",\r\n\t\t\t\t\t\t\t\"Stop\"\r\n\t\t\t\t\t\t],\r\n\t\t\t\t\t\t\"timeout\": 1200\r\n\t\t\t\t\t}\r\n\t\t\t\t]\r\n\t\t\t}\r\n\t\t]\r\n\t}\r\n}",
			[]Entry{entry(hook.Stop)},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := settingsPath(t, tt.before)
			if !mustInstall(t, path, tt.entries...) {
				t.Error("not reported as a change")
			}
			same(t, "installed", get(t, path), tt.after)
			same(t, "backup", get(t, path+".stopgate-backup"), tt.before)
			if !mustUninstall(t, path) {
				t.Error("not reported as a change")
			}
			same(t, "uninstalled", get(t, path), tt.before)
			if exists(path + ".stopgate-backup") {
				t.Error("the backup was left behind")
			}
		})
	}
}

func TestInstallRewritesWhereItStands(t *testing.T) {
	before := `{
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {"type": "command", "command": "first"},
          {
            "type": "command",
            "command": "'/old path/stopgate' hook Stop",
            "statusMessage": "gates"
          },
          {"type": "command", "command": "last"}
        ]
      }
    ],
    "PreToolUse": [
      {"hooks": [{"type": "command", "command": "stopgate", "args": ["hook", "PreToolUse"], "timeout": 5}]},
      {"matcher": "Write", "hooks": [{"type": "command", "command": "stopgate", "args": ["hook", "PreToolUse"], "timeout": 5}]}
    ],
    "SessionEnd": [{"hooks": [{"type": "command", "command": "stopgate hook SessionEnd"}]}]
  }
}
`
	after := `{
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {"type": "command", "command": "first"},
          {
            "type": "command",
            "command": "/opt/bin/stopgate",
            "statusMessage": "gates",
            "args": [
              "hook",
              "Stop"
            ],
            "timeout": 1200
          },
          {"type": "command", "command": "last"}
        ]
      }
    ],
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "/opt/bin/stopgate", "args": ["hook", "PreToolUse"], "timeout": 600}]}
    ],
    "SessionEnd": [{"hooks": [{"type": "command", "command": "stopgate hook SessionEnd"}]}]
  }
}
`
	bash := entry(hook.PreToolUse)
	bash.Matcher = "Bash"
	path := settingsPath(t, before)
	mustInstall(t, path, entry(hook.Stop), bash)
	same(t, "installed", get(t, path), after)
	if exists(path + ".stopgate-backup") {
		t.Error("a file that already had our entries is no original, but was backed up")
	}
}

// What keeps the client from waiting for our answer goes; a false is harmless.
// A message that a person chose is shown on.
func TestInstallKeepsAStatusMessage(t *testing.T) {
	path := settingsPath(t)
	mustInstall(t, path, newEntry(Call{Program, hook.Stop, time.Minute, ""}))
	put(t, path, strings.Replace(get(t, path), statusMessage(hook.Stop), "wait", 1))
	mustInstall(t, path, newEntry(Call{Program, hook.Stop, time.Hour, ""}))
	if all := entriesIn(path); len(all) != 1 || all[0].Status != "wait" || all[0].Timeout != time.Hour {
		t.Errorf("%+v", all)
	}
}

func TestCheckOfWhatCannotBeRead(t *testing.T) {
	if err := Check(t.TempDir(), []Entry{entry(hook.Stop)}); err == nil {
		t.Error("a directory is no settings file")
	}
}

func TestInstallUnspoils(t *testing.T) {
	path := settingsPath(t, `{"hooks":{"Stop":[{"hooks":[{"async":true,"type":"command","command":"/opt/bin/stopgate","if":"Bash(ls)","args":["hook","Stop"],"timeout":1200,"asyncRewake":false,"once":true}]}]}}`)
	if got := entriesIn(path)[0].Spoilt; !slices.Equal(got, []string{"async", "if", "once"}) {
		t.Errorf("spoilt by %v", got)
	}
	if !mustInstall(t, path, entry(hook.Stop)) {
		t.Error("not reported as a change")
	}
	same(t, "installed", get(t, path), `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/opt/bin/stopgate","args":["hook","Stop"],"timeout":1200,"asyncRewake":false}]}]}}`)
	if mustInstall(t, path, entry(hook.Stop)) {
		t.Error("installed twice")
	}
}

// Each of them alone, in whatever form, keeps the client from waiting.
func TestInstallUnspoilsEach(t *testing.T) {
	for member, spoils := range map[string]string{
		`"async":true`:         "async",
		`"asyncRewake":true`:   "asyncRewake",
		`"asyncRewake":"true"`: "asyncRewake",
		`"asyncRewake":1`:      "asyncRewake",
		`"if":"Bash(ls)"`:      "if",
		`"once":true`:          "once",
		`"shell":"powershell"`: "shell",
		`"shell":"bash"`:       "",
		`"async":false`:        "",
		`"asyncRewake":false`:  "",
		`"once":false`:         "",
	} {
		v, err := hujson.Parse([]byte(`{"type":"command","command":"/opt/bin/stopgate",` + member + `,"args":["hook","Stop"]}`))
		check(t, err)
		object, _ := jsonfile.ObjectOf(&v)
		if got := strings.Join(readEntry("Stop", "", object).Spoilt, " "); got != spoils {
			t.Errorf("%s spoils by %q, want %q", member, got, spoils)
		}
	}
	path := settingsPath(t, `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/opt/bin/stopgate","args":["hook","Stop"],"timeout":1200,"asyncRewake":true}]}]}}`)
	if !mustInstall(t, path, entry(hook.Stop)) || strings.Contains(get(t, path), "asyncRewake") {
		t.Errorf("installed:\n%s", get(t, path))
	}
}

// A matcher is changed in the group only when the group is ours alone.
func TestInstallLeavesAForeignGroup(t *testing.T) {
	path := settingsPath(t, `{"hooks":{"Stop":[{"matcher":"x","hooks":[{"type":"command","command":"mine"},{"type":"command","command":"stopgate","args":["hook","Stop"]}]}]}}`)
	mustInstall(t, path, entry(hook.Stop))
	same(t, "installed", get(t, path), `{"hooks":{"Stop":[{"matcher":"x","hooks":[{"type":"command","command":"mine"}]},{"hooks":[{"type":"command","command":"/opt/bin/stopgate","args":["hook","Stop"],"timeout":1200}]}]}}`)
}

func TestInstallTwiceTouchesNothing(t *testing.T) {
	path := settingsPath(t)
	mustInstall(t, path, entry(hook.Stop), entry(hook.SessionEnd))
	when := old(t, path)
	if mustInstall(t, path, entry(hook.SessionEnd), entry(hook.Stop), entry(hook.Stop)) {
		t.Error("second install reports a change")
	}
	if mustInstall(t, path) {
		t.Error("installing nothing reports a change")
	}
	info, _ := os.Stat(path)
	if !info.ModTime().Equal(when) {
		t.Error("second install wrote the file")
	}
}

func TestInstallFillsInTheTimeout(t *testing.T) {
	path := settingsPath(t)
	e := entry(hook.SessionEnd)
	e.Timeout = 0
	mustInstall(t, path, e)
	if got := entriesIn(path)[0].Timeout; got != 20*time.Second {
		t.Errorf("timeout = %v", got)
	}
	e.Timeout = 1500 * time.Millisecond
	mustInstall(t, path, e)
	if !strings.Contains(get(t, path), `"timeout": 1.5`) {
		t.Error(get(t, path))
	}
}

func TestInstallRefuses(t *testing.T) {
	tests := []struct{ text, where, why string }{
		{"{\n  \"a\": ,\n}", "2:8", "invalid character ','"},
		{`{"a":1`, "1:6", "unexpected end"},
		{"{\n  // mine\n}", "2:3", "comments"},
		{`{"ä": 1, /* x */ "b": 2}`, "1:10", "comments"},
		{"{\"a\": [1,\n ]}", "2:2", "trailing comma"},
		{"{\"a\": 1,}", "1:9", "trailing comma"},
		{`[]`, "1:1", "the top level must be an object, is an array"},
		{`null`, "1:1", "must be an object, is null"},
		{"{\n\"hooks\": []}", "2:10", `"hooks" must be an object, is an array`},
		{`{"hooks":{"Stop":{}}}`, "1:18", `"Stop" must be an array, is an object`},
		{`{"hooks":{"PreCompact":"x"}}`, "1:24", `"PreCompact" must be an array`},
		{`{"hooks":{}, "hooks":{}}`, "1:14", `duplicate key "hooks"`},
		{`{"hooks":{}, "h\u006foks":{}}`, "1:14", `duplicate key "hooks"`},
		{`{"hooks":{"Stop":[],"Stop":[]}}`, "1:21", `duplicate key "Stop"`},
		{strings.Repeat("[", 20000), "", "depth"},
	}
	for _, tt := range tests {
		path := settingsPath(t, tt.text)
		when := old(t, path)
		for name, change := range map[string]func() (bool, error){
			"install":   func() (bool, error) { return Install(path, []Entry{entry(hook.Stop)}) },
			"uninstall": func() (bool, error) { return Uninstall(path) },
		} {
			changed, err := change()
			if changed || err == nil {
				t.Errorf("%s of %.40q: changed %v, error %v", name, tt.text, changed, err)
				continue
			}
			if !strings.Contains(err.Error(), path+":"+tt.where) || !strings.Contains(err.Error(), tt.why) {
				t.Errorf("%s of %.40q: %v; want %s and %q", name, tt.text, err, tt.where, tt.why)
			}
		}
		info, _ := os.Stat(path)
		if get(t, path) != tt.text || !info.ModTime().Equal(when) || exists(path+".stopgate-backup") {
			t.Errorf("%.40q: refused, but something was written", tt.text)
		}
	}
}

// The client drops a file for one wrong type, and the hooks in it with it.
func TestInstallRefusesWhatTheClientDrops(t *testing.T) {
	const ours = `{"type":"command","command":"stopgate","args":["hook","Stop"],"timeout":"5","async":"x"}`
	for _, tt := range []struct {
		text string
		want []string // nothing: installed
	}{
		{`{"model":5,` + "\n" + `"env":[]}`, []string{":1:10: model must be a string, is a number", ":2:7: env must be an object, is an array"}},
		{`{"hooks":{"PreCompact":[5]}}`, []string{":1:25: hooks.PreCompact[0] must be an object"}},
		{`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine","timeout":"5"}]}]}}`, []string{"hooks.Stop[0].hooks[0].timeout must be a number"}},
		{`{"hooks":{"Stop":[{"hooks":[` + ours + `]}]}}`, nil},
		{`{"model":5,"hooks":{"Stop":[{"hooks":[` + ours + `]}]}}`, []string{":1:10: model", "hooks.Stop[0].hooks[0].timeout must be a number"}},
	} {
		path := settingsPath(t, tt.text)
		entries := []Entry{entry(hook.Stop)}
		early := Check(path, entries)
		if get(t, path) != tt.text {
			t.Errorf("Check wrote %s", get(t, path))
		}
		changed, err := Install(path, entries)
		if len(tt.want) == 0 {
			if err != nil || early != nil || !changed || inspect(location{User, path}).Dropped() {
				t.Errorf("%s: changed %v, errors %v, %v", tt.text, changed, early, err)
			}
			continue
		}
		if changed || err == nil || early == nil || early.Error() != err.Error() || get(t, path) != tt.text {
			t.Errorf("%s: changed %v, errors %v, %v", tt.text, changed, early, err)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v; want %s", tt.text, err, want)
			}
		}
	}
}

// The client ignores what is no event, so people keep remarks there.
func TestInstallAcceptsRemarksAmongEvents(t *testing.T) {
	path := settingsPath(t, `{"hooks":{"//":"mine","//":"mine too"}}`)
	mustInstall(t, path, entry(hook.Stop))
	mustUninstall(t, path)
	same(t, "uninstalled", get(t, path), `{"hooks":{"//":"mine","//":"mine too"}}`)
}

func TestInstallRefusesEntries(t *testing.T) {
	stranger, unknown, negative := entry(hook.Stop), entry("Stopp"), entry(hook.Stop)
	stranger.Command = "/opt/bin/other"
	negative.Timeout = -time.Second
	for _, e := range []Entry{stranger, unknown, negative} {
		path := settingsPath(t)
		if _, err := Install(path, []Entry{entry(hook.Stop), e}); err == nil {
			t.Errorf("%+v was installed", e)
		}
		if exists(filepath.Dir(path)) {
			t.Error("something was written")
		}
	}
}

func TestInstallModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no mode bits")
	}
	root := t.TempDir()
	t.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(root, "home", ".claude"))
	for scope, want := range map[Scope][2]os.FileMode{
		User: {0o600, 0o700}, Project: {0o644, 0o755}, Local: {0o600, 0o700},
	} {
		path, err := Path(scope, filepath.Join(root, scope.String()))
		check(t, err)
		mustInstall(t, path, entry(hook.Stop))
		info, _ := os.Stat(path)
		dir, _ := os.Stat(filepath.Dir(path))
		if got := [2]os.FileMode{info.Mode().Perm(), dir.Mode().Perm()}; got != want {
			t.Errorf("%v: file and directory are %v, want %v", scope, got, want)
		}
	}

	path := settingsPath(t, `{"a": 1}`)
	os.Chmod(path, 0o640)
	mustInstall(t, path, entry(hook.Stop))
	info, _ := os.Stat(path)
	backup, _ := os.Stat(path + ".stopgate-backup")
	if info.Mode().Perm() != 0o640 || backup.Mode().Perm() != 0o600 {
		t.Errorf("existing file became %v, its backup %v", info.Mode(), backup.Mode())
	}
}

func TestInstallBacksUpOnce(t *testing.T) {
	path := settingsPath(t, `{"a": 1}`)
	mustInstall(t, path, entry(hook.Stop))
	mustInstall(t, path, entry(hook.SessionEnd))
	same(t, "backup", get(t, path+".stopgate-backup"), `{"a": 1}`)
	mustUninstall(t, path)
	same(t, "uninstalled", get(t, path), `{"a": 1}`)
}

func TestInstallWritesThroughALink(t *testing.T) {
	path := settingsPath(t)
	target := filepath.Join(t.TempDir(), "dotfiles", "claude.json")
	put(t, target, "{\n    \"a\": 1\n}\n")
	os.Mkdir(filepath.Dir(path), 0o755)
	environtest.Symlink(t, target, path)
	mustInstall(t, path, entry(hook.Stop))
	if to, err := os.Readlink(path); err != nil || to != target {
		t.Fatalf("the link is %q, %v", to, err)
	}
	if !strings.Contains(get(t, target), "stopgate") {
		t.Error("the target has no entry")
	}
	mustUninstall(t, path)
	same(t, "target", get(t, target), "{\n    \"a\": 1\n}\n")

	os.Remove(target)
	if _, err := Install(path, []Entry{entry(hook.Stop)}); err == nil || !strings.Contains(err.Error(), "broken link") {
		t.Errorf("dangling link: %v", err)
	}
}

func TestInstallIntoAReadOnlyDirectory(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("every directory is writable")
	}
	path := settingsPath(t, `{}`)
	os.Chmod(filepath.Dir(path), 0o555)
	defer os.Chmod(filepath.Dir(path), 0o755)
	if _, err := Install(path, []Entry{entry(hook.Stop)}); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error = %v", err)
	}
}

func TestInstallWhereThereIsNoFile(t *testing.T) {
	directory := settingsPath(t)
	os.MkdirAll(directory, 0o755)
	large := settingsPath(t, `{"a":"`+strings.Repeat("x", jsonfile.MaxSize)+`"}`)
	below := filepath.Join(settingsPath(t, `{}`), "settings.json")
	for _, path := range []string{directory, large, below} {
		if changed, err := Install(path, []Entry{entry(hook.Stop)}); err == nil || changed || !strings.Contains(err.Error(), filepath.Dir(path)) {
			t.Errorf("%s: changed %v, error %v", path, changed, err)
		}
	}
}
