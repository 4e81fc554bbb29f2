//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// decision measures a stop on a tree that is proven, where no gate has to run,
// against the least that one can ask git for.
func decision(ctx context.Context, l *lab, r *report) error {
	const limit = 2.0
	r.table("**Stop decision on a proven tree**, one file changed, against `git status --porcelain`")

	ran := l.path("ran")
	small, err := l.repository(ctx, "small", 5_000, project("echo >> "+ran))
	if err != nil {
		return err
	}
	if err := l.decide(ctx, r, small, ran, "5,000 files", 100, limit); err != nil {
		return err
	}
	if err := untracked(small, 4, 256<<20); err != nil {
		return err
	}
	if err := l.decide(ctx, r, small, ran, "5,000 files and 1 GB untracked", 40, 0); err != nil {
		return err
	}
	large, err := l.repository(ctx, "large", 100_000, project("echo >> "+ran))
	if err != nil {
		return err
	}
	return l.decide(ctx, r, large, ran, "100,000 files", 15, 0)
}

// decide measures both ways to ask for a decision. The check writes to the file
// ran, so a gate that ran after all cannot stay hidden. Each repository has a session
// of its own: one that went on from another repository would be asked about both, and
// about the second as one that was made while it worked.
func (l *lab) decide(ctx context.Context, r *report, dir, ran, about string, rounds int, limit float64) error {
	payload := l.path("payload.json")
	text := fmt.Sprintf(`{"session_id":%q,"prompt_id":"p","transcript_path":"%[2]s/t.jsonl","cwd":"%[2]s","hook_event_name":"Stop","stop_hook_active":false,"last_assistant_message":"done"}`, filepath.Base(dir), dir)
	if err := os.WriteFile(payload, []byte(text), 0o600); err != nil {
		return err
	}
	status := program{name: "git status", dir: dir, args: []string{"git", "status", "--porcelain"}, wants: fileName(0)}
	stopHook := program{name: "stop-hook", dir: dir, args: []string{l.stopgate, "stop-hook"}, stdin: payload, wants: "nothing had to run"}
	hook := program{name: "hook Stop", dir: dir, args: []string{l.stopgate, "hook", "Stop"}, stdin: payload}

	if err := change(dir, 1); err != nil {
		return err
	}
	if err := settle(ctx); err != nil {
		return err
	}
	for _, first := range []program{status, hook} { // git writes its index, then the gate runs
		if _, _, err := l.run(ctx, first); err != nil {
			return err
		}
	}
	before, err := os.ReadFile(ran)
	if err != nil {
		return err
	}
	s, err := l.race(ctx, rounds, status, hook, stopHook)
	if err != nil {
		return err
	}
	if after, _ := os.ReadFile(ran); len(after) != len(before) {
		return fmt.Errorf("%s: a gate ran although the tree was proven", about)
	}
	r.reference("git status --porcelain, "+about, &s[0])
	r.row("stopgate hook Stop, "+about, &s[1], figure{s[1].ratioTo(&s[0]), "times git", limit})
	r.row("stopgate stop-hook, "+about, &s[2], figure{s[2].ratioTo(&s[0]), "times git", limit})
	return nil
}

// untracked writes files that git does not know.
func untracked(dir string, files, size int) error {
	block := make([]byte, 1<<20)
	for i := range files {
		file, err := os.Create(filepath.Join(dir, fmt.Sprintf("untracked%d", i)))
		if err != nil {
			return err
		}
		for written := 0; written < size && err == nil; written += len(block) {
			_, err = file.Write(block)
		}
		if closed := file.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return err
		}
	}
	return nil
}
