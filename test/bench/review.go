//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
)

// review measures what the supervisor adds to the time of its reviewer, in a
// repository and with a conversation of some size.
func review(ctx context.Context, l *lab, r *report) error {
	const limit, rounds = 1.05, 10
	dir, err := l.repository(ctx, "reviewed", 5_000, nil)
	if err != nil {
		return err
	}
	if err := change(dir, 20); err != nil {
		return err
	}
	ran := l.path("reviews")
	reviewer := l.path("bin/reviewer")
	if err := write(reviewer, "#!/bin/sh\necho >> "+ran+"\nsleep 1\necho '"+refusal+"'\n"); err != nil {
		return err
	}
	if err := os.Chmod(reviewer, 0o700); err != nil {
		return err
	}
	if err := l.unlimited(); err != nil {
		return err
	}
	transcript := l.path("transcript.jsonl")
	if err := write(transcript, conversation(4<<20)); err != nil {
		return err
	}
	hook, err := l.supervisorHook(dir, "bench", transcript, reviewer)
	if err != nil {
		return err
	}
	alone := program{name: "reviewer", dir: dir, args: []string{reviewer}, wants: "completed"}
	if err := settle(ctx); err != nil {
		return err
	}
	status := program{name: "git status", dir: dir, args: []string{"git", "status", "--porcelain"}, wants: fileName(0)}
	if _, _, err := l.run(ctx, status); err != nil { // git writes its index, as it does for a person
		return err
	}
	s, err := l.race(ctx, rounds, alone, hook)
	if err != nil {
		return err
	}
	if lines, _ := os.ReadFile(ran); bytes.Count(lines, []byte("\n")) != 2*(warmUp+rounds) {
		return fmt.Errorf("%d reviews, not one for each stop", bytes.Count(lines, []byte("\n")))
	}
	r.table("**A review that takes a second**, against the reviewer alone: 5,000 files, a transcript of 4 MB")
	r.reference("stand-in reviewer", &s[0])
	r.row("stopgate supervisor-hook", &s[1], figure{s[1].ratioTo(&s[0]), "times the reviewer", limit})
	return nil
}

// refusal is a reviewer's last line.
const refusal = `{"type":"result","subtype":"success","is_error":false,"result":"","structured_output":{"completed":false,"feedback":"There is more to do."},"total_cost_usd":0.01,"usage":{"input_tokens":10,"output_tokens":10}}`

// unlimited lets a session be reviewed as often as can be said.
func (l *lab) unlimited() error {
	return write(l.path(".claude/ccc.json"), `{"supervisor": {"max_iterations": 100}}`)
}

// supervisorHook is the hook as a supervised client calls it. It must send the agent
// back, so it has waited for the reviewer.
func (l *lab) supervisorHook(dir, session, transcript, reviewer string) (program, error) {
	payload := l.path("payload-" + session + ".json")
	text := fmt.Sprintf(`{"session_id":%q,"prompt_id":"p","transcript_path":%q,"cwd":%q,"hook_event_name":"Stop","stop_hook_active":false,"last_assistant_message":"All done."}`, session, transcript, dir)
	return program{
		name: "supervisor-hook", dir: dir, stdin: payload, wants: `"decision":"block"`,
		args: []string{l.stopgate, "supervisor-hook"},
		env:  []string{"CCC_SUPERVISOR=1", "CCC_CLAUDE=" + reviewer, "CLAUDE_PROJECT_DIR=" + dir},
	}, write(payload, text)
}

// conversation is a transcript of about that size: prompts, between them the output of tools, and
// what the agent said last, for which the hook would wait.
func conversation(size int) string {
	var b strings.Builder
	output := strings.Repeat("a line that a tool has printed\\n", 100)
	for n := 0; b.Len() < size; n++ {
		if n%50 == 0 {
			fmt.Fprintf(&b, `{"type":"user","message":{"role":"user","content":"Do the part %d."}}`+"\n", n/50)
			continue
		}
		fmt.Fprintf(&b, `{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"Bash","input":{"command":"make"}}]}}`+"\n", n)
		fmt.Fprintf(&b, `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"%s"}]}}`+"\n", n, output)
	}
	b.WriteString(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"All done."}]}}` + "\n")
	return b.String()
}
