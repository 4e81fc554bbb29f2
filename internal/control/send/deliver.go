package send

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/project/registry"
	"github.com/stopgate/stopgate/internal/session/wake"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// deliver hands a letter to the agent's gateway. The note is for the log: what is worth
// knowing of a delivery. Errors that are no failure of ours are passing ones.
func (s Sender) deliver(ctx context.Context, a registry.OutsideAgent, l wake.Letter) (note string, err error) {
	switch a.Gateway.Transport {
	case registry.ViaOpenClaw:
		return s.runOpenClaw(ctx, a, l)
	case registry.ViaOpenClawHTTP:
		return s.postOpenClaw(ctx, a, l)
	case registry.ViaWebhook:
		return s.postWebhook(ctx, a, l)
	case registry.ViaCommand:
		return "", s.runCommand(ctx, a, l)
	case registry.ViaSession:
		return "", s.typeInto(ctx, a, l)
	}
	return "", fixable("the registry names an unknown transport %q", a.Gateway.Transport)
}

// typeInto has the message typed into the session of another client.
func (s Sender) typeInto(ctx context.Context, a registry.OutsideAgent, l wake.Letter) error {
	switch {
	case s.Type == nil:
		return fixable("typing into a session is not available here")
	case a.Gateway.Session == "":
		return fixable("the registry names no session for agent %q", a.AgentID)
	}
	err := s.Type(ctx, a.Gateway.Session, l.Key, l.Body)
	var verdict interface{ Refused() bool }
	if errors.As(err, &verdict) && verdict.Refused() {
		return fixable("%v", err)
	}
	return err
}

// runCommand gives the message to a person's own command.
func (s Sender) runCommand(ctx context.Context, a registry.OutsideAgent, l wake.Letter) error {
	if len(a.Gateway.Command) == 0 {
		return fixable("the registry names no command for agent %q", a.AgentID)
	}
	program, err := s.program(a.Gateway.Command[0])
	if err != nil {
		return err
	}

	env := s.environ(l)
	for _, v := range [][2]string{
		{"EVENT", l.Event},
		{"KIND", string(l.Kind)},
		{"SESSION", l.Session},
		{"AGENT_ID", l.AgentID},
	} {
		env = append(env, "STOPGATE_"+v[0]+"="+strings.ReplaceAll(v[1], "\x00", ""))
	}

	r := process.Run(ctx, process.Command{
		Args:    append([]string{program}, a.Gateway.Command[1:]...),
		Dir:     s.ConfigDir,
		Env:     env,
		Stdin:   []byte(l.Body),
		Timeout: s.command,
		Lines:   reasonLines,
	})
	switch {
	case r.OK():
		return nil
	case r.Err != nil:
		return notStarted(program, r.Err)
	}
	return passing("%s %s%s", filepath.Base(program), r, said(r.Tail))
}

// reasonLines is how many of the last lines of a program tell why it failed.
const reasonLines = 3

// said is what a program printed, behind what became of it.
func said(tail string) string {
	if tail = strings.TrimPrefix(tail, "[…]\n"); tail != "" {
		return ": " + tail
	}
	return ""
}

func (s Sender) program(name string) (string, error) {
	path, found := registry.Program(s.ConfigDir, name, s.Environ)
	if !found {
		return "", fixable("the program %q is not on the PATH", name)
	}
	return path, nil
}

// secret reads a token from where the registry says it is. Where it names neither a
// variable nor a file, there is none.
func (s Sender) secret(variable, file string) (string, error) {
	var text string
	switch {
	case variable != "":
		text = strings.TrimSpace(environ.Get(s.Environ, variable))
		file = "the variable " + variable
	case file != "":
		file = registry.File(s.ConfigDir, file, s.Environ)
		content, err := jsonfile.ReadText(file)
		if err != nil {
			return "", fixable("%v", err)
		}
		text = strings.TrimSpace(string(content))
	default:
		return "", nil
	}

	if text == "" {
		return "", fixable("%s is empty or not set", file)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", fixable("%s has more than one line", file)
	}
	return text, nil
}

// clean makes the reason one short line that holds none of the gateway's secrets. What
// a gateway or a program answers may repeat them.
func (s Sender) clean(a registry.OutsideAgent, cause error) error {
	f := failure{}
	if known := (*failure)(nil); errors.As(cause, &known) {
		f = *known
	}
	f.reason = s.secrets(a).Line(cause.Error())
	return &f
}
