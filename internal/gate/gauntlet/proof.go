package gauntlet

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// prover names what a pass of a gate holds for: its definition and all that it
// may have read. Two runs with the same name must come out the same.
type prover struct {
	*execution
	tree     change.Tree
	base     string // what BASE_BRANCH says
	position change.Position
	versions map[string]string // of the tools that were asked; empty where one could not say
	staged   string            // digest of the index, once it is known
	gauntlet string            // digest of the configuration and its scripts, once it is known
	until    time.Time         // when reading inputs takes too long
}

// key is the name under which a pass of the job is remembered; empty when a pass
// proves nothing.
func (p *prover) key(ctx context.Context, job *Job) string {
	gate := job.Gate()
	if !gate.Cache {
		return ""
	}

	approval := p.Project.Approval // id of what the gates run of .gauntlet; empty without trust
	content, own := p.content(ctx, job), cmp.Or(approval, paths.GauntletDir)
	if approval == "" && (len(gate.Inputs) > 0 || !p.tree.Has(paths.GauntletDir+"/"+paths.ConfigFile)) {
		own = p.configuration(ctx)
	}
	if content == "" || own == "" {
		return ""
	}

	hash := sha256.New()
	add := into(hash)
	add("p2", job.definition(), content, own, p.base)
	if job.Check == nil {
		add("diff", p.position.MergeBase)
	}

	if p.readsGit(job) {
		staged := p.index(ctx)
		if staged == "" {
			return ""
		}
		at := p.position
		add("git", at.Head, at.Branch, at.Base, at.BaseCommit, staged)
	}

	if !p.outside(ctx, gate, add) {
		return ""
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// covers is a name for what a pass of the job holds for that another machine comes to as well, if
// all of it is the same there. It is empty where no machine could tell. Two parts of the key are not
// in it: the approval, which is looked at apart, and the base, which a shallow clone does not have; only
// passes against the configured one are attested. The state of git is never the same elsewhere: the branch,
// the index and the base differ.
func (p *prover) covers(ctx context.Context, job *Job) string {
	gate := job.Gate()
	if !gate.Cache || p.readsGit(job) {
		return ""
	}
	content := p.content(ctx, job)
	if content == "" || job.Check == nil && p.position.MergeBase == "" {
		return ""
	}

	hash := sha256.New()
	add := into(hash)
	add("a1", job.definition(), content)
	if job.Check == nil {
		add("diff", p.position.MergeBase)
	}
	if !p.outside(ctx, gate, add) {
		return ""
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// into writes texts so that no two lists of them come to the same.
func into(w io.Writer) func(parts ...string) {
	return func(parts ...string) {
		for _, part := range parts {
			fmt.Fprintf(w, "%d:%s,", len(part), part)
		}
	}
}

// outside adds the variables and the versions that the gate names; false where a tool cannot say
// its version.
func (p *prover) outside(ctx context.Context, gate *config.Gate, add func(...string)) bool {
	for _, name := range gate.Env {
		value, set := environ.Lookup(p.Environ, name)
		add("env", name, value, fmt.Sprint(set))
	}
	for _, tool := range gate.Tools {
		version := p.version(ctx, tool)
		if version == "" {
			return false
		}
		add("tool", tool, version)
	}
	return true
}

// content is a digest of what the gate may read: the whole tree unless it says
// what it reads. It is empty where it cannot be told exactly.
func (p *prover) content(ctx context.Context, job *Job) string {
	if len(job.Gate().Inputs) == 0 {
		return p.tree.Known()
	}
	return p.inputs(ctx, job.Gate().Inputs, job.home())
}

// configuration is a digest of .gauntlet/, for where the content leaves it out: a
// gate may run scripts of it although git ignores them, or inputs do not name them.
func (p *prover) configuration(ctx context.Context) string {
	if p.gauntlet == "" {
		p.gauntlet = p.inputs(ctx, []string{paths.GauntletDir}, "")
	}
	return p.gauntlet
}

// inputs is a digest of the files that the patterns name, empty where one names none. Like the tree they have a limited time
// to be read in, apart from the gates'.
func (p *prover) inputs(ctx context.Context, patterns []string, dir string) string {
	if p.until.IsZero() {
		p.until = time.Now().Add(p.looking)
	}
	ctx, cancel := context.WithDeadline(ctx, p.until)
	defer cancel()
	tree, _ := p.execution.tree.Inputs(ctx, patterns, dir) // not known where it fails
	return tree.Known()
}

// index is a digest of what is staged; empty where that cannot be told.
func (p *prover) index(ctx context.Context) string {
	if p.staged == "" && !p.position.Git {
		p.staged = "none"
	}
	if p.staged == "" {
		p.staged, _ = p.execution.tree.Staged(ctx, p.position.Head) // not known where it fails
	}
	return p.staged
}

// version is what a tool says about itself, asked once; empty when it cannot.
func (p *prover) version(ctx context.Context, tool string) string {
	version, asked := p.versions[tool]
	if !asked {
		const patience = 10 * time.Second
		if r := p.Project.Content.Run(ctx, process.Command{Args: process.Shell(tool), Dir: p.Project.Root, Env: p.Environ, Timeout: patience}); r.OK() {
			version = "=" + r.Tail
		}
		p.versions[tool] = version
	}
	return version
}
