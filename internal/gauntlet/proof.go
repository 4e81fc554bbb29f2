package gauntlet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gauntlet/change"
	"github.com/stopgate/stopgate/internal/process"
)

// prover names what a pass of a gate holds for: its definition and all that it
// may have read. Two runs with the same name must come out the same.
type prover struct {
	worktree  *change.Worktree
	tree      change.Tree
	mergeBase string
	configDir string // an approved copy is named after its content
	environ   []string
	root      string
}

// key is the name under which a pass of the job is remembered; empty when a pass
// proves nothing.
func (p prover) key(ctx context.Context, job *Job) string {
	gate := job.Gate()
	content := ""
	if gate.Cache {
		content = p.content(ctx, gate.Inputs)
	}
	if content == "" {
		return ""
	}
	hash := sha256.New()
	add := func(parts ...string) {
		for _, part := range parts {
			fmt.Fprintf(hash, "%d:%s,", len(part), part)
		}
	}
	add("p1", job.definition(), content, p.configDir)
	if job.Kind == KindReview || strings.Contains(job.Check.Command, "BASE_BRANCH") {
		add("base", p.mergeBase)
	}
	for _, name := range gate.Env {
		value, set := lookup(p.environ, name)
		add("env", name, value, fmt.Sprint(set))
	}
	for _, tool := range gate.Tools {
		version, ok := p.version(ctx, tool)
		if !ok {
			return ""
		}
		add("tool", tool, version)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// content is a digest of what the gate may read: the whole tree unless it says
// what it reads. It is empty where it cannot be told exactly.
func (p prover) content(ctx context.Context, inputs []string) string {
	tree := p.tree
	if len(inputs) > 0 {
		var err error
		if tree, err = p.worktree.Inputs(ctx, inputs); err != nil {
			return ""
		}
	}
	if !tree.Exact {
		return ""
	}
	return tree.ID
}

// version is what a tool says about itself.
func (p prover) version(ctx context.Context, tool string) (string, bool) {
	const patience = 10 * time.Second
	r := process.Run(ctx, process.Command{Args: process.Shell(tool), Dir: p.root, Env: p.environ, Timeout: patience})
	return r.Tail, r.OK()
}

// lookup finds a variable. As for a process, the last one counts.
func lookup(environ []string, name string) (string, bool) {
	for _, entry := range slices.Backward(environ) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value, true
		}
	}
	return "", false
}
