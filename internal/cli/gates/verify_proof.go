package gates

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/attestation"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// maxAge is how old an attestation may be where nothing else is said: pull requests wait for days.
const maxAge = 7 * 24 * time.Hour

// proofOptions are those of verify-proof.
type proofOptions struct {
	runOptions
	trusted string
	signers string
	maxAge  time.Duration
}

func NewVerifyProof() *cobra.Command {
	o := &proofOptions{maxAge: maxAge}
	cmd := &cobra.Command{
		Use:   "verify-proof [COMMIT]",
		Short: "Accept attested passes and run the other gates",
		Long: `Verify what stopgate run --attest has put on the commit (default: HEAD), accept it for the
gates with accept_proof: true, and run the others, as stopgate run does.

An attestation counts if an allowed signer has signed it for this commit, if the commit is what
is checked out, and if .gauntlet is the one of the trusted commit: --trusted, else the base of
the pull request, else the remote's default branch. The allowed signers are in
.gauntlet/allowed_signers (ssh, as in git's gpg.ssh.allowedSignersFile) and
.gauntlet/allowed_signers.asc (public keys of gpg) of the trusted commit. An attestation that
does not count is named, and its gates run.

Exit code 0: passed, or nothing to do. 1: failed. 2: usage or configuration error. 3: could
not run. 130: interrupted.`,
		Example: `  git fetch origin refs/notes/stopgate:refs/notes/stopgate
  stopgate verify-proof --trusted origin/main
  stopgate verify-proof "$PULL_REQUEST_HEAD" --max-age 2d`,
		Args: term.AtMostOneArg,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, append(args, "HEAD")[0]) },
	}
	cmd.Flags().StringVar(&o.trusted, "trusted", "", "the branch or commit whose .gauntlet and signers count, and from which changes are counted")
	cmd.Flags().StringVar(&o.signers, "allowed-signers", "", "read the allowed signers from this file, which must be outside the checkout")
	cmd.Flags().Var((*term.DurationFlag)(&o.maxAge), "max-age", "how old an attestation may be, such as 12h or 3d")
	cmd.Flags().Lookup("max-age").DefValue = "7d"
	o.registerOutput(cmd)
	return cmd
}

func (o *proofOptions) run(cmd *cobra.Command, revision string) error {
	if err := here.NotEmpty(cmd, "trusted", "allowed-signers"); err != nil {
		return err
	}
	reports, err := reportsFor(o.reports)
	if err != nil {
		return err
	}
	h, options, err := gauntletHere(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if o.trusted != "" {
		options.Scope.Base, options.Scope.Explicit = o.trusted, true
	}

	p := proofs{proofOptions: o, here: h, options: options, repo: git.At(options.Project.Root, options.Environ)}
	if err := p.look(cmd.Context(), revision); err != nil {
		return err
	}
	options.Vouched, o.opinions, o.remarks = p.vouched, p.opinions, p.lines()
	if !o.asJSON {
		for _, line := range o.remarks {
			fmt.Fprintln(cmd.OutOrStdout(), line)
		}
	}
	return o.finish(cmd, h, options, reports, nil)
}

// proofs are the attestations of a commit, and what is made of them.
type proofs struct {
	*proofOptions
	here    *here.Place
	options gauntlet.Options
	repo    git.Repo

	why      string // none counts
	strange  int    // lines of the note that are no attestation
	opinions []attestation.Opinion
	vouched  []gauntlet.Voucher
}

// lines tell people what counts.
func (p *proofs) lines() (lines []string) {
	for _, o := range p.opinions {
		line := plain.Line(o.String())
		if n := p.accepting(o); o.Accepted && n < len(o.Gates) {
			line += fmt.Sprintf(", %d of them with accept_proof", n)
		}
		lines = append(lines, line)
	}
	if p.strange > 0 {
		lines = append(lines, fmt.Sprintf("note: the commit's note has %s that we cannot read", plain.Count(p.strange, "line")))
	}
	if p.why != "" {
		lines = append(lines, "no attestation used: "+plain.Line(p.why))
	}
	return lines
}

// accepting counts the gates of an attestation that accept one.
func (p *proofs) accepting(o attestation.Opinion) (n int) {
	accepting := map[string]bool{}
	for _, job := range gauntlet.Jobs(p.options.Project, p.options.Environ) {
		accepting[job.ID()] = job.Gate().AcceptProof
	}
	for _, gate := range o.Gates {
		if accepting[gate.Job] {
			n++
		}
	}
	return n
}

// look finds out which passes count. An error is about the command line; any other reason why none
// counts only means that all gates run.
func (p *proofs) look(ctx context.Context, revision string) error {
	commit, _, err := p.repo.Commit(ctx, revision)
	if errors.Is(err, git.ErrNoSuchRef) {
		return badRevision(err)
	}
	if err == nil {
		err = p.judge(ctx, commit)
	}
	if usage, is := errors.AsType[term.UsageError](err); is {
		return usage
	}
	if err != nil {
		p.why = err.Error()
	}
	return nil
}

func (p *proofs) judge(ctx context.Context, commit string) error {
	trusted, err := p.trustedCommit(ctx)
	if err != nil {
		return err
	}
	signers, err := p.allowed(ctx, trusted)
	if err != nil {
		return err
	}

	all, strange, err := notesOf(p.here, p.repo).Read(ctx, commit)
	if err != nil {
		return err
	}
	if p.strange = strange; len(all) == 0 {
		return fmt.Errorf("%s has none (git fetch origin %s:%[2]s gets those of the remote)", commit, attestation.Ref)
	}

	expected, err := p.expected(ctx, commit)
	if err == nil {
		err = trusted.SameGates(ctx, commit)
	}
	if err != nil {
		return err
	}

	p.opinions, err = attestation.Judge(ctx, all, signers, expected, p.options.Environ)
	for _, o := range p.opinions {
		for _, gate := range o.Gates {
			p.vouched = append(p.vouched, gauntlet.Voucher{Job: gate.Job, Covers: gate.Covers, By: o.By, At: o.Time})
		}
	}
	return err
}

// trustedCommit finds the commit whose .gauntlet counts. The configuration of the checkout is not
// asked: it is what is under test.
func (p *proofs) trustedCommit(ctx context.Context) (_ attestation.Trusted, err error) {
	t := attestation.Trusted{Repo: p.repo}
	names := []string{p.trusted}
	if p.trusted == "" {
		names = []string{"refs/remotes/origin/HEAD", git.OriginMain}
		if base := environ.Get(p.options.Environ, "GITHUB_BASE_REF"); base != "" {
			names = []string{"refs/remotes/origin/" + base}
		}
	}
	for _, t.Ref = range names {
		if t.Commit, _, err = p.repo.Commit(ctx, t.Ref); err == nil {
			return t, nil
		}
	}
	if p.trusted != "" {
		return t, term.BadUsage(err, "see git branch --all, or run git fetch")
	}
	return t, fmt.Errorf("%s not found; pass the base branch with --trusted", t.Ref)
}

// allowed are the people whose attestations count: never those of the checkout.
func (p *proofs) allowed(ctx context.Context, trusted attestation.Trusted) (s attestation.Signers, err error) {
	if p.signers == "" {
		return trusted.Signers(ctx)
	}
	file, err := filepath.Abs(p.signers)
	if err != nil {
		return s, err
	}
	if top, inside := paths.GitRoot(p.options.Project.Root); inside && within(top, file) {
		return s, term.BadUsage(fmt.Errorf("--allowed-signers %s: the commit under test could allow any key there", p.signers), "leave it out: the file is taken from --trusted")
	}
	text, err := regular.Read(file, 1<<20)
	if err != nil {
		return s, term.BadUsage(fmt.Errorf("--allowed-signers: %w", err), "see: stopgate verify-proof --help")
	}
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("-----BEGIN PGP")) {
		return attestation.Signers{Keys: text}, nil
	}
	return attestation.Signers{Allowed: text}, nil
}

// within reports whether a file is in a directory, also through links.
func within(dir, file string) bool {
	if rel, err := filepath.Rel(paths.Canonical(dir), paths.Canonical(file)); err == nil && filepath.IsLocal(rel) {
		return true
	}
	rel, err := filepath.Rel(dir, file)
	return err == nil && filepath.IsLocal(rel)
}

// expected is what an attestation must be about: the commit, which must be what is checked out, and
// .gauntlet as it is here.
func (p *proofs) expected(ctx context.Context, commit string) (e attestation.Expected, err error) {
	location, err := p.repo.Locate(ctx, "", "HEAD")
	if err != nil {
		return e, err
	}
	e = attestation.Expected{Commit: commit, Project: location.Prefix(p.options.Project.Root), Now: p.options.Now(), MaxAge: p.maxAge}
	here, err := p.repo.TreeOf(ctx, location.Head)
	if err != nil {
		return e, err
	}
	if e.Tree, err = p.repo.TreeOf(ctx, commit); err != nil {
		return e, err
	}
	if e.Tree != here {
		return e, fmt.Errorf("%s is not what is checked out", commit)
	}
	live, err := p.here.Trust().Take(p.options.Project.Root)
	e.Approval = live.ID()
	return e, err
}
