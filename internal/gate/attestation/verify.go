package attestation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// Signers are the people whose attestations count.
type Signers struct {
	Allowed []byte // as in git's gpg.ssh.allowedSignersFile
	Keys    []byte // public keys, as gpg exports them
}

// verifier verifies signatures in a directory of its own.
type verifier struct {
	Signers
	dir     string
	environ []string
}

// newVerifier writes down what the programs read. The person's own keys are not looked at: what gpg
// happens to know is not what a project allows.
func newVerifier(s Signers, environ []string) (*verifier, func(), error) {
	dir, err := os.MkdirTemp("", "stopgate-verify-*")
	if err != nil {
		return nil, nil, err
	}
	remove := func() { _ = os.RemoveAll(dir) }
	v := &verifier{s, dir, environ}
	for name, text := range map[string][]byte{"allowed": s.Allowed, "keys": s.Keys} {
		if err := atomicfile.Write(v.file(name), text, 0o600); err != nil {
			remove()
			return nil, nil, err
		}
	}
	return v, remove, nil
}

func (v *verifier) file(name string) string { return filepath.Join(v.dir, name) }

// signer is who signed the attestation; an error if no allowed person did.
func (v *verifier) signer(ctx context.Context, a Attestation) (string, error) {
	if a.Kind == Unsigned {
		return "", errors.New("not signed")
	}
	if err := atomicfile.Write(v.file("signature"), []byte(a.Signature), 0o600); err != nil {
		return "", err
	}
	if a.Kind == SSH {
		return v.ssh(ctx, a)
	}
	return v.openPGP(ctx, a)
}

var errNotAllowed = errors.New("not signed by an allowed signer")

func (v *verifier) ssh(ctx context.Context, a Attestation) (string, error) {
	if len(v.Allowed) == 0 {
		return "", errNotAllowed
	}
	found, err := v.run(ctx, nil, "ssh-keygen", "-Y", "find-principals", "-f", v.file("allowed"), "-s", v.file("signature"))
	if err != nil {
		return "", err
	}
	for name := range strings.Lines(string(found.Stdout)) {
		name = strings.TrimSpace(name)
		if name == "" || !found.OK() {
			continue
		}
		r, err := v.run(ctx, a.Statement, "ssh-keygen", "-Y", "verify", "-n", namespace, "-I", name, "-f", v.file("allowed"), "-s", v.file("signature"))
		if err != nil {
			return "", err
		}
		if r.OK() {
			return plain.Line(name), nil
		}
	}
	return "", errNotAllowed
}

// openPGP verifies with a keyring that holds the allowed keys and no others.
func (v *verifier) openPGP(ctx context.Context, a Attestation) (string, error) {
	if len(v.Keys) == 0 {
		return "", errNotAllowed
	}
	gpg := []string{"gpg", "--homedir", v.dir, "--batch", "--no-tty", "--quiet", "--no-autostart", "--trust-model", "always", "--status-fd", "1"}
	if _, err := v.run(ctx, nil, append(slices.Clone(gpg), "--import", v.file("keys"))...); err != nil {
		return "", err
	}
	r, err := v.run(ctx, a.Statement, append(slices.Clone(gpg), "--verify", v.file("signature"), "-")...)
	if err != nil {
		return "", err
	}
	// A key or a signature that has expired, or was revoked, has another word than GOODSIG.
	const good = "[GNUPG:] GOODSIG "
	for line := range strings.Lines(string(r.Stdout)) {
		if rest, found := strings.CutPrefix(line, good); found && r.OK() {
			_, name, _ := strings.Cut(strings.TrimSpace(rest), " ")
			return plain.Line(name), nil
		}
	}
	return "", errNotAllowed
}

// run starts a program that needs no more than moments.
func (v *verifier) run(ctx context.Context, stdin []byte, args ...string) (process.Result, error) {
	program, found := environ.LookPath(v.environ, args[0])
	if !found {
		return process.Result{}, fmt.Errorf("cannot be verified: %s is not installed", args[0])
	}
	r := process.Run(ctx, process.Command{Args: append([]string{program}, args[1:]...), Dir: v.dir, Env: v.environ, Stdin: stdin, Timeout: time.Minute})
	if r.Err != nil || r.TimedOut || r.Canceled {
		return r, fmt.Errorf("cannot be verified: %s %s", args[0], r)
	}
	return r, nil
}
