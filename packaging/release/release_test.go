package main

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

var check = checktest.OK

func TestMain(m *testing.M) {
	environtest.Clean()
	os.Exit(m.Run())
}

var anEdition = edition{"1.2.3", "0123", time.Unix(1790000000, 0).UTC()}

func TestIssue19TheVersionOfARelease(t *testing.T) {
	for described, want := range map[string]string{
		"v1.2.3":                   "1.2.3",
		"1.2.3":                    "1.2.3",
		"v1.2.3-rc.1":              "1.2.3-rc.1",
		"v1.2.3-14-gabc1234":       "1.2.4-snapshot.14.gabc1234",
		"v1.2.9-14-gabc1234-dirty": "1.2.10-snapshot.14.gabc1234-dirty",
		"v1.2.3-rc.1-14-gabc1234":  "1.2.3-rc.1.snapshot.14.gabc1234",
		"0123456":                  "0.0.0-snapshot.19700102030405.g0123456", // no tag; a number must not begin with 0
		"0123456-dirty":            "0.0.0-snapshot.19700102030405.g0123456-dirty",
		"":                         "0.0.0-snapshot.19700102030405.g",
	} {
		if got := version(described, time.Date(1970, 1, 2, 4, 4, 5, 0, time.FixedZone("", 60*60))); got != want {
			t.Errorf("%q is %s, want %s", described, got, want)
		}
	}
}

func TestIssue19PlatformsOfARelease(t *testing.T) {
	if all, err := chooseTargets(""); err != nil || len(all) != 6 {
		t.Errorf("%v, %v", all, err)
	}
	if some, err := chooseTargets("darwin/arm64,windows/amd64"); err != nil || len(some) != 2 || some[1].archive(anEdition) != "stopgate_1.2.3_windows_amd64.zip" || len(some[0].programs()) != 2 || len(some[1].programs()) != 1 {
		t.Errorf("%v, %v", some, err)
	}
	if _, err := chooseTargets("linux/amd64,plan9/386"); err == nil || !strings.Contains(err.Error(), `unknown platform "plan9/386"`) {
		t.Errorf("%v", err)
	}
}

// What is in the directory is published: a release goes into an empty one.
func TestIssue19AReleaseGoesIntoAnEmptyDirectory(t *testing.T) {
	dir := t.TempDir()
	checktest.Write(t, filepath.Join(dir, "old"), "")
	if err := release(anEdition, targets, dir); err == nil || !strings.HasSuffix(err.Error(), "is not empty") {
		t.Errorf("%v", err)
	}
}

func TestIssue19TheFormulaHasEachArchive(t *testing.T) {
	dir := t.TempDir()
	for _, t1 := range targets {
		checktest.Write(t, filepath.Join(dir, t1.archive(anEdition)), t1.String())
	}
	check(t, writeFormula(anEdition, targets, dir))

	formula := checktest.Read(t, filepath.Join(dir, "stopgate.rb"))
	for _, part := range []string{
		"/v1.2.3/stopgate_1.2.3_darwin_arm64.tar.gz\"\n      sha256 \"2b42ce3b", "/v1.2.3/stopgate_1.2.3_linux_amd64.tar.gz\"\n      sha256 \"",
	} {
		if !strings.Contains(formula, part) {
			t.Errorf("%q is not in:\n%s", part, formula)
		}
	}
	if strings.Count(formula, "url ") != 4 || strings.Contains(formula, "windows") {
		t.Errorf("not one address for each platform of Homebrew:\n%s", formula)
	}
	if begun, ended := strings.Count(formula, " do\n")+strings.Count(formula, "def ")+1, strings.Count(formula, "end\n"); begun != ended {
		t.Errorf("%d blocks begin and %d end:\n%s", begun, ended, formula)
	}
}

func TestIssue19TheArchiveForWindows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.zip")
	check(t, writeArchive(path, "top", []file{{"bin/stopgate.exe", 0o755, []byte("program")}}, anEdition.date))
	text := checktest.Read(t, path)
	archive, err := zip.NewReader(bytes.NewReader([]byte(text)), int64(len(text)))
	check(t, err)
	if len(archive.File) != 2 || archive.File[1].Name != "top/share/doc/stopgate/" || archive.File[0].Mode() != 0o755 {
		t.Fatalf("%v", archive.File)
	}

	in, err := archive.File[0].Open()
	check(t, err)
	content, err := io.ReadAll(in)
	if err != nil || string(content) != "program" || archive.File[0].Name != "top/bin/stopgate.exe" {
		t.Errorf("%s has %q, %v", archive.File[0].Name, content, err)
	}
}
