//go:build unix

// Package action runs the steps of action.yml as a runner of GitHub does.
package action

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
	"github.com/stopgate/stopgate/test/programs"
)

var check = checktest.OK

func TestMain(m *testing.M) {
	environtest.Clean()
	os.Exit(m.Run())
}

// action is what a runner reads of action.yml.
type action struct {
	Inputs map[string]struct {
		Description string `yaml:"description"`
		Default     string `yaml:"default"`
	} `yaml:"inputs"`
	Outputs map[string]struct {
		Description string `yaml:"description"`
		Value       string `yaml:"value"`
	} `yaml:"outputs"`
	Runs struct {
		Using string `yaml:"using"`
		Steps []step `yaml:"steps"`
	} `yaml:"runs"`
}

type step struct {
	Name  string            `yaml:"name"`
	ID    string            `yaml:"id"`
	Shell string            `yaml:"shell"`
	Dir   string            `yaml:"working-directory"`
	Env   map[string]string `yaml:"env"`
	Run   string            `yaml:"run"`
}

func readAction(t *testing.T) (a action) {
	t.Helper()
	check(t, yaml.Unmarshal([]byte(checktest.Read(t, "../../action.yml")), &a))
	return a
}

// release is a server with one release of this very stopgate.
type release struct {
	*httptest.Server
	archive   string // its name
	checksum  string
	downloads atomic.Int32
	files     map[string][]byte
}

// top is the folder in the archive.
var top = "stopgate_0.1.0_" + runtime.GOOS + "_" + runtime.GOARCH

func newRelease(t *testing.T, content []byte) *release {
	t.Helper()
	r := &release{archive: top + ".tar.gz", checksum: fmt.Sprintf("%x", sha256.Sum256(content))}
	r.files = map[string][]byte{
		r.archive:       content,
		"checksums.txt": []byte(strings.Repeat("0", 64) + "  other.tar.gz\n" + r.checksum + "  " + r.archive + "\n"),
	}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.downloads.Add(1)
		name, ok := strings.CutPrefix(req.URL.Path, "/v0.1.0/")
		if content, found := r.files[name]; ok && found {
			_, _ = w.Write(content)
			return
		}
		http.NotFound(w, req)
	}))
	t.Cleanup(r.Close)
	return r
}

// pack is an archive of the stopgate in a directory.
func pack(t *testing.T, programs string) []byte {
	t.Helper()
	content := []byte(checktest.Read(t, filepath.Join(programs, "stopgate")))
	var b bytes.Buffer
	compressed, _ := gzip.NewWriterLevel(&b, gzip.NoCompression) // which takes long under the race detector
	w := tar.NewWriter(compressed)
	check(t, w.WriteHeader(&tar.Header{Name: top + "/bin/stopgate", Mode: 0o755, Size: int64(len(content)), Typeflag: tar.TypeReg}))
	_, err := w.Write(content)
	check(t, err)
	check(t, w.Close())
	check(t, compressed.Close())
	return b.Bytes()
}

// runner is a stand-in for one of GitHub's, for one job.
type runner struct {
	t                             *testing.T
	action                        action
	workspace, temp, ref          string
	path                          []string
	inputs                        map[string]string
	pathFile, outputFile, summary string
	releases                      string
	more                          []string // variables
	log                           bytes.Buffer
}

func newRunner(t *testing.T, r *release) *runner {
	t.Helper()
	for _, program := range []string{"bash", "curl", "git", "tar"} {
		environtest.Need(t, program)
	}
	root := t.TempDir()
	j := &runner{
		t: t, action: readAction(t), workspace: filepath.Join(root, "work"), temp: filepath.Join(root, "temp dir"), inputs: map[string]string{},
		pathFile: filepath.Join(root, "path"), outputFile: filepath.Join(root, "output"), summary: filepath.Join(root, "summary"),
		releases: r.URL,
	}
	for _, dir := range []string{j.workspace, j.temp, filepath.Join(root, "home")} {
		check(t, os.Mkdir(dir, 0o755))
	}
	for _, file := range []string{j.pathFile, j.outputFile, j.summary} {
		check(t, os.WriteFile(file, nil, 0o644))
	}
	repo := gittest.At(t, j.workspace)
	repo.Git("init", "-q", "-b", "main")
	repo.Write("a project/.gauntlet/config.yml", "entry_points:\n  - path: .\n    checks:\n      - {name: test, command: test ! -e red}\n      - {name: lint, command: \"true\"}\n")
	repo.Commit("base")
	repo.Git("update-ref", "refs/remotes/origin/main", "HEAD")
	repo.Git("checkout", "-q", "--detach") // as the checkout of a pull request is
	repo.Git("branch", "-q", "-D", "main")
	repo.Write("a project/work", "1")
	repo.Commit("work")
	j.inputs["working-directory"] = "a project"
	return j
}

var expression = regexp.MustCompile(`\$\{\{ *([^}]*?) *\}\}`)

// expand puts values in the place of the expressions that the action may use.
func (j *runner) expand(text string) string {
	return expression.ReplaceAllStringFunc(text, func(found string) string {
		name := expression.FindStringSubmatch(found)[1]
		if name == "github.action_ref" {
			return j.ref
		}
		input, ok := strings.CutPrefix(name, "inputs.")
		declared, known := j.action.Inputs[input]
		if !ok || !known {
			j.t.Fatalf("the runner does not know %s", found)
		}
		if value, given := j.inputs[input]; given {
			return value
		}
		return declared.Default
	})
}

// run runs the steps up to the first that fails, as GitHub calls bash.
func (j *runner) run() (code int) {
	j.t.Helper()
	for _, s := range j.action.Runs.Steps {
		if expression.MatchString(s.Run) {
			j.t.Errorf("an expression in the script of %q: inputs would be a part of it", s.Name)
		}
		script := filepath.Join(j.temp, "script.sh")
		check(j.t, os.WriteFile(script, []byte(s.Run), 0o644))
		cmd := exec.Command("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script)
		cmd.Dir = filepath.Join(j.workspace, j.expand(s.Dir))
		cmd.Env = j.environ()
		for name, value := range s.Env {
			cmd.Env = append(cmd.Env, name+"="+j.expand(value))
		}
		cmd.Stdout, cmd.Stderr = &j.log, &j.log
		if err := cmd.Run(); err != nil {
			return cmd.ProcessState.ExitCode()
		}
	}
	return 0
}

func (j *runner) environ() []string {
	added := strings.FieldsFunc(checktest.Read(j.t, j.pathFile), func(r rune) bool { return r == '\n' })
	machine := slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(dir string) bool {
		return checktest.Exists(filepath.Join(dir, "stopgate")) // which this machine may have
	})
	system := map[string]string{"linux": "Linux", "darwin": "macOS"}[runtime.GOOS]
	processor := map[string]string{"amd64": "X64", "arm64": "ARM64"}[runtime.GOARCH]
	path := slices.Concat(added, j.path, machine)
	return append([]string{
		"CI=true", "GITHUB_ACTIONS=true", "GITHUB_BASE_REF=main", "GITHUB_WORKSPACE=" + j.workspace,
		"GITHUB_PATH=" + j.pathFile, "GITHUB_OUTPUT=" + j.outputFile, "GITHUB_STEP_SUMMARY=" + j.summary,
		"HOME=" + filepath.Join(filepath.Dir(j.workspace), "home"), "PATH=" + strings.Join(path, ":"),
		"RUNNER_OS=" + system, "RUNNER_ARCH=" + processor, "RUNNER_TEMP=" + j.temp, "STOPGATE_RELEASES=" + j.releases,
	}, j.more...)
}

func (j *runner) want(code int, says string) {
	j.t.Helper()
	if got := j.run(); got != code || !strings.Contains(j.log.String(), says) {
		j.t.Errorf("exit %d, want %d and %q\n%s", got, code, says, &j.log)
	}
}

// built are the programs of this working tree.
func built(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	check(t, programs.Build(dir))
	return dir
}

func TestIssue19ActionRunsTheGates(t *testing.T) {
	release := newRelease(t, pack(t, built(t)))
	green := newRunner(t, release)
	green.inputs["version"] = "0.1.0"
	green.want(0, "stopgate ")
	if got := checktest.Read(t, green.outputFile); got != "exit-code=0\n" {
		t.Errorf("outputs %q", got)
	}
	if got := checktest.Read(t, green.summary); !strings.Contains(got, "| lint | passed |") {
		t.Errorf("summary\n%s", got)
	}

	red := newRunner(t, release)
	red.inputs["version"], red.inputs["checksum"] = "v0.1.0", strings.ToUpper(release.checksum)
	red.inputs["args"] = "--gate test\n--no-cache"
	check(t, os.WriteFile(filepath.Join(red.workspace, "a project", "red"), nil, 0o644))
	red.want(1, "::error title=stopgate%3A test::")
	if got := checktest.Read(t, red.outputFile); got != "exit-code=1\n" {
		t.Errorf("outputs %q", got)
	}
	if got := checktest.Read(t, red.summary); !strings.Contains(got, "# stopgate: failed") || strings.Contains(got, "lint") {
		t.Errorf("summary\n%s", got)
	}
}

// What is not the release's archive, to the byte, is not installed.
func TestIssue19ActionChecksTheArchive(t *testing.T) {
	archive := pack(t, built(t))
	for name, tt := range map[string]struct {
		harm func(*runner, *release)
		says string
	}{
		"another checksum":            {func(j *runner, _ *release) { j.inputs["checksum"] = strings.Repeat("a", 64) }, "expected aaaa"},
		"an altered archive":          {func(_ *runner, r *release) { r.files[r.archive] = append(slices.Clone(r.files[r.archive]), 0) }, "nothing was installed"},
		"no line for it":              {func(_ *runner, r *release) { r.files["checksums.txt"] = []byte("\n") }, "expected one in checksums.txt"},
		"no checksums":                {func(_ *runner, r *release) { delete(r.files, "checksums.txt") }, "cannot download"},
		"a release that is not there": {func(j *runner, _ *release) { j.inputs["version"] = "9.9.9" }, "is 9.9.9 a release?"},
	} {
		t.Run(name, func(t *testing.T) {
			release := newRelease(t, archive)
			j := newRunner(t, release)
			j.inputs["version"] = "0.1.0"
			tt.harm(j, release)
			j.want(1, tt.says)
			if added := checktest.Read(t, j.pathFile); added != "" {
				t.Errorf("installed %s", added)
			}
		})
	}
}

// Without a version it is the program on the PATH, else the release that the action was called by.
func TestIssue19ActionChoosesTheProgram(t *testing.T) {
	programs := built(t)
	release := newRelease(t, pack(t, programs))
	present := newRunner(t, release)
	present.path = []string{programs}
	present.want(0, "stopgate ")
	if n := release.downloads.Load(); n != 0 {
		t.Errorf("%d downloads", n)
	}

	called := newRunner(t, release)
	called.ref = "v0.1.0"
	called.want(0, "stopgate ")

	branch := newRunner(t, release)
	branch.ref = "main"
	branch.want(2, `"main" is not a release; set the input version`)
}

// A push to the base branch is judged, too.
func TestIssue19ActionJudgesAPush(t *testing.T) {
	j := newRunner(t, newRelease(t, nil))
	j.path = []string{built(t)}
	repo := gittest.At(t, j.workspace)
	repo.Write("a project/red", "")
	repo.Commit("red")
	repo.Git("update-ref", "refs/remotes/origin/main", "HEAD")
	event := filepath.Join(j.temp, "event.json")
	check(t, os.WriteFile(event, []byte(`{"before":"`+strings.TrimSpace(repo.Git("rev-parse", "HEAD^"))+`"}`), 0o644))
	j.more = []string{"GITHUB_BASE_REF=", "GITHUB_EVENT_NAME=push", "GITHUB_EVENT_PATH=" + event}
	j.want(1, "::error title=stopgate%3A test::")
}

// With verify-proof the attestations of the remote are fetched, and the command is called in place of run.
func TestIssue19ActionVerifiesProofs(t *testing.T) {
	j := newRunner(t, newRelease(t, nil))
	j.path = []string{built(t)}
	j.inputs["verify-proof"] = "true"
	repo := gittest.At(t, j.workspace)
	remote := filepath.Join(j.temp, "remote")
	repo.Git("init", "-q", "--bare", remote)
	repo.Git("remote", "add", "origin", remote)
	j.want(0, "no attestation used: ")

	repo.Git("notes", "--ref=stopgate", "add", "-m", "{}")
	repo.Git("push", "-q", "origin", "refs/notes/stopgate")
	repo.Git("update-ref", "-d", "refs/notes/stopgate")
	j.want(0, "no attestation used: ")
	repo.Git("notes", "--ref=stopgate", "show") // it was fetched
	if got := checktest.Read(t, j.summary); !strings.Contains(got, "no attestation used") {
		t.Errorf("summary\n%s", got)
	}
}

// A runner refuses an action without these.
func TestIssue19ActionIsComplete(t *testing.T) {
	a := readAction(t)
	if a.Runs.Using != "composite" || len(a.Runs.Steps) == 0 {
		t.Errorf("runs %+v", a.Runs)
	}
	ids := map[string]bool{}
	for _, s := range a.Runs.Steps {
		ids[s.ID] = true
		if s.Shell != "bash" || s.Run == "" || s.Name == "" {
			t.Errorf("step %+v", s)
		}
	}
	for name, input := range a.Inputs {
		if input.Description == "" {
			t.Errorf("input %s says nothing", name)
		}
	}
	for name, output := range a.Outputs {
		id, _, _ := strings.Cut(strings.TrimPrefix(expression.FindStringSubmatch(output.Value)[1], "steps."), ".")
		if !ids[id] || output.Description == "" {
			t.Errorf("output %s is %+v", name, output)
		}
	}
}
