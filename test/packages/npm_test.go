//go:build linux

package packages

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

// registry serves the npm packages of a release as a registry does, and nothing else.
func registry(t *testing.T) string {
	t.Helper()
	check(t, release())
	tarballs, err := filepath.Glob(filepath.Join(dist, "npm-*.tgz"))
	check(t, err)
	answers := map[string][]byte{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, known := answers[r.URL.Path]
		if !known {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write(answer)
	}))
	t.Cleanup(server.Close)
	for _, path := range tarballs {
		content := []byte(checktest.Read(t, path))
		manifest := npmManifest(t, content)
		sum := sha512.Sum512(content)
		manifest["dist"] = map[string]string{"tarball": server.URL + "/files/" + filepath.Base(path), "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
		name := manifest["name"].(string)
		packument, err := json.Marshal(map[string]any{"name": name, "dist-tags": map[string]string{"latest": version}, "versions": map[string]any{version: manifest}})
		check(t, err)
		answers["/files/"+filepath.Base(path)], answers["/"+name] = content, packument
	}
	return server.URL
}

func npmManifest(t *testing.T, tarball []byte) map[string]any {
	t.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(tarball))
	check(t, err)
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		check(t, err)
		if header.Name != "package/package.json" {
			continue
		}
		text, err := io.ReadAll(archive)
		check(t, err)
		var manifest map[string]any
		check(t, json.Unmarshal(text, &manifest))
		return manifest
	}
}

// npm is the real one, with a home of its own, in a project.
func npm(t *testing.T) (project string, run func(args ...string) *exec.Cmd) {
	t.Helper()
	program := environtest.Need(t, "npm")
	home, project, address := t.TempDir(), t.TempDir(), registry(t)
	checktest.Write(t, filepath.Join(project, "package.json"), `{"name": "project", "private": true}`)
	return project, func(args ...string) *exec.Cmd {
		cmd := exec.Command(program, args...)
		cmd.Dir = project
		cmd.Env = append(os.Environ(), "HOME="+home, "npm_config_registry="+address, "npm_config_update_notifier=false", "npm_config_audit=false", "npm_config_fund=false",
			"npm_config_userconfig="+home+"/none", "npm_config_globalconfig="+home+"/none-either", "npm_config_cache="+home+"/cache")
		return cmd
	}
}

func TestIssue19TheNPMPackageIsInstalledUsedAndRemoved(t *testing.T) {
	t.Parallel()
	project, run := npm(t)
	say(t, run("install", "--save-dev", "stopgate"))
	bin := filepath.Join(project, "node_modules", ".bin")
	use(t, bin, "v"+version)

	t.Run("hooks call the program", func(t *testing.T) {
		say(t, run("exec", "--", "git", "init", "-q"))
		say(t, run("exec", "--", "stopgate", "init", "--yes", "--check", "true"))
		settings := checktest.Read(t, filepath.Join(project, ".claude", "settings.local.json"))
		if !strings.Contains(settings, "/node_modules/stopgate-linux-") || strings.Contains(settings, "launcher") {
			t.Errorf("hooks do not call the program itself:\n%s", settings)
		}
		say(t, run("exec", "--", "stopgate", "uninstall", "--purge", "--yes"))
	})
	t.Run("exit codes and signals", func(t *testing.T) { launches(t, filepath.Join(bin, "stopgate")) })

	say(t, run("uninstall", "stopgate"))
	left := slices.DeleteFunc(left(t, project), func(path string) bool {
		first, _, _ := strings.Cut(path, "/")
		return slices.Contains([]string{".git", ".gauntlet", ".gitignore", "package.json", "package-lock.json"}, first) || path == "node_modules/.package-lock.json"
	})
	if len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// launches checks that the launcher ends as the program ends.
func launches(t *testing.T, launcher string) {
	t.Helper()
	var exit *exec.ExitError
	if err := exec.Command(launcher, "no-such-command").Run(); !errors.As(err, &exit) || exit.ExitCode() != 2 {
		t.Errorf("an unknown command: %v", err)
	}

	cmd := exec.Command(launcher, "log", "--follow")
	cmd.Env = append(os.Environ(), "STOPGATE_STATE_DIR="+t.TempDir())
	check(t, cmd.Start())
	checktest.Eventually(t, "the program runs", func() bool { return hasChild(cmd.Process.Pid) })
	check(t, cmd.Process.Signal(syscall.SIGTERM))
	err := cmd.Wait()
	if !errors.As(err, &exit) {
		t.Fatalf("after SIGTERM: %v", err)
	}
	if status := exit.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGTERM && status.ExitStatus() == 0 {
		t.Errorf("after SIGTERM: %v", status)
	}
}

// hasChild reports whether a process has started the program.
func hasChild(pid int) bool {
	return exec.Command("pgrep", "--parent", strconv.Itoa(pid), "--exact", "stopgate").Run() == nil
}

// Without the package of the platform there is nothing to run: the launcher says what to do.
func TestIssue19AnNPMPackageWithoutItsProgram(t *testing.T) {
	t.Parallel()
	project, run := npm(t)
	say(t, run("install", "--omit=optional", "stopgate"))
	out, err := exec.Command(filepath.Join(project, "node_modules", ".bin", "stopgate"), "version").CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.Contains(string(out), "is not installed\n") || !strings.Contains(string(out), "--omit=optional") {
		t.Errorf("%v\n%s", err, out)
	}
}

// Before anything is published, npm installs the files of a release, without a network.
func TestIssue19TheNPMPackagesInstallFromFiles(t *testing.T) {
	t.Parallel()
	project, run := npm(t)
	say(t, run("install", "--offline", packaged(t, "npm-stopgate-"+version+".tgz"), packaged(t, "npm-stopgate-linux-*.tgz")))
	if out := say(t, exec.Command(filepath.Join(project, "node_modules", ".bin", "stopgate"), "version")); !strings.HasPrefix(out, "stopgate v"+version+" (") {
		t.Errorf("%s", out)
	}

	// One line removes both: npm has been told of the second one, too.
	say(t, run("uninstall", "stopgate", "stopgate-linux-"+strings.Replace(runtime.GOARCH, "amd64", "x64", 1)))
	if left, _ := filepath.Glob(filepath.Join(project, "node_modules", "stopgate*")); len(left) > 0 {
		t.Errorf("npm uninstall leaves %v", left)
	}
}
