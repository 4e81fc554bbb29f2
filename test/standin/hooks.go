//go:build unix

package standin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// Session is what a client tells its hooks of itself.
type Session struct {
	ID         string
	CWD        string
	Transcript string
	Prompt     string   // its id; none before the first
	Settings   []string // the files that name the hooks, those that exist
}

// handler is a command in a settings file.
type handler struct {
	Command string
	Args    []string
}

// Hooks are the commands for an event, each once, ready to be run. What is wrong with a file of
// settings does not keep the hooks of the others from running.
func (s *Session) Hooks(event string, fields map[string]any) ([]*exec.Cmd, error) {
	fields["session_id"], fields["transcript_path"], fields["cwd"], fields["hook_event_name"] = s.ID, s.Transcript, s.CWD, event
	if s.Prompt != "" {
		fields["prompt_id"] = s.Prompt
	}
	payload, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}

	tool, _ := fields["tool_name"].(string)
	handlers, err := s.handlers(event, tool)
	var all []*exec.Cmd
	for _, h := range handlers {
		cmd := exec.Command("/bin/sh", "-c", h.Command)
		if h.Args != nil {
			cmd = exec.Command(h.Command, h.Args...)
		}
		cmd.Env = append(os.Environ(), "CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_PROJECT_DIR="+s.CWD)
		cmd.Stdin = bytes.NewReader(append(payload, '\n'))
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		all = append(all, cmd)
	}
	return all, err
}

func (s *Session) handlers(event, tool string) (all []handler, failed error) {
	seen := map[string]bool{}
	for _, path := range s.Settings {
		var file struct {
			Hooks map[string][]struct {
				Matcher string
				Hooks   []handler
			}
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err = errors.Join(err, json.Unmarshal(text, &file)); err != nil {
			failed = errors.Join(failed, err)
			continue
		}

		for _, group := range file.Hooks[event] {
			if tool != "" && !takes(group.Matcher, tool) {
				continue
			}
			for _, h := range group.Hooks {
				if key := fmt.Sprintf("%q %q", h.Command, h.Args); !seen[key] {
					seen[key] = true
					all = append(all, h)
				}
			}
		}
	}
	return all, failed
}

// takes reads a matcher as the client does: plain names are compared as they are, anything
// else is a regular expression.
func takes(matcher, tool string) bool {
	if matcher == "" || matcher == "*" {
		return true
	}
	if plainNames.MatchString(matcher) {
		return slices.Contains(strings.Split(matcher, "|"), tool)
	}
	pattern, err := regexp.Compile(matcher)
	return err == nil && pattern.MatchString(tool)
}

var plainNames = regexp.MustCompile(`^[A-Za-z0-9_|]+$`)
