package attestation

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// namespace keeps our signatures by ssh apart from those on commits and tags: an agent that may commit
// with a person's key does not get an attestation by it.
const namespace = "stopgate"

// Signer signs as git is set up to sign commits.
type Signer struct {
	By   string // the person's email address, as git knows it
	Kind Kind

	program, key string
	environ      []string
}

// SignerOf reads git's settings: gpg.format, user.signingkey and the programs. Without a key nothing is
// signed.
func SignerOf(ctx context.Context, repo git.Repo, variables []string) (s Signer, err error) {
	setting := func(name string) string {
		value, failed := repo.Setting(ctx, name, strings.HasSuffix(name, ".program"))
		err = cmp.Or(err, failed)
		return value
	}
	by := cmp.Or(environ.Get(variables, "GIT_COMMITTER_EMAIL"), setting("user.email")) // as git has it
	s = Signer{By: by, Kind: Unsigned, key: setting("user.signingkey"), environ: variables}
	if s.key == "" || err != nil {
		return s, err
	}

	switch format := cmp.Or(setting("gpg.format"), string(OpenPGP)); format {
	case string(OpenPGP):
		s.Kind, s.program = OpenPGP, cmp.Or(setting("gpg.openpgp.program"), setting("gpg.program"), "gpg")
	case string(SSH):
		s.Kind, s.program = SSH, cmp.Or(setting("gpg.ssh.program"), "ssh-keygen")
		if _, literal := literalKey(s.key); !literal {
			s.key, err = repo.Setting(ctx, "user.signingkey", true)
		}
	default:
		return s, fmt.Errorf("gpg.format is %s: stopgate signs with ssh and openpgp", plain.Line(format))
	}
	return s, err
}

// literalKey is a public key that stands in the setting itself, as git has it.
func literalKey(setting string) (key string, literal bool) {
	if key, found := strings.CutPrefix(setting, "key::"); found {
		return key, true
	}
	return setting, strings.HasPrefix(setting, "ssh-")
}

// sign gives the signature of a text; none where nothing is signed.
func (s Signer) sign(ctx context.Context, text []byte) (string, error) {
	switch s.Kind {
	case SSH:
		return s.signSSH(ctx, text)
	case OpenPGP:
		return s.run(ctx, text, "--detach-sign", "--armor", "--local-user", s.key)
	}
	return "", nil
}

func (s Signer) signSSH(ctx context.Context, text []byte) (string, error) {
	file := s.key
	if key, literal := literalKey(s.key); literal {
		dir, err := os.MkdirTemp("", "stopgate-key-*")
		if err != nil {
			return "", err
		}
		defer os.RemoveAll(dir)
		file = filepath.Join(dir, "key.pub") // ssh-keygen finds the private one in the agent
		if err := atomicfile.Write(file, []byte(key+"\n"), 0o600); err != nil {
			return "", err
		}
	}
	return s.run(ctx, text, "-Y", "sign", "-n", namespace, "-f", file)
}

// run has the program sign a text. It stays in our process group and has our terminal, where it may
// ask for a passphrase.
func (s Signer) run(ctx context.Context, text []byte, args ...string) (string, error) {
	program, found := environ.LookPath(s.environ, s.program)
	if filepath.IsAbs(s.program) {
		program = s.program
	} else if !found {
		return "", fmt.Errorf("%s is not installed", plain.Line(s.program))
	}
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = s.environ, bytes.NewReader(text), &out, &errOut
	if err := cmd.Run(); err != nil {
		if said := strings.TrimSpace(errOut.String()); said != "" {
			err = errors.New(plain.Short(said, 300))
		}
		return "", fmt.Errorf("%s cannot sign: %w", filepath.Base(program), err)
	}
	return out.String(), nil
}
