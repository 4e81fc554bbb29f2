//go:build unix

package send

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/stopgate/stopgate/internal/session/wake"
	"github.com/stopgate/stopgate/internal/sys/pause"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

// program is an office whose openclaw, or other program of that name, is a script. It
// runs in a directory of its own, as $HERE, where every run leaves its arguments.
type program struct {
	*office
	here string
}

func newProgram(t *testing.T, gateway, script string) *program {
	p := &program{newOffice(t, gateway), t.TempDir()}
	bin := t.TempDir()
	head := "#!/bin/sh\necho run >>\"$HERE/runs\"\nfor a; do printf '%s\\n' \"$a\"; done >\"$HERE/args\"\nenv >\"$HERE/env\"\n"
	writeFile(t, filepath.Join(bin, "openclaw"), head+script+"\n", 0o700)
	p.Environ = []string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "HERE=" + p.here, "HOME=" + p.here, "STOPGATE_STATE_DIR=" + p.StateDir,
		"CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_PROJECT_DIR=/p", "TMUX=/tmp/t,1,0", "TMUX_PANE=%1",
		"STOPGATE_INSIDE=1", "STOPGATE_COMMAND=x", "STOPGATE_LAUNCH=y", "CCC_SUPERVISOR=1", "CCC_SUPERVISOR_HOOK=1", "GAUNTLET_STOP_HOOK_ACTIVE=1",
		"OPENCLAW_GATEWAY_TOKEN=tok-3f9a-secret", "KEEP=this",
	}
	p.look = time.Millisecond
	return p
}

// realTime has the sender wait by the real clock.
func (p *program) realTime() { p.now, p.wait = time.Now, pause.For }

func (p *program) runCount() int {
	text, _ := os.ReadFile(filepath.Join(p.here, "runs"))
	return strings.Count(string(text), "run\n")
}

const openClaw = `{"transport":"openclaw"}`

const fine = `echo '{"runId":"r","status":"ok","result":{"payloads":[{"text":"meta transport embedded"}],"meta":{"agentMeta":{}}}}'`

// What openclaw prints and how it ends decides whether the message was delivered.
func TestOpenClawOutcomes(t *testing.T) {
	const byItself = "openclaw did not reach its gateway and processed the message itself"
	for _, test := range []struct {
		name, script string
		wait         time.Duration // 0: delivered
		reason       string
	}{
		{"fine", fine, 0, ""},
		{"behind a log", "echo 'log {level: info'; echo 'more {\"a\": 1} of it'; " + fine, 0, ""},
		{"talks of a fallback", `echo '{"status":"ok","result":{"payloads":[{"text":"EMBEDDED FALLBACK, falling back to embedded"}]}}'`, 0, ""},
		{"says nothing", "true", 0, ""},
		{"is at it already", `echo '{"status":"in_flight","runId":"r"}'`, 0, ""},
		{"is at it already, and fails", `echo '{"status":"in_flight","runId":"r"}'; exit 1`, 0, ""},
		{"fallback in the JSON", `echo '{"status":"ok","result":{"meta":{"transport":"embedded"}}}'`, time.Second, byItself},
		{"fallback in the JSON, elsewhere", `echo starting; echo '{"meta":{"fallbackFrom":"gateway","fallbackReason":"gateway_timeout"},"payloads":[]}'`, time.Second, byItself},
		{"fallback in a list", `echo '{"all":[{"meta":{"transport":"embedded"}}]}'`, time.Second, byItself},
		{"fallback on stderr", "echo 'Gateway agent failed; falling back to embedded: Error' >&2; " + fine, time.Second, byItself},
		{"newer fallback on stderr", "echo 'EMBEDDED FALLBACK: Gateway agent failed' >&2; " + fine, time.Second, byItself},
		{"fallback that fails", "echo 'EMBEDDED FALLBACK' >&2; exit 1", time.Second, byItself},
		{"fails", "for i in 1 2 3 4 5; do echo line $i >&2; done; exit 3", time.Second, "openclaw: exit status 3: line 3 line 4 line 5"},
		{"fails on stdout", "echo no; exit 1", time.Second, "openclaw: exit status 1: no"},
		{"is killed", "kill -9 $$", time.Second, "openclaw: signal: killed:"},
		{"does not know the agent", `echo 'Error: Unknown agent id "warden".' >&2; exit 1`, time.Minute, `openclaw: exit status 1: Error: Unknown agent id "warden".`},
		{"shows the token", "echo \"bad token $OPENCLAW_GATEWAY_TOKEN\" >&2; exit 1", time.Second, "openclaw: exit status 1: bad token […]"},
		{"prints a lot", "yes xxxxxxxxxxxxxxx | head -c 20000000; yes | head -c 9000000 >&2; echo; " + fine, 0, ""},
		{"prints a lot and falls back", "yes xxxxxxxxxxxxxxx | head -c 20000000; echo; echo '{\"meta\":{\"transport\":\"embedded\"}}'", time.Second, byItself},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newProgram(t, openClaw, test.script)
			p.put(letter(1))
			wait, reason, dead := p.try()
			if wait < test.wait || wait > test.wait+test.wait/10 || reason != test.reason || dead != "" {
				t.Errorf("tried again in %s: %q; dead: %q", wait, reason, dead)
			}
			p.wantNoSecret("tok-3f9a-secret")
			if exists(p.runDir(letter(1))) {
				t.Error("the run has left its files")
			}
			if test.wait > 0 { // the next try is a run of its own
				p.try()
				if p.runCount() != 2 {
					t.Errorf("%d runs", p.runCount())
				}
			}
		})
	}
}

// Every fallback is a run of the agent for nothing. It is not repeated every minute for
// a day.
func TestFallbacksBecomeRare(t *testing.T) {
	p := newProgram(t, openClaw, `if test "$(wc -l <"$HERE/runs")" -le 12; then echo EMBEDDED FALLBACK >&2; fi`)
	p.put(letter(1))
	p.run()
	if len(p.waits) != 12 || p.waits[0] > 2*time.Second || p.waits[11] < 10*time.Minute {
		t.Errorf("waited %v", p.waits)
	}
}

func TestOpenClawCall(t *testing.T) {
	const script = `test "$(cat "${7#--none}" 2>/dev/null)" = "$EXPECT" && echo as file >>"$HERE/args"; pwd >"$HERE/pwd"; exec 2>&-; ` + fine
	for _, test := range []struct {
		name, gateway string
		want          []string
	}{
		{"as an argument", openClaw, []string{"agent", "--agent", "warden", "--session-id", "sid-1", "--message", "BODY", "--json"}},
		{"as a file", `{"transport":"openclaw","message_file":true}`, []string{"agent", "--agent", "warden", "--session-id", "sid-1", "--message-file", "PATH", "--json", "as file"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newProgram(t, test.gateway, script)
			l := letter(1)
			l.Body = "-x $(touch injected) 'and' \"so\" on; ✓"
			p.Environ = append(p.Environ, "EXPECT="+l.Body)
			p.put(l)
			p.run()
			args := strings.Join(test.want, "\n")
			args = strings.Replace(args, "BODY", l.Body, 1)
			args = strings.Replace(args, "PATH", filepath.Join(p.runDir(l), "message.md"), 1)
			if diff := cmp.Diff(args+"\n", readFile(t, filepath.Join(p.here, "args"))); diff != "" {
				t.Error(diff)
			}
			if got := strings.TrimSpace(readFile(t, filepath.Join(p.here, "pwd"))); got != p.ConfigDir {
				t.Errorf("ran in %s", got)
			}
			p.wantEnvironment("STOPGATE_MESSAGE_KEY=key-1")
		})
	}
}

// wantEnvironment looks at what the last run had beside what every run has.
func (p *program) wantEnvironment(want ...string) {
	p.t.Helper()
	env := readFile(p.t, filepath.Join(p.here, "env"))
	for _, entry := range append(want, "KEEP=this", "STOPGATE_STATE_DIR="+p.StateDir) {
		if !strings.Contains("\n"+env, "\n"+entry+"\n") {
			p.t.Errorf("%s is missing:\n%s", entry, env)
		}
	}
	for _, name := range []string{"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_PROJECT_DIR", "TMUX", "TMUX_PANE", "STOPGATE_INSIDE", "STOPGATE_LAUNCH", "CCC_SUPERVISOR", "CCC_SUPERVISOR_HOOK", "GAUNTLET_STOP_HOOK_ACTIVE"} {
		if strings.Contains("\n"+env, "\n"+name+"=") {
			p.t.Errorf("%s is still there:\n%s", name, env)
		}
	}
}

// One argument takes 128 KiB: the message is cut, and the rest of it can be read.
func TestOpenClawLargeMessage(t *testing.T) {
	p := newProgram(t, openClaw, fine)
	l := letter(1)
	text := "begin " + strings.Repeat("é`x ", 40<<10) + " end"
	l.LastAssistantMessage = &text
	l.Body = wake.Compose(l, "do something")
	p.put(l)
	p.run()
	args := readFile(t, filepath.Join(p.here, "args"))
	path := filepath.Join(p.runDir(l), "message.md")
	if len(args) > 128<<10 || !strings.Contains(args, "The full text is in the file "+path+".") || !strings.Contains(args, "begin ") || !strings.Contains(args, " end\n") {
		t.Errorf("%d bytes of arguments", len(args))
	}
	if readFile(t, path) != l.Body {
		t.Error("the file does not hold the message")
	}
	p.wantOnly("message.md")
}

// wantOnly looks at what is left of sending the first letter.
func (p *program) wantOnly(names ...string) {
	p.t.Helper()
	entries, err := os.ReadDir(p.runDir(letter(1)))
	check(p.t, err)
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	if diff := cmp.Diff(names, got); diff != "" {
		p.t.Error(diff)
	}
}

const untilGate = `echo $$ >"$HERE/pid"; trap 'echo signalled >>"$HERE/runs"' TERM INT HUP; while ! test -e "$HERE/gate"; do sleep 0.01; done; `

// started waits until the program waits at the gate.
func (p *program) started() {
	p.t.Helper()
	eventually(p.t, "openclaw runs", func() bool { return p.pid() > 0 })
}

// pid is the process that waits at the gate; 0 if there is none yet.
func (p *program) pid() (pid int) {
	text, _ := os.ReadFile(filepath.Join(p.here, "pid"))
	if line, whole := strings.CutSuffix(string(text), "\n"); whole {
		pid, _ = strconv.Atoi(line)
	}
	return pid
}

// untilStarted ends when the program waits at the gate.
func (p *program) untilStarted() context.Context {
	ctx, cancel := context.WithCancel(p.t.Context())
	p.when(func() bool { return p.pid() > 0 }, cancel)
	return ctx
}

// when does something beside the test once a condition holds, or it is too late.
func (p *program) when(holds func() bool, do func()) {
	var done sync.WaitGroup
	done.Go(func() {
		for end := time.Now().Add(patience); !holds() && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		do()
	})
	p.t.Cleanup(done.Wait)
}

// open opens the gate and waits for the program's end.
func (p *program) open() {
	p.t.Helper()
	writeFile(p.t, filepath.Join(p.here, "gate"), "", 0o600)
	pid := p.pid()
	eventually(p.t, "openclaw ends", func() bool { return syscall.Kill(pid, 0) != nil || isZombie(pid) })
}

func isZombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(stat), ") ")
	return err == nil && strings.HasPrefix(after, "Z")
}

// A turn that takes too long is left alone, and not begun once more.
func TestOpenClawTakesTooLong(t *testing.T) {
	p := newProgram(t, openClaw, untilGate+fine)
	p.turn = time.Millisecond
	p.put(letter(1))
	p.run()
	p.started()
	if p.outbox().Waiting() || !strings.Contains(p.logged(), "delivered: still runs after 1ms, treated as delivered") {
		t.Errorf("%s", p.logged())
	}
	if session, err := unix.Getsid(p.pid()); err != nil || session != p.pid() {
		t.Errorf("it is in session %d of others, who may be signalled: %v", session, err)
	}
	p.run()
	p.open()
	if p.runCount() != 1 || strings.Contains(readFile(t, filepath.Join(p.here, "runs")), "signalled") {
		t.Errorf("runs: %s", readFile(t, filepath.Join(p.here, "runs")))
	}
}

// A sender that ends leaves openclaw alone, and the next one waits for that run.
func TestOpenClawOutlivesItsSender(t *testing.T) {
	for _, test := range []struct {
		name, script string
		runs         int
	}{
		{"delivered", fine, 1},
		{"fell back", `if ! test -e "$HERE/gone"; then echo EMBEDDED FALLBACK >&2; touch "$HERE/gone"; fi; ` + fine, 2},
		{"was killed", `if ! test -e "$HERE/gone"; then touch "$HERE/gone"; kill -9 $$; fi; ` + fine, 2},
	} {
		for _, how := range []string{"told", "killed"} {
			t.Run(test.name+" "+how, func(t *testing.T) {
				p := newProgram(t, openClaw, untilGate+test.script)
				p.realTime()
				p.put(letters(2)...)
				if how == "told" {
					if err := p.Run(p.untilStarted()); err != nil {
						t.Error(err)
					}
				} else {
					sender := processtest.Child(t, "send", p.StateDir, p.ConfigDir)
					sender.Env = append(sender.Env, p.Environ...)
					check(t, sender.Start())
					p.started()
					_ = sender.Process.Kill()
					_ = sender.Wait()
				}
				p.started()
				if !p.outbox().Waiting() {
					t.Fatal("the letter is gone")
				}
				next := make(chan error)
				polls := make(chan struct{})
				var once sync.Once
				go func() {
					s := p.Sender
					s.wait = func(ctx context.Context, d time.Duration) error {
						if d == s.look {
							once.Do(func() { close(polls) })
						}
						return pause.For(ctx, min(d, time.Millisecond))
					}
					next <- s.Run(t.Context())
				}()
				<-polls // it has found the run
				if p.runCount() != 1 {
					t.Errorf("%d runs while the first goes on", p.runCount())
				}
				p.open()
				if err := <-next; err != nil {
					t.Error(err)
				}
				if want := test.runs + 1; p.runCount() != want || p.outbox().Waiting() || strings.Contains(readFile(t, filepath.Join(p.here, "runs")), "signalled") {
					t.Errorf("%d runs, not %d; waiting: %v\n%s", p.runCount(), want, p.outbox().Waiting(), p.logged())
				}
				if exists(p.runDir(letter(1))) {
					t.Error("the run has left its files")
				}
			})
		}
	}
}

// A sender that is killed before it could write down that openclaw has delivered the
// letter does not have it delivered twice.
func TestOpenClawDeliveredButNotWrittenDown(t *testing.T) {
	p := newProgram(t, openClaw, fine)
	p.put(letter(1))
	agent, err := p.recipient(letter(1))
	check(t, err)
	if _, err := p.runOpenClaw(t.Context(), agent, letter(1)); err != nil {
		t.Fatal(err)
	}
	p.run()
	if p.runCount() != 1 || p.outbox().Waiting() || exists(p.runDir(letter(1))) {
		t.Errorf("%d runs, waiting: %v\n%s", p.runCount(), p.outbox().Waiting(), p.logged())
	}
}

// A run of a former sender that never ends is not waited for longer than one of ours.
func TestOpenClawOfAFormerSenderTakesTooLong(t *testing.T) {
	p := newProgram(t, openClaw, untilGate+fine)
	p.put(letter(1))
	if err := p.Run(p.untilStarted()); err != nil {
		t.Error(err)
	}
	p.started()
	p.clock = time.Now() // the beginning of a run is the time of a file
	p.look = time.Second
	p.run()
	if passed := time.Until(p.now()); p.outbox().Waiting() || passed < 14*time.Minute || passed > 16*time.Minute {
		t.Errorf("waited %s\n%s", passed, p.logged())
	}
	p.open()
	if p.runCount() != 1 {
		t.Errorf("%d runs", p.runCount())
	}
}

// What a program prints without end does not fill the disk.
func TestOpenClawOutputIsBounded(t *testing.T) {
	p := newProgram(t, openClaw, "echo EMBEDDED FALLBACK >&2; yes | head -c 70000000 >&2; "+untilGate+fine)
	p.put(letter(1))
	stderr := filepath.Join(p.runDir(letter(1)), "stderr")
	var size int64
	p.when(func() bool {
		info, err := os.Stat(stderr)
		if err == nil {
			size = info.Size()
		}
		return p.pid() > 0 && size <= maxOutput // it has printed all
	}, func() { _ = os.WriteFile(filepath.Join(p.here, "gate"), nil, 0o600) })
	if wait, reason, _ := p.try(); wait == 0 || !strings.Contains(reason, "processed the message itself") {
		t.Errorf("a fallback that was dropped is forgotten: %q", reason)
	}
	if size > maxOutput {
		t.Errorf("%d bytes were left", size)
	}
}

func TestCommand(t *testing.T) {
	const command = `{"transport":"command","command":["openclaw","a b","$(x)"]}`
	for _, test := range []struct {
		name, script, reason string
		limit                time.Duration
	}{
		{"fine", `cat >"$HERE/stdin"; pwd >"$HERE/pwd"`, "", 0},
		{"reads nothing", ``, "", 0},
		{"fails", `echo no >&2; echo way >&2; exit 7`, "openclaw exit 7: no way", 0},
		{"hangs", `sleep 1000 & wait`, "openclaw timed out after", 100 * time.Millisecond},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newProgram(t, command, test.script)
			if test.limit > 0 {
				p.command = test.limit
			}
			l := letter(1)
			l.Body = strings.Repeat("long\n", 40<<10)
			p.put(l)
			wait, reason, dead := p.try()
			if !strings.HasPrefix(reason, test.reason) || dead != "" || (wait > 0) != (test.reason != "") {
				t.Errorf("tried again in %s: %q; dead: %q", wait, reason, dead)
			}
			if test.limit > 0 {
				return // it need not have come so far
			}
			if got := readFile(t, filepath.Join(p.here, "args")); got != "a b\n$(x)\n" {
				t.Errorf("arguments %q", got)
			}
			p.wantEnvironment("STOPGATE_MESSAGE_KEY=key-1", "STOPGATE_EVENT=Stop", "STOPGATE_KIND=stop", "STOPGATE_SESSION=warden-main", "STOPGATE_AGENT_ID=warden")
			if test.name == "fine" && (readFile(t, filepath.Join(p.here, "stdin")) != l.Body || strings.TrimSpace(readFile(t, filepath.Join(p.here, "pwd"))) != p.ConfigDir) {
				t.Errorf("message or directory is another")
			}
		})
	}
}

// A program may stand beside the registry, and never where the sender happens to be.
func TestProgramBesideTheRegistry(t *testing.T) {
	p := newProgram(t, `{"transport":"command","command":["./deliver"]}`, "")
	t.Chdir(t.TempDir())
	writeFile(t, "deliver", "#!/bin/sh\nexit 1\n", 0o700)
	p.Environ = append(p.Environ, "PATH=.:"+os.Getenv("PATH"))
	writeFile(t, filepath.Join(p.ConfigDir, "deliver"), "#!/bin/sh\nexit 0\n", 0o700)
	p.put(letter(1))
	if _, reason, _ := p.try(); reason != "" {
		t.Error(reason)
	}
	p.register(`{"transport":"command","command":["deliver"]}`)
	p.put(letter(2))
	if _, reason, _ := p.try(); reason != `the program "deliver" is not on the PATH` {
		t.Error(reason)
	}
}
