package git

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

func newAside(t *testing.T, repo *gittest.Repo, c Conversion) *Aside {
	t.Helper()
	aside, err := at(repo).Aside(t.TempDir(), c, repo.Git("rev-parse", "HEAD"))
	check(t, err)
	t.Cleanup(aside.Close)
	return aside
}

// contentsOf are the contents of all files of HEAD.
func contentsOf(t *testing.T, repo *gittest.Repo, aside *Aside) map[string]string {
	t.Helper()
	head := repo.Git("rev-parse", "HEAD")
	listed, err := at(repo).Listed(t.Context(), head)
	check(t, err)
	var files []Stored
	for name, blob := range listed {
		files = append(files, Stored{blob, name})
	}
	got := map[string]string{}
	check(t, aside.Contents(t.Context(), head, files, 1000, func(i int, content []byte) { got[files[i].Path] = string(content) }))
	return got
}

// What was set before counts, and what came with commits; what was set since then does not.
func TestAsideKnowsWhatWasSetBefore(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		repo := gittest.New(t, "--object-format="+format)
		repo.Write(
			".gitattributes", "*.crlf text eol=crlf\n*.id ident\n*.f filter=before\n*.g filter=since\n", "sub/.gitattributes", "*.crlf -text\n",
			"a.crlf", "1\n", "sub/b.crlf", "1\n", "own.x", "1\n", "user.x", "1\n", "a.id", "$Id$\n", "a.f", "weak\n", "a.g", "strong\n", "plain", "1\n", "deep/plain", "1\n", "link/plain", "1\n",
		)
		environtest.Symlink(t, "plain eol=crlf", repo.Path("link/.gitattributes")) // git follows no link to attributes
		repo.Commit("one")
		repo.Write("deep/.gitattributes", "plain text eol=crlf\n") // git takes it from the index, and we do not
		repo.Git("add", "deep/.gitattributes")
		check(t, os.Remove(repo.Path("deep/.gitattributes")))
		repo.Write(".git/info/attributes", "own.x text eol=crlf\n", "user.attributes", "user.x text eol=crlf\n")
		repo.Git("config", "core.attributesFile", repo.Path("user.attributes"))
		repo.Git("config", "filter.before.smudge", "sed s/weak/strong/")
		repo.Git("config", "filter.before.required", "true")
		repo.Git("config", "filter.lfs.process", "git-lfs filter-process")
		before, err := at(repo).Conversion(t.Context(), true)
		check(t, err)
		want := Conversion{Settings: []string{"filter.before.smudge=sed s/weak/strong/"}, User: "user.x text eol=crlf\n", Repository: "own.x text eol=crlf\n"}
		if diff := cmp.Diff(want, before); diff != "" {
			t.Error(diff)
		}

		// All of this is the agent's.
		repo.Git("config", "filter.before.smudge", "echo weak")
		repo.Git("config", "filter.since.smudge", "echo weak")
		repo.Git("config", "filter.since.required", "true")
		repo.Git("config", "--global", "filter.since.smudge", "echo weak")
		repo.Git("config", "core.autocrlf", "true")
		repo.Write(".git/info/attributes", "plain ident eol=crlf\n", ".gitattributes", "* filter=since\n", "user.attributes", "* filter=since\n")

		got := contentsOf(t, repo, newAside(t, repo, before))
		id := repo.Git("rev-parse", "HEAD:a.id")
		delete(got, ".gitattributes")
		delete(got, "sub/.gitattributes")
		delete(got, "link/.gitattributes")
		files := map[string]string{
			"a.crlf": "1\r\n", "sub/b.crlf": "1\n", "own.x": "1\r\n", "user.x": "1\r\n", "a.id": "$Id: " + id + " $\n", "a.f": "strong\n", "a.g": "strong\n", "plain": "1\n", "deep/plain": "1\n", "link/plain": "1\n",
		}
		if diff := cmp.Diff(files, got); diff != "" {
			t.Errorf("%s: %s", format, diff)
		}
	}
}

// Of a session whose beginning was not seen, only what the user has set for all repositories is before it.
func TestConversionOfTheUserAlone(t *testing.T) {
	repo := gittest.New(t)
	repo.Write("a", "1\n", ".git/info/attributes", "* ident\n")
	repo.Commit("one")
	repo.Git("config", "--global", "core.autocrlf", "true")
	repo.Git("config", "--global", "filter.x.clean", "cat")
	repo.Git("config", "core.eol", "lf")
	repo.Git("config", "core.attributesFile", repo.Path("a"))
	repo.Git("config", "filter.x.smudge", "echo weak")
	repo.Git("config", "filter.git-crypt.smudge", `"git-crypt" smudge`)
	got, err := at(repo).Conversion(t.Context(), false)
	if diff := cmp.Diff(Conversion{Settings: []string{"core.autocrlf=true", "filter.x.clean=cat", "core.eol=lf", `filter.git-crypt.smudge="git-crypt" smudge`}}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if got := contentsOf(t, repo, newAside(t, repo, got)); got["a"] != "1\r\n" {
		t.Errorf("%q", got)
	}
}

// A merge driver is a program that may make anything of two sides, and none of git's.
func TestMergeRunsNoDriver(t *testing.T) {
	repo := gittest.New(t)
	lines := "1\n2\n3\n4\n5\n6\n7\n"
	repo.Write("a", lines, "b", lines, "all", lines, ".gitattributes", "a merge=evil\nall merge=union\n")
	repo.Commit("root")
	repo.Git("switch", "--quiet", "--create", "theirs")
	repo.Write("a", strings.Replace(lines, "1", "theirs", 1), "b", strings.Replace(lines, "1", "theirs", 1), "all", strings.Replace(lines, "1", "theirs", 1))
	theirs := repo.Commit("theirs")
	repo.Git("switch", "--quiet", "main")
	repo.Write("a", strings.Replace(lines, "7", "ours", 1), "b", strings.Replace(lines, "7", "ours", 1), "all", strings.Replace(lines, "1", "ours", 1))
	ours := repo.Commit("ours")

	ran := repo.Path("ran")
	for _, key := range []string{"merge.evil.driver", "merge.other.driver", "merge.text.driver"} {
		repo.Git("config", key, "touch '"+ran+"'; echo weak >%A")
		repo.Git("config", "--global", key, "touch '"+ran+"'; echo weak >%A")
	}
	repo.Git("config", "merge.default", "other")
	repo.Write(".git/info/attributes", "b merge=other\n")
	before, err := at(repo).Conversion(t.Context(), true)
	check(t, err)
	aside := newAside(t, repo, before)
	got, err := aside.Merge(t.Context(), ours, theirs, []string{"a", "b", "all"})
	check(t, err)
	if _, err := os.Stat(ran); err == nil {
		t.Error("a driver ran")
	}
	want := map[string]string{}
	for name, text := range map[string]string{"a": "theirs\n2\n3\n4\n5\n6\nours\n", "b": "theirs\n2\n3\n4\n5\n6\nours\n", "all": "ours\ntheirs\n2\n3\n4\n5\n6\n7\n"} {
		repo.Write("text", text)
		want[name] = repo.Git("hash-object", "text")
	}
	for name, id := range want {
		if got.Files[name].ID != id || got.Conflicts[name] {
			t.Errorf("%s: %v, conflict %t", name, got.Files[name], got.Conflicts[name])
		}
	}
}

// A clone without all of the history, or without all of the contents, has what it was cloned for.
func TestMergeInAClone(t *testing.T) {
	for _, how := range [][]string{{"--depth=2"}, {"--filter=blob:none"}} {
		from := gittest.New(t)
		from.Git("config", "uploadpack.allowFilter", "true")
		lines := "1\n2\n3\n4\n5\n6\n7\n"
		from.Write("a", "0\n", "other", "1\n")
		from.Commit("first")
		from.Write("a", lines)
		from.Commit("root")
		from.Git("switch", "--quiet", "--create", "theirs")
		from.Write("a", strings.Replace(lines, "1", "theirs", 1), "other", "2\n")
		from.Commit("theirs")
		from.Git("switch", "--quiet", "main")
		from.Write("a", strings.Replace(lines, "7", "ours", 1))
		from.Commit("ours")

		dir := gittest.Dir(t)
		from.Git(append([]string{"clone", "-q", "--no-single-branch", "file://" + from.Dir, dir}, how...)...)
		clone := gittest.At(t, dir)
		ours, theirs := clone.Git("rev-parse", "HEAD"), clone.Git("rev-parse", "origin/theirs")
		clone.Git("merge", "-q", "--no-edit", "origin/theirs")
		got, err := newAside(t, clone, Conversion{}).Merge(t.Context(), ours, theirs, []string{"a"})
		if want := clone.Git("rev-parse", "HEAD:a"); got.Files["a"].ID != want || got.Conflicts["a"] || err != nil {
			t.Errorf("%v: %v, %v", how, got, err)
		}
	}
}

func TestLargeFile(t *testing.T) {
	oid := strings.Repeat("ab", 32)
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + oid + "\nsize 12\n"
	for text, want := range map[string]string{
		pointer: oid, strings.Replace(pointer, "oid", "ext-0-x sha256:00\noid", 1): oid,
		"": "", "oid sha256:" + oid + "\n": "", strings.Replace(pointer, "ab", "zz", 1): "", pointer + strings.Repeat("x", 1000): "",
	} {
		if sum, is := LargeFile([]byte(text)); sum != want || is != (want != "") {
			t.Errorf("%q: %q, %t", text, sum, is)
		}
	}
}

func TestFetchesInALog(t *testing.T) {
	a, b, c, none := strings.Repeat("a", 40), strings.Repeat("b", 40), strings.Repeat("c", 40), strings.Repeat("0", 40)
	line := func(from, to, what string) string { return from + " " + to + " A U Thor <a@x> 1 +0000\t" + what + "\n" }
	for log, want := range map[string][][]Fetch{
		"":                               nil,
		line(none, a, "fetch: storing"):  nil,
		line(a, b, "fetch: forced-up"):   {{{a, b}}},
		line(a, b, "update by push"):     nil,
		line(a, b, ""):                   nil,
		line(a, b, "pull -q: fast-forw"): {{{a, b}}},
		line(a, b, "fetch") + line(b, c, "fetch origin: fast-forward"):           {{{b, c}, {a, b}}},
		line(a, b, "update by push") + line(b, c, "fetch: forced-update"):        {{{b, c}}},
		line(b, c, "fetch: forced-update") + line(c, a, "update by push"):        {{{b, c}}},
		line(a, b, "fetch") + line(b, c, "update by push") + line(c, a, "fetch"): {{{c, a}}, {{a, b}}},
		"cut off\n" + line(a, b, "fetch"):                                        {{{a, b}}},
	} {
		if diff := cmp.Diff(want, fetchesIn(log)); diff != "" {
			t.Errorf("%s%s", log, diff)
		}
	}
}
