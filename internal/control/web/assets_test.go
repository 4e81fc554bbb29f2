package web

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/lazyregexp"
)

// What others wrote is what the list says: nothing is edited, nothing is missing, nothing is there besides.
func TestIssue18VendoredFilesAreThoseOfTheList(t *testing.T) {
	files, err := fs.Sub(assetFiles, "assets/vendor")
	check(t, err)
	text, err := fs.ReadFile(files, "list.txt")
	check(t, err)
	listed := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) == 5 && fields[0] != "#" {
			listed[fields[0]] = fields[4]
		}
	}
	entries, err := fs.ReadDir(files, ".")
	check(t, err)
	if len(entries) != len(listed)+1 || len(listed) < 4 {
		t.Errorf("%d files, %d in the list", len(entries), len(listed))
	}
	for _, entry := range entries {
		if entry.Name() == "list.txt" {
			continue
		}
		content, err := fs.ReadFile(files, entry.Name())
		check(t, err)
		sum := sha256.Sum256(content)
		if got := hex.EncodeToString(sum[:]); got != listed[entry.Name()] {
			t.Errorf("%s: %s, not %s: run scripts/vendor-web", entry.Name(), got, listed[entry.Name()])
		}
	}
}

// Browsers keep an asset for ever by its hash, and ask again for those without one.
func TestIssue18AssetsAreKeptByTheirHash(t *testing.T) {
	s := newScene(t)
	v := s.visitor()
	for name, a := range assets() {
		r := v.get(a.url)
		if r.status != http.StatusOK || r.body != string(a.content) || !strings.Contains(r.header.Get("Cache-Control"), "immutable") || r.header.Get("Content-Type") == "" {
			t.Errorf("%s: %d, %v", name, r.status, r.header)
		}
		if r := v.get("/assets/000000000000/" + name); r.status == http.StatusOK {
			t.Errorf("%s is found under another hash", name)
		}
	}
	for path := range fixed {
		if r := v.get(path); r.status != http.StatusOK || r.header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %d, %v", path, r.status, r.header)
		}
	}
	if r := v.get("/assets/../ui.json"); r.status == http.StatusOK {
		t.Errorf("%+v", r)
	}
}

var (
	styledClass = lazyregexp.New(`\.([a-zA-Z][\w-]*)`)
	usedClasses = lazyregexp.New(`class="([^"{}]*)"`)
)

// Each class of a template has a style: two pages that name their own alike would lose one in silence.
func TestIssue18EveryClassIsStyled(t *testing.T) {
	style, err := assetFiles.ReadFile("assets/page.css")
	check(t, err)
	styled := map[string]bool{}
	for _, found := range styledClass.Get().FindAllStringSubmatch(string(style), -1) {
		styled[found[1]] = true
	}
	all, err := fs.Glob(templateFiles, "templates/*.html")
	check(t, err)
	for _, name := range all {
		text, err := templateFiles.ReadFile(name)
		check(t, err)
		for _, found := range usedClasses.Get().FindAllStringSubmatch(string(text), -1) {
			for class := range strings.FieldsSeq(found[1]) {
				if !styled[class] {
					t.Errorf("%s: nothing styles %q", name, class)
				}
			}
		}
	}
}
