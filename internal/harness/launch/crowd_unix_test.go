//go:build unix

package launch

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// 300 launches, a hundred at once and half of them supervised, damage nothing. A launch waits
// at most half a minute for the others, which is enough for a hundred on a loaded machine.
func TestCrowd(t *testing.T) {
	const launches, crowd = 300, 100
	const mine = `{"model":"opus","hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"mine"}]}]},"permissions":{"deny":["Bash"]}}`
	p := newPlace(t, `{"providers":{"a":{"theme":"dark"},"b":{"permissions":{"allow":["Read"]}}},"later":1}`)
	p.client("#!/bin/sh\nexit 0\n")
	write(t, mine, p.settings)
	plain := p.environ
	supervised := append(plain[:len(plain):len(plain)], "CCC_SUPERVISOR=1")

	type outcome struct {
		stdout, stderr string
		err            error
	}
	outcomes := make(chan outcome)
	turns := make(chan struct{}, atOnce(t, crowd))
	for i := range launches {
		cmd := p.start([]string{"a", "b"}[i%2])
		if i%4 < 2 {
			cmd.Env = append(supervised[:len(supervised):len(supervised)], asLauncher+"=1")
		}
		go func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			var out, failed strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &failed
			err := cmd.Run()
			outcomes <- outcome{out.String(), failed.String(), err}
		}()
	}
	for range launches {
		o := <-outcomes
		if o.err != nil || o.stdout != "" || strings.Contains(o.stderr, "warning") {
			t.Errorf("%v, printed %q, %q", o.err, o.stdout, o.stderr)
		}
	}

	var config map[string]any
	if err := json.Unmarshal([]byte(read(t, p.config)), &config); err != nil || config["later"] != 1.0 {
		t.Errorf("ccc.json: %v, %v", config, err)
	}
	if entries := p.stopEntries(); len(entries) > 1 {
		t.Errorf("%d entries of ours", len(entries))
	}
	// When all are gone, a plain launch finds what it takes to leave nothing behind.
	write(t, `{"providers":{"c":{}}}`, p.config)
	p.prepare("c")
	var got, want any
	must(t, json.Unmarshal([]byte(read(t, p.settings)), &got))
	_ = json.Unmarshal([]byte(mine), &want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if left := NewRegistry(p.state).sweep(); len(left) > 0 {
		t.Errorf("%d records are left", len(left))
	}
}

// No key or token is in anything that a launch writes or prints, ccc.json aside.
func TestNoSecretAnywhere(t *testing.T) {
	const secret = "s3cr3t-t0k3n"
	config := `{"settings":{"env":{"BASE":"` + secret + `"}},"providers":{
		"glm":{"env":{"ANTHROPIC_AUTH_TOKEN":"` + secret + `","ANTHROPIC_API_KEY":"$KEY"},"model":"x"},
		"unset":{"env":{"ANTHROPIC_AUTH_TOKEN":"` + secret + `$GONE"}},
		"brace":{"env":{"ANTHROPIC_AUTH_TOKEN":"` + secret + `${"}}}}`
	p := newPlace(t, config)
	p.environ = append(p.environ, "KEY="+secret, "ANTHROPIC_MODEL="+secret)
	said := ""
	for _, environ := range [][]string{p.environ, append(p.environ, "CCC_SUPERVISOR=1")} {
		p.environ = environ
		for _, args := range [][]string{{"glm"}, {"unset"}, {"brace"}, {secret[:5]}, {}} {
			_, err := Prepare(p.options(args...))
			if err != nil {
				said += err.Error()
			}
			said += p.stderr.String()
		}
	}
	project := write(t, `{"env":{"ANTHROPIC_BASE_URL":"`+secret+`"}}`, p.project, ".claude", "settings.json")
	_, err := Prepare(p.options("glm"))
	if err == nil {
		t.Error("what shadows was not refused")
	} else {
		said += err.Error()
	}
	write(t, strings.Replace(config, `"`+secret+`"`, `["`+secret+`"]`, 1), p.config)
	if _, err = Prepare(p.options("glm")); err == nil {
		t.Error("a list was taken for a variable")
	} else {
		said += err.Error()
	}
	if strings.Contains(said, secret) {
		t.Errorf("said %s", said)
	}
	seen := 0
	err = filepath.WalkDir(filepath.Dir(p.home), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || path == p.config || path == project {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), secret) {
			t.Errorf("it is in %s", path)
		}
		seen++
		return err
	})
	if err != nil || seen < 4 {
		t.Errorf("looked at %d files, %v", seen, err)
	}
}

// atOnce limits how many processes a test runs at once to what the limit on open files allows. Each
// process takes up to eight, and some systems allow only 256.
func atOnce(t *testing.T, wanted int) int {
	t.Helper()
	var limit syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	return int(min(uint64(wanted), limit.Cur/8))
}
