package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gate/stop"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// SessionPrefix begins the ids of the sessions that doctor plays.
const SessionPrefix = "doctor-"

// probeReason is what the synthetic stop must be blocked with.
const probeReason = "stopgate doctor: this block is a test"

// probeConfig fails until the file "fixed" is there.
const probeConfig = `hooks:
  Stop:
    - run: test -e fixed
      message: "` + probeReason + `"
`

// probe calls each installed Stop command as Claude Code would: once with a
// fault, when it must block, and once without, when it must not. It calls only what
// resolves to this very binary and is exactly as some version of it installs it: a
// settings file may come from anywhere.
func (e *examination) probe(ctx context.Context) {
	if dir := e.hookStateDir(); dir != e.StateDir {
		e.find(Dead, "environment", fmt.Sprintf("env in the settings sets the hook's state directory to %s, where nothing is approved", dir),
			"remove it there, or set it in your shell as well and run: stopgate trust")
		return
	}

	tried := map[string]bool{}
	for _, entry := range e.inForce() {
		key := entry.Command + "\x00" + strings.Join(entry.Args, "\x00")
		if entry.Event != hook.Stop || tried[key] {
			continue
		}
		tried[key] = true

		args, exact := entry.Exactly()
		if !exact {
			e.find(Dead, "live test", fmt.Sprintf("the entry %q is not what stopgate installs, so it was not run", entry.Line()), settings.InstallCommand(e.files))
			continue
		}
		if slices.Contains(e.elsewhere, entry.Program()) {
			continue
		}

		took, err := e.try(ctx, args)
		if err != nil {
			e.find(Dead, "live test", err.Error(), "stopgate log --session "+SessionPrefix)
			continue
		}
		e.find(OK, "live test", fmt.Sprintf("a stop with a failing check was blocked, and allowed once the check passed (%s)", took.Round(time.Millisecond)), "")
	}
}

func (e *examination) try(ctx context.Context, args []string) (took time.Duration, err error) {
	root, err := os.MkdirTemp("", "stopgate-doctor-*")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(root)
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return 0, err
	}
	if err := os.Mkdir(filepath.Join(root, paths.GauntletDir), 0o700); err != nil {
		return 0, err
	}
	if err := os.WriteFile(paths.ProjectConfig(root), []byte(probeConfig), 0o600); err != nil {
		return 0, err
	}
	store := trust.NewStore(e.StateDir)
	if err := store.Approve(root, time.Now()); err != nil {
		return 0, err
	}
	session := SessionPrefix + journal.NewID()
	defer func() {
		err = errors.Join(err, store.Revoke(root))
		stop.NewCounter(e.StateDir).Forget(session, time.Now())
	}()

	answer, took, err := e.callAsClaude(ctx, args, root, session)
	if err != nil {
		return took, err
	}
	if !answer.Blocks || !strings.Contains(answer.Reason, probeReason) {
		return took, fmt.Errorf("a stop that should be blocked was not: the hook answered %s", inWords(answer))
	}
	if err := os.WriteFile(filepath.Join(root, "fixed"), nil, 0o600); err != nil {
		return took, err
	}
	answer, _, err = e.callAsClaude(ctx, args, root, session)
	if err == nil && answer.Blocks {
		err = fmt.Errorf("a stop that should be allowed was blocked: %s", answer.Reason)
	}
	return took, err
}

// inWords is an answer for a person.
func inWords(a hook.Printed) string {
	switch {
	case a.Blocks:
		return "block: " + a.Reason
	case a.Decision != "":
		return a.Decision + ": " + a.Reason
	case a.Message != "":
		return fmt.Sprintf("%q", a.Message)
	}
	return "nothing"
}

// callAsClaude runs a hook's command line as Claude Code does.
func (e *examination) callAsClaude(ctx context.Context, args []string, root, session string) (hook.Printed, time.Duration, error) {
	payload, err := hook.Encode(&hook.StopPayload{Base: hook.Base{
		SessionID:      session,
		TranscriptPath: filepath.Join(root, "transcript.jsonl"),
		HookEventName:  string(hook.Stop),
		CWD:            root,
		PromptID:       session,
	}})
	if err != nil {
		return hook.Printed{}, 0, err
	}

	result := process.Run(ctx, process.Command{
		Args:    args,
		Dir:     root,
		Env:     e.claudeEnviron(root, session),
		Stdin:   append(payload, '\n'),
		Timeout: 30 * time.Second,
		Lines:   5,
	})
	if !result.OK() {
		return hook.Printed{}, result.Duration, fmt.Errorf("the hook failed: %s", strings.TrimSpace(result.String()+"\n"+result.Tail))
	}

	answer, err := hook.ParseAnswer(result.Stdout)
	if err != nil {
		err = fmt.Errorf("the hook did not answer with JSON: %q", bytes.TrimSpace(result.Stdout))
	}
	return answer, result.Duration, err
}
