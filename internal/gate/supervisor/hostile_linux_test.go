package supervisor

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/process"
)

const someKey = "sk-ant-0123456789abcdefghijklmnop"

// A secret that is a word of the answer's form does not spoil the answer.
func TestAnswerOfASecretsWords(t *testing.T) {
	d := newDesk(t)
	d.stop.Environ = append(d.stop.Environ, "DB_PASSWORD=completed")
	d.decides(Completed)
}

// The prompt is an argument, which everybody on the machine can read.
func TestPromptWithoutSecrets(t *testing.T) {
	d := newDesk(t)
	d.stop.Environ = append(d.stop.Environ, "ANTHROPIC_API_KEY="+someKey)
	d.stop.Payload.LastAssistantMessage = "I used " + someKey + "."
	d.decides(Completed)
	if prompt := d.prompt(); strings.Contains(prompt, someKey) || !strings.Contains(prompt, "I used [hidden].") {
		t.Error(prompt)
	}
}

// A reviewer may have read ccc.json.
func TestKeysOfProvidersAreSecret(t *testing.T) {
	d := newDesk(t)
	d.write("ccc.json", `{"providers":{"p":{"env":{"ANTHROPIC_AUTH_TOKEN":"`+someKey+`"}}}}`)
	d.answers(result(false, "it is "+someKey))
	if got := d.decides(NotCompleted); got.Feedback != "it is [hidden]" {
		t.Errorf("%+v", got)
	}
}

// Of a long output only the end is kept, and what it begins with may be half a secret.
func TestHalfASecretOnStandardError(t *testing.T) {
	d := newDesk(t)
	d.stop.Environ = append(d.stop.Environ, "ANTHROPIC_API_KEY="+someKey)
	d.write("noise", someKey+strings.Repeat("x", 64<<10-20)+"\nlast\n")
	d.acts("cat '" + d.path("noise") + "' >&2; exit 1")
	got := d.decides(Unavailable)
	for _, text := range []string{got.Message, d.stderr.String(), logText(t, d.files())} {
		if strings.Contains(text, "lmnop") || !strings.Contains(text, "last") {
			t.Error(excerpt(text))
		}
	}
}

func TestReviewerThatDoesNotStopPrinting(t *testing.T) {
	d := newDesk(t)
	d.acts("head -c 4000000 /dev/zero | tr '\\0' x >'" + d.path("line") + "'; while cat '" + d.path("line") + "'; do echo; done")
	got := d.decides(Unavailable)
	if !strings.Contains(got.Message, "printed more than 256 MiB") {
		t.Errorf("%+v", got)
	}
	info, err := os.Stat(d.files().OutputFile(someSession))
	check(t, err)
	if info.Size() > maxKept {
		t.Errorf("%d bytes are kept", info.Size())
	}
	if log := logText(t, d.files()); !strings.Contains(log, "the rest is not kept") {
		t.Error(log)
	}
}

// What a reviewer leaves behind ends with it, whatever it has thrown away.
func TestReviewerWithChildren(t *testing.T) {
	d := newDesk(t)
	d.acts("env -i setsid sh -c 'echo $$ >\"$0.new\"; mv \"$0.new\" \"$0\"; exec sleep 300' '" + d.path("pid") + "' >/dev/null 2>&1 &\n" +
		"while ! test -e '" + d.path("pid") + "'; do sleep 0.01; done; cat '" + d.path("stream") + "'")
	d.decides(Completed)
	text, err := os.ReadFile(d.path("pid"))
	check(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	check(t, err)
	if start := process.StartTime(pid); start != "" {
		t.Errorf("process %d still runs", pid)
	}
}

func TestPersonIsToldOnce(t *testing.T) {
	for _, status := range []Status{LimitReached, BudgetSpent} {
		if first, again := Verdict(Decision{Status: status}), Verdict(Decision{Status: status, Again: true}); !first.Notify || again.Notify {
			t.Errorf("%s: %+v, %+v", status, first, again)
		}
	}
}

func TestDamagedStateIsTold(t *testing.T) {
	d := newDesk(t)
	check(t, os.Mkdir(d.path("ccc"), 0o700))
	check(t, os.WriteFile(d.files().StateFile(someSession), []byte("{half"), 0o600))
	d.decides(Completed)
	if said := d.stderr.String(); !strings.Contains(said, "could not be read and was moved aside") {
		t.Error(said)
	}
	if s := d.state(); s.Count != 1 {
		t.Errorf("%+v", s)
	}
}
