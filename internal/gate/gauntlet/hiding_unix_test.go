//go:build unix

package gauntlet

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// flawed is what a reviewer objects to.
const flawed = `package f

func remove(dir string) error {
	return os.RemoveAll("/" + dir)
}

func list(dir string) ([]string, error) {
	return filepath.Glob(dir + "/*")
}
`

// sh runs a script in the project as an agent does.
func (s *scene) sh(script string) {
	s.t.Helper()
	cmd := exec.Command("/bin/sh", "-ec", script)
	cmd.Dir, cmd.Env = s.root, s.env
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// objected is a project in which a reviewer has a critical objection to src/f.go, which is either in the
// base or new.
func objected(t *testing.T, inBase bool) *scene {
	t.Helper()
	s := reviewed(t, oneReview)
	s.write("src/f.go", "package f\n")
	if !inBase {
		must(t, os.Remove(s.path("src/f.go")))
	}
	s.write(".gitignore", "*.out\nignored/\n")
	s.commit()
	s.git("branch", "-f", "main")
	s.git("update-ref", "refs/remotes/origin/main", "HEAD")
	s.write("src/f.go", flawed)
	s.write("src/g.go", "package f\n")
	s.now = time.Now().Add(time.Second / 50) // the clock of files lags
	s.answer(violations("critical", "it deletes everything"))
	s.want(Failed)
	s.answer(allGood)
	return s
}

// Each of these makes src/f.go disappear from a diff, or from what can be read in it. None of them closes
// what was found in it.
var hidings = map[string]string{
	"attribute of nobody's":      `echo 'src/f.go -diff' >> .git/info/attributes; printf '\0' >> src/f.go`,
	"binary by a byte":           `printf '\0' >> src/f.go`,
	"ignored":                    `git rm -q --cached src/f.go 2>/dev/null || true; echo src/f.go >> .git/info/exclude`,
	"ignored by a .gitignore":    `git rm -q --cached src/f.go 2>/dev/null || true; echo f.go > src/.gitignore`,
	"ignored by the user's file": `git rm -q --cached src/f.go 2>/dev/null || true; echo f.go > .git/ignore; git config core.excludesFile .git/ignore`,
	"moved to an ignored name":   `mv src/f.go src/f.out`,
	"moved, and edited a little": `mv src/f.go src/f.out; echo '// moved' >> src/f.out`,
	"copied into a folder":       `mkdir ignored; cat src/f.go > ignored/x; rm src/f.go`,
	"a separate repository":      `git rm -rq --cached src 2>/dev/null || true; git init -q src`,
	"one with a commit":          `git rm -rq --cached src 2>/dev/null || true; git init -q src; cd src; git add .; git -c user.name=a -c user.email=a@b commit -qm c`,
	"moved into a repository":    `mkdir src/in; git init -q src/in; mv src/f.go src/in/f.go`,
	"a link to a commit":         `git rm -rq --cached src 2>/dev/null || true; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),src`,
	"behind a link":              `mkdir ignored; mv src/f.go ignored/f.go; ln -s ../ignored/f.go src/f.go`,
	"behind a link of a folder":  `mkdir ignored; mv src ignored/src; ln -s ignored/src src`,
	"a clean filter":             `git add src/f.go; git config filter.x.clean 'echo package f'; echo 'src/f.go filter=x' >> .git/info/attributes; echo '// more' >> src/f.go`,
	"a hunk that is too long":    `head -c 2000000 /dev/zero | tr '\0' 'x' >> src/f.go`,
	"a pipe in its place":        `mv src/f.go src/f.out; mkfifo src/f.go`,
	"a folder in its place":      `mv src/f.go src/f.out; mkdir src/f.go; echo x > src/f.go/x`,

	// Where the review does not look.
	"moved out of the entry point":   `mkdir lib; mv src/f.go lib/`,
	"moved out, and edited a little": `mkdir lib; sed 's/dir string/d string/; s/list/all/' src/f.go > lib/g.go; rm src/f.go`,
	"copied out, then deleted":       `mkdir lib; cp src/f.go lib/; rm src/f.go`,
	"appended to another file":       `sed 1d src/f.go >> main.go; rm src/f.go`,
	"moved to an excluded name":      `mv src/f.go src/f.gen`,
	"moved into the logs":            `mv src/f.go gauntlet_logs/`,
	"into a folder of the logs":      `mkdir gauntlet_logs/old; mv src/f.go gauntlet_logs/old/f.go.log`,
	"into .gauntlet":                 `mv src/f.go .gauntlet/f.go`,
	"moved out and committed":        `mkdir lib; git add -A; git mv src/f.go lib/f.go; git commit -qm c`,
	"moved out and pushed":           `mkdir lib; git add -A; git mv src/f.go lib/f.go; git commit -qm c; git update-ref refs/remotes/origin/main HEAD`,
	"moved out, and a stub is left":  `mkdir lib; mv src/f.go lib/f.go; echo 'package f // see lib' > src/f.go`,
	"copied out, and reverted":       `mkdir lib; cp src/f.go lib/f.go; git checkout -q src/f.go 2>/dev/null || rm src/f.go`,
	"its folder is moved out":        `mkdir lib; mv src lib/; mkdir src; mv lib/src/g.go src/`,
	"its folder is moved, and used":  `mkdir lib; mv src lib/; mkdir src; cp lib/src/g.go src/; touch lib/src/new.go`,
	"its folder is ignored":          `mkdir ignored; mv src ignored/old; mkdir src; echo 'package f' > src/g.go`,
	"split in two":                   `mkdir lib; head -n 5 src/f.go > lib/a.go; sed 1,5d src/f.go > lib/b.go; rm src/f.go`,
	"split, and one half is seen":    `mkdir lib; head -n 5 src/f.go > lib/a.go; sed 1,5d src/f.go > src/b.go; rm src/f.go`,
	"split, one in the logs":         `mkdir lib; head -n 4 src/f.go > lib/a.go; sed 1,4d src/f.go > gauntlet_logs/b.go; rm src/f.go`,
	"into an ignored repository":     `mkdir ignored; git init -q ignored/r; mkdir ignored/r/deep; mv src/f.go ignored/r/deep/`,
	"into a repository elsewhere":    `git init -q lib; mkdir lib/deep; mv src/f.go lib/deep/`,
	"out of the project, and linked": `mkdir ../outside; mv src/f.go ../outside/; ln -s ../../outside/f.go src/h.go`,
	"with its folder, and linked":    `mkdir ../outside; mkdir src/d; mv src/f.go src/d/; mv src/d ../outside/; ln -s ../../outside/d src/d`,
}

func TestE10HidingAFileClosesNothing(t *testing.T) {
	for name, script := range hidings {
		for _, inBase := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				s := objected(t, inBase)
				s.sh(script)
				r := s.run()
				open := s.ledger().Open
				if r.Status != Failed || len(open) != 1 || len(open[0].Violations) != 1 {
					t.Fatalf("in the base %t: %s, open: %+v\n%s", inBase, r.Status, open, s.asked())
				}
				// Nor does time, while the file stays where it is.
				s.write("src/g.go", "package f // again\n")
				if r := s.run(); r.Status != Failed {
					t.Errorf("in the base %t: %s at the next run", inBase, r.Status)
				}
			})
		}
	}
}

// What is really fixed, deleted or moved to where it is seen closes with the reviewer's word.
func TestE10WhatIsSeenIsClosed(t *testing.T) {
	for name, tt := range map[string]struct {
		script string
		status Status
	}{
		"fixed":                           {`echo 'package f // fixed' > src/f.go`, Passed},
		"fixed beside an attribute":       {`echo '*.go -diff filter=none' > .git/info/attributes; echo 'package f // fixed' > src/f.go`, Passed},
		"not to be looked at":             {`git add src/f.go; git update-index --assume-unchanged src/f.go; echo 'package f // fixed' > src/f.go`, Passed},
		"intended":                        {`git add -N src/f.go; echo 'package f // fixed' > src/f.go`, Passed},
		"deleted":                         {`rm src/f.go`, Passed},
		"deleted with its folder":         {`rm -r src; mkdir src; echo 'package f' > src/g.go`, Passed},
		"deleted, and a part stays":       {`mkdir lib; head -n 3 src/f.go > lib/a.go; rm src/f.go`, Passed},
		"deleted, and lines are usual":    {`mkdir lib; for n in 3 4 7 8; do sed -n ${n}p src/f.go > lib/$n.go; done; rm src/f.go`, Passed},
		"deleted, and something is built": {`rm src/f.go; mkdir ignored; echo 'quite another thing' > ignored/f.go; cp .gauntlet/config.yml src/x.out`, Passed},
		"moved":                           {`mv src/f.go src/h.go`, Passed},
		"made a link to what is seen":     {`mv src/f.go src/h.go; ln -s h.go src/f.go`, Passed},
		"committed":                       {`echo 'package f // fixed' > src/f.go; git add -A; git commit -qm c`, Passed},
		"fixed beside a picture":          {`echo 'package f // fixed' > src/f.go; printf 'PNG\0' > src/a.png`, PassedWithWarnings},
		"fixed beside a repository":       {`echo 'package f // fixed' > src/f.go; git init -q src/in; echo x > src/in/x`, PassedWithWarnings},
		"fixed beside a long file":        {`echo 'package f // fixed' > src/f.go; seq 300000 > src/long`, PassedWithWarnings},
	} {
		for _, inBase := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				s := objected(t, inBase)
				s.sh(tt.script)
				if r := s.run(); r.Status != tt.status || len(s.ledger().Open) != 0 {
					t.Errorf("in the base %t: %s, want %s: %+v\n%s", inBase, r.Status, tt.status, r.Gates, s.asked())
				}
			})
		}
	}
}

// licensed is the head of every file of some projects.
const licensed = `// Licensed under the Example License, Version 2.0 (the "License");
// you may not use this file except in compliance with the License.
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" basis.
`

// What files of a project have in common, what was there before, and what the same review sees in
// another place is not hidden.
func TestE10WhatIsNotHiddenIsClosed(t *testing.T) {
	for name, tt := range map[string]struct{ config, script string }{
		"a new file with the same licence":  {oneReview, `rm src/f.go; cat old/1.go > lib/new.go; echo 'func another() {}' >> lib/new.go`},
		"the licence in a log":              {oneReview, `cp src/f.go gauntlet_logs/review_src_r_codex@1.9.log; rm src/f.go`},
		"an older copy that is checked out": {oneReview, `rm src/f.go lib/copy.go; git checkout -q lib/copy.go`},
		"moved to where the review looks":   {strings.Replace(oneReview, "  - path: src\n", "  - {path: old, reviews: [{name: r, prompt: look at it}]}\n  - path: src\n", 1), `mv src/f.go old/f.go`},
		"an older copy in a built folder":   {oneReview, `rm src/f.go; echo built > gen/new.out`},
		"edited beside a rewrite":           {oneReview, `echo 'package f // rewritten' > src/f.go; echo '// edited' >> lib/copy.go; git add -A`},
	} {
		t.Run(name, func(t *testing.T) {
			s := reviewed(t, tt.config)
			for _, old := range []string{"old/1.go", "old/2.go", "old/3.go", "lib/x.go"} {
				s.write(old, licensed+"package "+old[4:5]+"\n")
			}
			flaw := licensed + "package f\n\nfunc f() { panic(1) }\n"
			if strings.Contains(name, "older copy") {
				s.write("lib/copy.go", flaw)
			} else {
				s.write("lib/copy.go", licensed)
			}
			s.write(".gitignore", "gen/\n")
			s.write("gen/f.go", flaw) // built before
			must(t, os.Remove(s.path("src/f.go")))
			s.env = append(s.env, "GIT_COMMITTER_DATE=2020-01-01T00:00:00Z")
			s.commit()
			s.git("update-ref", "refs/remotes/origin/main", "HEAD")

			s.now = time.Now().Add(time.Second / 50) // the clock of files lags
			s.write("src/f.go", flaw)
			s.write("src/g.go", "package f\n")
			s.answer(violations("critical", "it deletes everything"))
			s.want(Failed)
			s.answer(allGood)
			s.sh(tt.script)
			if r := s.run(); r.Status != Passed {
				t.Errorf("%s: %+v", r.Status, r.Gates)
			}
		})
	}
}

// Where all lines of a file are usual in a project, they are all that can tell where it went.
func TestE10AFileOfUsualLinesIsFollowed(t *testing.T) {
	s := reviewed(t, oneReview)
	for _, old := range []string{"old/1.go", "old/2.go", "old/3.go"} {
		s.write(old, flawed)
	}
	s.commit()
	s.git("update-ref", "refs/remotes/origin/main", "HEAD")
	s.now = time.Now().Add(time.Second / 50) // the clock of files lags
	s.write("src/f.go", flawed)
	s.write("src/g.go", "package f\n")
	s.answer(violations("critical", "it deletes everything"))
	s.want(Failed)
	s.answer(allGood)
	s.sh(`mkdir lib; mv src/f.go lib/`)
	if r := s.run(); r.Status != Failed {
		t.Errorf("%s: %+v", r.Status, r.Gates)
	}
}

// Reviewers name a file as they like.
func TestE10AFileByAnotherNameIsFollowed(t *testing.T) {
	for _, name := range []string{"f.go", "a/src/f.go", "b/src/f.go", "./src/f.go", "ROOT/src/f.go"} {
		s := reviewed(t, oneReview)
		s.now = time.Now()
		s.write("src/f.go", flawed)
		s.answer(strings.ReplaceAll(violations("critical", "it deletes everything"), "src/f.go", strings.Replace(name, "ROOT", s.root, 1)))
		s.want(Failed)
		s.answer(allGood)
		s.sh(`mkdir lib; mv src/f.go lib/`)
		if r := s.run(); r.Status != Failed {
			t.Errorf("%s: %s: %+v", name, r.Status, r.Gates)
		}
	}
}

func TestE10RevertedFileIsSeen(t *testing.T) {
	for name, text := range map[string]string{"the same bytes": "package f\n", "other line ends": "package f\r\n"} {
		s := objected(t, true)
		if name == "other line ends" {
			s.git("config", "core.autocrlf", "true")
		}
		s.write("src/f.go", text)
		if r := s.run(); r.Status != Passed {
			t.Errorf("%s: %s: %+v", name, r.Status, r.Gates)
		}
	}
}

// A pass with what reviewers were not shown says so, also where it is proven; and so does the prompt.
func TestE10WhatIsNotShownIsNamed(t *testing.T) {
	s := reviewed(t, oneReview)
	s.answer(allGood)
	s.sh(`printf 'PNG\0' > src/a.png; git init -q src/in; echo x > src/in/x; head -c 1100000 /dev/zero | tr '\0' 'x' > src/long; mkfifo src/pipe`)
	names := []string{"src/a.png (binary)", "src/in (a separate repository)", "src/long (too long)"}
	r := s.want(PassedWithWarnings)
	for _, name := range names {
		if !strings.Contains(strings.Join(r.Warnings, "\n"), name) {
			t.Errorf("%s is not in the warnings %q", name, r.Warnings)
		}
		if !strings.Contains(s.asked(), name) {
			t.Errorf("%s is not in the prompt\n%s", name, s.asked())
		}
	}
	s.want(PassedWithWarnings)

	// It is said of a pass, and not beside what failed.
	s.write("src/f.go", "worse\n")
	s.answer(violations("high", "it is bad"))
	if r := s.want(Failed); len(r.Warnings) > 0 {
		t.Errorf("a failure has the warnings %q", r.Warnings)
	}
}
