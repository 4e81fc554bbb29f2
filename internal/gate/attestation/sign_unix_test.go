//go:build unix

package attestation

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/git"
)

// machine is a repository with one commit, and a person's keys.
type machine struct {
	t    *testing.T
	dir  string
	env  []string
	head string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	environtest.Need(t, "ssh-keygen")
	home, err := os.MkdirTemp("", "sg-") // the path of gpg's socket must be short
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(home) })
	m := &machine{t: t, dir: filepath.Join(home, "repo"), env: append(os.Environ(), "HOME="+home, "GNUPGHOME="+home, "GIT_CONFIG_NOSYSTEM=1")}
	check(t, os.Mkdir(m.dir, 0o700))
	m.run("git", "init", "-q", "-b", "main", ".")
	m.set("user.name", "Alice")
	m.set("user.email", "alice@example.com")
	m.run("git", "commit", "-q", "--allow-empty", "-m", "first")
	m.head = strings.TrimSpace(m.run("git", "rev-parse", "HEAD"))
	return m
}

func (m *machine) run(args ...string) string {
	m.t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = m.dir, m.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (m *machine) set(name, value string) { m.run("git", "config", name, value) }

func (m *machine) repo() git.Repo { return git.At(m.dir, m.env) }

func (m *machine) file(name string) string { return filepath.Join(filepath.Dir(m.dir), name) }

// key makes a key of ssh; line is it in a list of allowed signers.
func (m *machine) key(name string) (file, line string) {
	m.t.Helper()
	file = m.file(name)
	m.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", file)
	public, err := os.ReadFile(file + ".pub")
	check(m.t, err)
	return file, name + "@example.com " + string(public)
}

// attest signs a statement as git is set up here.
func (m *machine) attest(s Statement) Attestation {
	m.t.Helper()
	signer, err := SignerOf(m.t.Context(), m.repo(), m.env)
	check(m.t, err)
	a, err := New(m.t.Context(), s, signer)
	check(m.t, err)
	return a
}

// judge is the opinion on one attestation.
func (m *machine) judge(a Attestation, signers Signers) Opinion {
	m.t.Helper()
	s := example()
	all, err := Judge(m.t.Context(), []Attestation{a}, signers, Expected{s.Commit, s.Tree, s.Project, s.Approval, noon, time.Hour}, m.env)
	check(m.t, err)
	return all[0]
}

func (m *machine) wantRefused(what string, a Attestation, signers Signers) {
	m.t.Helper()
	if o := m.judge(a, signers); o.Accepted || len(o.Gates) > 0 || o.Why != errNotAllowed.Error() {
		m.t.Errorf("%s: %+v", what, o)
	}
}

func TestIssue19SignedWithSSH(t *testing.T) {
	m := newMachine(t)
	file, line := m.key("alice")
	other, otherLine := m.key("mallory")
	m.set("gpg.format", "ssh")
	m.set("user.signingkey", "~/alice")
	a := m.attest(example())
	if a.Kind != SSH || a.By != "alice@example.com" {
		t.Fatalf("%+v", a)
	}

	for name, allowed := range map[string]string{
		"alone":      line,
		"second":     otherLine + "# a comment\n" + line,
		"namespace":  strings.Replace(line, " ", ` namespaces="git,stopgate" `, 1),
		"still good": strings.Replace(line, " ", ` valid-before="20990101" `, 1),
	} {
		if o := m.judge(a, Signers{Allowed: []byte(allowed)}); !o.Accepted || o.By != "alice@example.com" || len(o.Gates) != 2 {
			t.Errorf("%s: %+v", name, o)
		}
	}
	for name, allowed := range map[string]string{
		"none":        "",
		"another":     otherLine,
		"for commits": strings.Replace(line, " ", ` namespaces="git" `, 1),
		"expired":     strings.Replace(line, " ", ` valid-before="20200101" `, 1),
		"not yet":     strings.Replace(line, " ", ` valid-after="20990101" `, 1),
		"no list":     "\x00\xff",
	} {
		m.wantRefused(name, a, Signers{Allowed: []byte(allowed)})
	}

	// The statement of one and the signature of another; a signature that git made for a commit.
	signers := Signers{Allowed: []byte(line)}
	later := example()
	later.Time = noon.Add(time.Second)
	edited := m.attest(later)
	edited.Signature = a.Signature
	m.wantRefused("another statement", edited, signers)
	text := m.file("text")
	check(t, os.WriteFile(text, a.Statement, 0o600))
	m.run("ssh-keygen", "-q", "-Y", "sign", "-n", "git", "-f", file, text)
	signature, err := os.ReadFile(text + ".sig")
	check(t, err)
	forCommits := a
	forCommits.Signature = string(signature)
	m.wantRefused("signed for a commit", forCommits, signers)
	for _, signature := range []string{"", "x", a.Signature[:100], strings.Repeat("x", 1<<20)} {
		broken := a
		broken.Signature = signature
		m.wantRefused("broken", broken, signers)
	}
	m.set("user.signingkey", other)
	m.wantRefused("another key", m.attest(example()), signers)
}

// The key is in an agent, and git's setting is the public key itself.
func TestIssue19SignedByAnAgentOfSSH(t *testing.T) {
	environtest.Need(t, "ssh-agent")
	m := newMachine(t)
	file, line := m.key("alice")
	socket := m.file("agent")
	agent := exec.Command("ssh-agent", "-D", "-a", socket)
	agent.Env = m.env
	check(t, agent.Start())
	t.Cleanup(func() {
		_ = agent.Process.Kill()
		_ = agent.Wait()
	})
	m.env = append(m.env, "SSH_AUTH_SOCK="+socket)
	checktest.Eventually(t, "the agent listens", func() bool { return checktest.Exists(socket) })
	m.run("ssh-add", "-q", file)
	check(t, os.Remove(file))

	m.set("gpg.format", "ssh")
	public := strings.TrimSpace(strings.TrimPrefix(line, "alice@example.com "))
	for _, setting := range []string{public, "key::" + public} {
		m.set("user.signingkey", setting)
		if o := m.judge(m.attest(example()), Signers{Allowed: []byte(line)}); !o.Accepted {
			t.Errorf("%s: %+v", setting, o)
		}
	}
}

// newGPGMachine has an agent of gpg. gpg itself would wait for one for five seconds only.
func newGPGMachine(t *testing.T) *machine {
	t.Helper()
	environtest.Need(t, "gpg")
	m := newMachine(t)
	m.run("gpg-agent", "--quiet", "--daemon")
	t.Cleanup(func() { m.run("gpgconf", "--kill", "gpg-agent") })
	return m
}

// gpgKey makes a key of gpg and exports it.
func (m *machine) gpgKey(name, expires string) (public []byte) {
	m.t.Helper()
	email := name + "@example.com"
	m.run("gpg", "--batch", "--quiet", "--passphrase", "", "--quick-gen-key", email, "ed25519", "sign", expires)
	return []byte(m.run("gpg", "--batch", "--armor", "--export", email))
}

func TestIssue19SignedWithGPG(t *testing.T) {
	m := newGPGMachine(t)
	alice, mallory := m.gpgKey("alice", "never"), m.gpgKey("mallory", "never")
	m.set("user.signingkey", "alice@example.com")
	a := m.attest(example())
	if o := m.judge(a, Signers{Keys: append(mallory, alice...)}); a.Kind != OpenPGP || !o.Accepted || o.By != "alice@example.com" || len(o.Gates) != 2 {
		t.Errorf("%+v", o)
	}

	// What gpg knows on this machine does not count.
	for name, keys := range map[string][]byte{"none": nil, "another": mallory, "no keys": []byte("\x00\xff")} {
		m.wantRefused(name, a, Signers{Keys: keys})
	}
	signers := Signers{Keys: alice}
	later := example()
	later.Time = noon.Add(time.Second)
	edited := m.attest(later)
	edited.Signature = a.Signature
	m.wantRefused("another statement", edited, signers)
	for _, signature := range []string{"", "x", a.Signature[:100]} {
		broken := a
		broken.Signature = signature
		m.wantRefused("broken", broken, signers)
	}
	asSSH := a
	asSSH.Kind = SSH
	m.wantRefused("called ssh", asSSH, signers)
	m.set("user.signingkey", "mallory@example.com")
	m.wantRefused("another key", m.attest(example()), signers)
}

// All signatures of a text have to be of allowed people: what one of them means that is not cannot be told.
func TestIssue19OneOfTwoSignaturesIsAStrangers(t *testing.T) {
	m := newGPGMachine(t)
	alice := m.gpgKey("alice", "never")
	m.gpgKey("mallory", "never")
	s, err := example().encode()
	check(t, err)
	text := m.file("text")
	check(t, os.WriteFile(text, s, 0o600))
	m.run("gpg", "--batch", "--quiet", "--armor", "--detach-sign", "-u", "alice@example.com", "-u", "mallory@example.com", "--output", text+".asc", text)
	signature, err := os.ReadFile(text + ".asc")
	check(t, err)
	m.wantRefused("two signatures", Attestation{"alice", OpenPGP, s, string(signature)}, Signers{Keys: alice})
}

// Where nobody may sign in a way, it takes no program of that kind to say so.
func TestIssue19NoSignersNeedNoProgram(t *testing.T) {
	m := newMachine(t)
	s, err := example().encode()
	check(t, err)
	m.env = []string{"PATH="}
	for _, kind := range []Kind{SSH, OpenPGP} {
		m.wantRefused(string(kind), Attestation{"alice", kind, s, "x"}, Signers{})
	}
}

// A key that has expired signs nothing that counts, and what it signed before does not count either.
func TestIssue19SignedWithAnExpiredKeyOfGPG(t *testing.T) {
	m := newGPGMachine(t)
	m.env = append(m.env, "LC_ALL=C")
	const past = "--faked-system-time=20200101T000000!"
	m.run("gpg", "--batch", "--quiet", past, "--passphrase", "", "--quick-gen-key", "alice@example.com", "ed25519", "sign", "1d")
	public := []byte(m.run("gpg", "--batch", "--armor", "--export", "alice@example.com"))
	s, err := example().encode()
	check(t, err)
	text := m.file("text")
	check(t, os.WriteFile(text, s, 0o600))
	m.run("gpg", "--batch", "--quiet", past, "--armor", "--detach-sign", "--output", text+".asc", text)
	signature, err := os.ReadFile(text + ".asc")
	check(t, err)
	m.wantRefused("expired", Attestation{"alice", OpenPGP, s, string(signature)}, Signers{Keys: public})
}

func TestIssue19SigningFollowsGit(t *testing.T) {
	m := newMachine(t)
	unsigned := m.attest(example())
	if unsigned.Kind != Unsigned || unsigned.Signature != "" {
		t.Errorf("%+v", unsigned)
	}
	_, line := m.key("alice")
	if o := m.judge(unsigned, Signers{Allowed: []byte(line)}); o.Accepted || o.Why != "not signed" {
		t.Errorf("%+v", o)
	}

	m.set("user.signingkey", m.file("nowhere"))
	m.set("gpg.format", "ssh")
	for _, program := range []string{"", "not-there", "./not-there", "false"} {
		m.set("gpg.ssh.program", program)
		signer, err := SignerOf(t.Context(), m.repo(), m.env)
		check(t, err)
		if a, err := New(t.Context(), example(), signer); err == nil {
			t.Errorf("%q: %+v", program, a)
		}
	}
	m.set("gpg.format", "x509")
	if _, err := SignerOf(t.Context(), m.repo(), m.env); err == nil || !strings.Contains(err.Error(), "x509") {
		t.Errorf("%v", err)
	}
}

// Runs at the same time put their attestations side by side: git alone would lose some of them.
func TestIssue19TwoAtOnceLoseNothing(t *testing.T) {
	m := newMachine(t)
	notes := Notes{m.repo(), filepath.Join(m.file("state"), "notes.lock")}
	text, err := example().encode()
	check(t, err)
	const people = 8
	var group sync.WaitGroup
	for i := range people {
		group.Go(func() {
			if err := notes.Add(t.Context(), m.head, Attestation{By: fmt.Sprint(i), Kind: Unsigned, Statement: text}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	all, strange, err := notes.Read(t.Context(), m.head)
	if check(t, err); len(all) != people || strange != 0 {
		t.Errorf("%d attestations, %d other lines", len(all), strange)
	}
	if _, err := os.Stat(filepath.Join(m.dir, ".git", filepath.FromSlash(Ref)+".lock")); err == nil {
		t.Error("git's lock is left")
	}

	// The same person again replaces the earlier one.
	check(t, notes.Add(t.Context(), m.head, Attestation{By: "3", Kind: Unsigned, Statement: text}))
	if all, _, err := notes.Read(t.Context(), m.head); err != nil || len(all) != people {
		t.Errorf("%d attestations, %v", len(all), err)
	}

	// What an agent can write, without a signature, takes no place of what a person has signed.
	check(t, notes.Add(t.Context(), m.head, Attestation{By: "3", Kind: SSH, Statement: text, Signature: "x"}))
	check(t, notes.Add(t.Context(), m.head, Attestation{By: "3", Kind: Unsigned, Statement: text}))
	if all, _, err := notes.Read(t.Context(), m.head); err != nil || len(all) != people+1 {
		t.Errorf("%d attestations, %v", len(all), err)
	}
}

// However many attestations a commit has, few are looked at.
func TestIssue19ManyAttestations(t *testing.T) {
	all := make([]Attestation, maxJudged+5)
	opinions, err := Judge(t.Context(), all, Signers{}, Expected{}, nil)
	check(t, err)
	if last := opinions[len(opinions)-1]; len(opinions) != maxJudged+1 || !strings.HasSuffix(last.Why, "and this one has 5 more") {
		t.Errorf("%d opinions, at last %+v", len(opinions), last)
	}
}
