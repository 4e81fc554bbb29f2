package attestation

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// maxSigners is far more than a list of people takes.
const maxSigners = 1 << 20

// Trusted is a commit whose .gauntlet counts, whatever the commit under test says: the latter could
// allow its author's own key, or a gate that checks nothing.
type Trusted struct {
	Repo   git.Repo // called in the project's root
	Ref    string   // as people know it
	Commit string
}

// SameGates says in what the gates of a commit are not those of the trusted one.
func (t Trusted) SameGates(ctx context.Context, commit string) error {
	if commit == t.Commit {
		return fmt.Errorf("%s is the commit itself; pass an ancestor of it with --trusted", t.Ref)
	}
	trusted, err := t.gauntlet(ctx, t.Commit)
	if err != nil {
		return err
	}
	tested, err := t.gauntlet(ctx, commit)
	switch {
	case err != nil:
		return err
	case len(trusted) == 0:
		return fmt.Errorf("%s has no %s", t.Ref, paths.GauntletDir)
	case !maps.Equal(trusted, tested):
		return fmt.Errorf("%s is not the one of %s", paths.GauntletDir, t.Ref)
	}
	return nil
}

// gauntlet lists the files of .gauntlet in a commit. What lies behind a link is not in the list, so
// none may be there.
func (t Trusted) gauntlet(ctx context.Context, commit string) (map[string]git.Blob, error) {
	files, err := t.Repo.Listed(ctx, commit, paths.GauntletDir)
	if err != nil {
		return nil, err
	}
	for name, blob := range files {
		if !blob.Regular() {
			return nil, fmt.Errorf("%q is a link", name)
		}
	}
	return files, nil
}

// Signers reads who may attest.
func (t Trusted) Signers(ctx context.Context) (s Signers, err error) {
	files, err := t.gauntlet(ctx, t.Commit)
	if err != nil {
		return s, err
	}
	for name, to := range map[string]*[]byte{paths.SignersFile: &s.Allowed, paths.KeysFile: &s.Keys} {
		path := paths.GauntletDir + "/" + name
		blob, found := files[path]
		if !found {
			continue
		}
		text, err := t.Repo.Raw(ctx, blob.ID, maxSigners)
		if err != nil {
			return Signers{}, fmt.Errorf("%s of %s: %w", path, t.Ref, err)
		}
		*to = []byte(text)
	}
	if len(s.Allowed)+len(s.Keys) == 0 {
		return s, errors.New(t.Ref + " has no " + paths.GauntletDir + "/" + paths.SignersFile)
	}
	return s, nil
}
