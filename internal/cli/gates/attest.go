package gates

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/attestation"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// attested is what run --attest has put on a commit.
type attested struct {
	Commit string           `json:"commit"`
	By     string           `json:"by"`
	Kind   attestation.Kind `json:"kind"`
	Gates  []string         `json:"gates"`
	// Left are gates whose passes no other machine could verify.
	Left []string `json:"left,omitempty"`
}

// attester puts what a run has proven on the commit.
type attester struct {
	ctx     context.Context
	out     io.Writer
	options gauntlet.Options
	repo    git.Repo
	notes   attestation.Notes
	signer  attestation.Signer
	id      string // of .gauntlet
}

// newAttester looks at all that can be known before the gates run: they may take long.
func newAttester(cmd *cobra.Command, h *here.Place, options gauntlet.Options) (*attester, error) {
	for _, flag := range []string{"gate", "commit", "uncommitted", "base-branch"} { // checks are told the base
		if cmd.Flags().Changed(flag) {
			return nil, term.BadUsage(fmt.Errorf("--attest and --%s cannot be combined: all gates must pass, against the base of the configuration", flag), "see: stopgate run --help")
		}
	}
	if err := trust.RequirePerson("attest: the key is a person's", true); err != nil {
		return nil, err
	}

	a := &attester{ctx: cmd.Context(), out: term.Prose(cmd.OutOrStdout()), options: options, repo: git.At(options.Project.Root, options.Environ)}
	if asJSON, _ := cmd.Flags().GetBool("json"); asJSON {
		a.out = io.Discard
	}
	a.notes = notesOf(h, a.repo)

	if len(options.Project.Edited) > 0 {
		return nil, term.CannotRun(errors.New("cannot attest: .gauntlet is not as it was approved, so the commit has other gates than those that run"), "approve it with: stopgate trust")
	}
	live, err := h.Trust().Take(options.Project.Root)
	if err != nil {
		return nil, term.WithCode(err, term.ExitCouldNotRun)
	}
	a.id = live.ID()

	if _, err := gauntlet.Committed(a.ctx, options); err != nil {
		return nil, term.CannotRun(fmt.Errorf("cannot attest: %w", err), "an attestation is about a commit: commit or stash everything first")
	}
	if err := a.repo.CanCommit(a.ctx); err != nil {
		return nil, term.CannotRun(fmt.Errorf("cannot attest: %w", err), "tell git who you are: git config --global user.email NAME@EXAMPLE")
	}
	if a.signer, err = attestation.SignerOf(a.ctx, a.repo, options.Environ); err != nil {
		return nil, term.CannotRun(fmt.Errorf("cannot attest: %w", err), "see: git config --get-regexp '^(gpg|user)[.]'")
	}
	return a, nil
}

// notesOf are the attestations of the repository here.
func notesOf(h *here.Place, repo git.Repo) attestation.Notes {
	return attestation.Notes{Repo: repo, Lock: filepath.Join(h.StateDir, "locks", "notes-"+trust.RepositoryKey(h.Root)+lockfile.Suffix)}
}

// attest follows on gates that passed.
func (a *attester) attest(o *runView) error {
	claims, err := gauntlet.ClaimsOf(a.ctx, a.options)
	if err == nil && len(claims.Passed) > 0 {
		err = a.add(claims)
	}
	if err != nil {
		return term.WithCode(fmt.Errorf("the gates passed, but nothing was attested: %w", err), term.ExitCouldNotRun)
	}
	o.Attested = a.said(claims)
	a.print(o.Attested)
	return nil
}

func (a *attester) add(claims gauntlet.Claims) error {
	tree, err := a.repo.TreeOf(a.ctx, claims.Commit)
	if err != nil {
		return err
	}
	s := attestation.Statement{
		Commit: claims.Commit, Tree: tree, Project: claims.Prefix, Approval: a.id, Time: a.options.Now(),
	}
	for _, claim := range claims.Passed {
		s.Gates = append(s.Gates, attestation.Gate(claim))
	}
	signed, err := attestation.New(a.ctx, s, a.signer)
	if err != nil {
		return err
	}
	return a.notes.Add(a.ctx, claims.Commit, signed)
}

func (a *attester) said(claims gauntlet.Claims) *attested {
	said := &attested{Commit: claims.Commit, By: a.signer.By, Kind: a.signer.Kind, Gates: []string{}, Left: claims.Left}
	for _, claim := range claims.Passed {
		said.Gates = append(said.Gates, claim.Job)
	}
	return said
}

func (a *attester) print(said *attested) {
	for _, left := range said.Left {
		fmt.Fprintf(a.out, "note: not attested: %s\n", plain.Line(left))
	}
	if len(said.Gates) == 0 {
		fmt.Fprintln(a.out, "nothing to attest: no gate has a pass that another machine could accept")
		return
	}
	signed := "signed with " + string(said.Kind)
	if said.Kind == attestation.Unsigned {
		signed = "unsigned, because git has no user.signingkey: verify-proof does not accept it"
	}
	fmt.Fprintf(a.out, "attested %s: %s, %s\n", said.Commit, plain.Count(len(said.Gates), "gate"), signed)
	if !slices.ContainsFunc(gatesOf(a.options.Project.Gates, ""), func(g *config.Gate) bool { return g.AcceptProof }) {
		fmt.Fprintln(a.out, "note: no gate has accept_proof: true, so CI runs them all")
	}
	fmt.Fprintln(a.out, "to share it: git push origin "+attestation.Ref)
}
