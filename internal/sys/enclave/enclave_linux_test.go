package enclave_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/enclave"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/process"
)

var check = checktest.OK

// userEnv makes the test binary a process that runs a script in an enclave: DIR, then the
// script, as the user that it was started as.
const userEnv = "STOPGATE_ENCLAVE_USER"

// askAsUser in place of the script has it say what AsUser does.
const askAsUser = "AsUser"

func TestMain(m *testing.M) {
	if order := os.Getenv(userEnv); order != "" {
		dir, script, _ := strings.Cut(order, "\n")
		os.Unsetenv(userEnv)
		if script == askAsUser {
			fmt.Println(enclave.AsUser())
			os.Exit(0)
		}
		r := process.Run(context.Background(), process.Command{Args: process.Shell(script), Dir: dir, Enclave: over(filepath.Join(dir, ".gauntlet"))})
		fmt.Printf("%s\n%s\n", r.Tail, r)
		os.Exit(0)
	}
	environtest.Clean()
	os.Exit(m.Run())
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// over is an enclave with two scripts.
func over(dir string) *enclave.Enclave {
	return &enclave.Enclave{Covers: []enclave.Cover{{Dir: dir, Time: noon, Files: []enclave.File{
		{Path: "x.sh", Exec: true, Data: []byte("#!/bin/sh\necho approved\n")},
		{Path: "deep/er/y.sh", Data: []byte("echo also approved\n")},
		{Path: "with\nnewline", Data: []byte("approved\n")},
	}}}}
}

// project has other scripts in the directory.
func project(t *testing.T) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = os.Mkdir(filepath.Join(root, ".gauntlet"), 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(root, ".gauntlet/x.sh"), []byte("#!/bin/sh\necho edited\n"), 0o755)
	}
	check(t, err)
	return root
}

func available(t *testing.T) {
	t.Helper()
	if err := enclave.Available(); err != nil {
		environtest.Missing(t, "private mount namespace", err)
	}
}

func run(t *testing.T, root, script string) process.Result {
	t.Helper()
	return process.Run(t.Context(), process.Command{Args: process.Shell(script), Dir: root, Enclave: over(filepath.Join(root, ".gauntlet"))})
}

// However a command gets to the files, it sees the given ones.
func TestE6EveryPathLeadsToTheGivenFiles(t *testing.T) {
	available(t)
	root := project(t)
	link := filepath.Join(t.TempDir(), "link")
	check(t, os.Symlink(root, link))
	for _, script := range []string{
		".gauntlet/x.sh", ".//.gauntlet/x.sh", root + "/.gauntlet/x.sh", "cd .gauntlet && ./x.sh", "sh -c .gaunt*/x.sh",
		"cat <.gauntlet/x.sh >../y; sh ../y; rm ../y", link + "/.gauntlet/x.sh", "cd " + link + " && .gauntlet/x.sh",
		`D=$PWD; cd /; "$D"/.gauntlet/x.sh`, "/proc/self/cwd/.gauntlet/x.sh", `find . -name x.sh -exec {} \;`,
	} {
		if r := run(t, root, script); r.Tail != "approved" {
			t.Errorf("%s: %s: %s", script, r, r.Tail)
		}
	}
	if r := run(t, root, `sh .gauntlet/deep/er/y.sh && stat -c '%a %Y' .gauntlet .gauntlet/deep .gauntlet/x.sh .gauntlet/deep/er/y.sh | cut -d' ' -f1 | xargs && stat -c %Y .gauntlet/x.sh && cat '.gauntlet/with
newline'`); r.Tail != fmt.Sprintf("also approved\n755 755 755 644\n%d\napproved", noon.Unix()) {
		t.Errorf("%s: %s", r, r.Tail)
	}
}

// The directory of a command may be one that only the enclave has.
func TestE6TheWorkingDirectoryIsTheEnclaves(t *testing.T) {
	available(t)
	root := project(t)
	r := process.Run(t.Context(), process.Command{Args: process.Shell("sh y.sh"), Dir: filepath.Join(root, ".gauntlet/deep/er"), Enclave: over(filepath.Join(root, ".gauntlet"))})
	if r.Tail != "also approved" {
		t.Errorf("%s: %s", r, r.Tail)
	}
}

// What a command writes there is gone afterwards; what it writes elsewhere stays.
func TestE6WritesStayInside(t *testing.T) {
	available(t)
	root := project(t)
	r := run(t, root, `echo >.gauntlet/x.sh && mkdir .gauntlet/__pycache__ && echo 1 >.gauntlet/out && rm -r .gauntlet/deep && echo done | tee result`)
	if r.Tail != "done" {
		t.Fatalf("%s: %s", r, r.Tail)
	}
	if r := run(t, root, "ls .gauntlet | xargs; sh .gauntlet/x.sh; cat result"); r.Tail != "deep with newline x.sh\napproved\ndone" {
		t.Errorf("the next command sees %s", r.Tail)
	}
	if names, _ := filepath.Glob(filepath.Join(root, ".gauntlet/*")); len(names) != 1 {
		t.Errorf("the project has %q", names)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || strings.Contains(string(mounts), root) {
		t.Errorf("a mount is left behind, %v", err)
	}
}

// How a command ends is told as without an enclave.
// The files are readable for everybody, and what the command makes is as our umask has it.
func TestE6TheUmaskIsOurs(t *testing.T) {
	available(t)
	defer syscall.Umask(syscall.Umask(0o077))
	if r := run(t, project(t), `umask; stat -c %a .gauntlet/x.sh .gauntlet/deep/er/y.sh`); r.Tail != "0077\n755\n644" {
		t.Errorf("%s: %s", r, r.Tail)
	}
}

func TestHowACommandEnds(t *testing.T) {
	available(t)
	root := project(t)
	for script, want := range map[string]string{
		"exit 0": "exit 0", "exit 1": "exit 1", "exit 127": "was not found (exit 127)", "kill -9 $$": "was ended by signal 9 (killed)",
	} {
		if r := run(t, root, script); r.String() != want {
			t.Errorf("%s: %s, %s", script, r, r.Tail)
		}
	}
	script := `ls /proc/self/fd | wc -l`
	without := process.Run(t.Context(), process.Command{Args: process.Shell(script), Dir: root})
	if r := run(t, root, script); r.Tail != without.Tail {
		t.Errorf("%s open files, %s without an enclave", r.Tail, without.Tail)
	}
	c := process.Command{Args: []string{"./nothing"}, Dir: root, Enclave: over(filepath.Join(root, ".gauntlet"))}
	if r := process.Run(t.Context(), c); r.Err == nil || r.Ran() || !strings.Contains(r.String(), "no such file") {
		t.Errorf("a program that is not there: %+v", r)
	}
	c.Args, c.Dir = process.Shell("exit 0"), filepath.Join(root, "nowhere")
	if r := process.Run(t.Context(), c); r.Err == nil || !strings.Contains(r.String(), "nowhere") {
		t.Errorf("a directory that is not there: %+v", r)
	}
	c.Dir, c.Enclave = root, over(filepath.Join(root, "nowhere"))
	if r := process.Run(t.Context(), c); r.Err == nil || !strings.Contains(r.String(), "mount over") {
		t.Errorf("nothing to mount over: %+v", r)
	}
}

// Our binary is killed with what it started, and a timeout ends all of it.
func TestWhatRunsInsideEnds(t *testing.T) {
	available(t)
	root := project(t)
	c := process.Command{
		Args: process.Shell(`setsid sleep 600 & echo $! >left; exec sleep 600`), Dir: root, Timeout: time.Second,
		Enclave: over(filepath.Join(root, ".gauntlet")),
	}
	if r := process.Run(t.Context(), c); !r.TimedOut {
		t.Fatalf("%s: %s", r, r.Tail)
	}
	text, err := os.ReadFile(filepath.Join(root, "left"))
	check(t, err)
	// One that has ended and was not waited for has no command line.
	if line, _ := os.ReadFile("/proc/" + strings.TrimSpace(string(text)) + "/cmdline"); len(line) > 0 {
		t.Errorf("%q lives on", line)
	}
}

// asUser runs a script in an enclave as a user without rights, where the kernel lets one.
func asUser(t *testing.T, groups []uint32, script string) string {
	t.Helper()
	available(t)
	root := project(t)
	self, err := os.Executable()
	check(t, err)
	// The test binary lies where only we may go.
	program, err := os.ReadFile(self)
	if err == nil {
		err = os.WriteFile(filepath.Join(root, "test"), program, 0o755)
	}
	check(t, err)
	for dir := root; dir != "/"; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o001 == 0 {
			check(t, os.Chmod(dir, info.Mode().Perm()|0o055))
		}
	}
	cmd := exec.Command(filepath.Join(root, "test"))
	cmd.Env = append(os.Environ(), userEnv+"="+root+"\n"+script)
	if os.Geteuid() == 0 { // else we are such a user
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 4321, Gid: 4321, Groups: groups}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if strings.Contains(string(out), enclave.ErrUnavailable.Error()) {
		environtest.Missing(t, "namespaces for users", errors.New(string(out)))
	}
	return strings.TrimSpace(string(out))
}

// The user stays who it is, without more rights than before.
func TestE6AsAUser(t *testing.T) {
	user, group := 4321, 4321
	if os.Geteuid() != 0 {
		user, group = os.Geteuid(), os.Getegid()
	}
	want := fmt.Sprintf("approved\n%d\n%d\n0000000000000000 0000000000000000 0000000000000000 0000000000000000\nexit 0", user, group)
	if got := asUser(t, nil, `.gauntlet/x.sh; id -u; id -g; grep -e CapInh -e CapPrm -e CapEff -e CapAmb /proc/self/status | cut -f2 | xargs`); got != want {
		t.Errorf("got %s", got)
	}
}

func TestE6SupplementaryGroupsCount(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to a group that it is not in")
	}
	secret := filepath.Join(t.TempDir(), "secret")
	err := os.WriteFile(secret, []byte("readable\n"), 0o640)
	if err == nil {
		err = os.Chown(secret, 0, 5432)
	}
	if err == nil {
		err = os.Chmod(filepath.Dir(secret), 0o755)
	}
	if err == nil {
		err = os.Chmod(filepath.Dir(filepath.Dir(secret)), 0o755)
	}
	check(t, err)
	if got := asUser(t, []uint32{5432}, "cat "+secret); got != "readable\nexit 0" {
		t.Errorf("with the group: %s", got)
	}
	if got := asUser(t, nil, "cat "+secret); !strings.HasSuffix(got, "exit 1") {
		t.Errorf("without it: %s", got)
	}
}

// Programs that make namespaces of their own, as Chromium's sandbox does, can.
func TestE6NestedNamespaces(t *testing.T) {
	environtest.Need(t, "unshare")
	script := `unshare -rmpnf sh -c 'id -u; mkdir -p /tmp/m && mount -t tmpfs x /tmp/m && .gauntlet/x.sh'`
	if got := asUser(t, nil, script); got != "0\napproved\nexit 0" {
		t.Errorf("as a user: %s", got)
	}
	if r := run(t, project(t), script); r.Tail != "0\napproved" {
		t.Errorf("as we are: %s, %s", r, r.Tail)
	}
}

// What is covered stays covered: a user cannot take the mount away, not even as root of a
// namespace of its own.
func TestE6TheMountCannotBeTakenAway(t *testing.T) {
	environtest.Need(t, "unshare")
	if got := asUser(t, nil, `unshare -rm sh -c 'umount -l .gauntlet 2>/dev/null; .gauntlet/x.sh'`); got != "approved\nexit 0" {
		t.Errorf("got %s", got)
	}
}

// Where the machine shares its mounts, as systemd has it, ours shows to no one.
func TestE6TheMountIsPrivate(t *testing.T) {
	available(t)
	environtest.Need(t, "unshare")
	if os.Geteuid() != 0 {
		t.Skip("only root can share mounts")
	}
	root := project(t)
	self, err := os.Executable()
	check(t, err)
	seen := `grep -c ` + root + `/.gauntlet /proc/$(cat pid)/mountinfo; .gauntlet/x.sh`
	for name, mount := range map[string]string{
		"in the mount of its folder": ``,
		"in a mount of its own":      `mount --bind "$1" "$1" && cd "$1" || exit; `,
	} {
		cmd := exec.Command("unshare", "-m", "--propagation", "shared", "sh", "-c", mount+`echo $$ >pid; "$0"; true`, self, root)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), userEnv+"="+root+"\n"+seen)
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != "0\napproved\nexit 0\n" {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// A program that changes the user works where we need no user namespace. In one it cannot,
// and AsUser says so.
func TestE6SetuidPrograms(t *testing.T) {
	if got := asUser(t, nil, askAsUser); got != "true" {
		t.Errorf("a user's enclave needs a user namespace: %s", got)
	}
	environtest.Need(t, "setpriv")
	if os.Geteuid() != 0 {
		t.Skip("only root needs no user namespace")
	}
	if enclave.AsUser() {
		t.Error("root needs a user namespace")
	}
	if r := run(t, project(t), "setpriv --reuid=4321 --clear-groups sh -c 'id -u' && .gauntlet/x.sh"); r.Tail != "4321\napproved" {
		t.Errorf("%s: %s", r, r.Tail)
	}
}

func BenchmarkEnclave(b *testing.B) {
	if err := enclave.Available(); err != nil {
		b.Skip(err)
	}
	root := b.TempDir()
	check(b, os.Mkdir(filepath.Join(root, ".gauntlet"), 0o755))
	for name, e := range map[string]*enclave.Enclave{"without": nil, "with": over(filepath.Join(root, ".gauntlet"))} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if r := process.Run(b.Context(), process.Command{Args: process.Shell("exit 0"), Dir: root, Enclave: e}); !r.OK() {
					b.Fatal(r, r.Tail)
				}
			}
		})
	}
}
