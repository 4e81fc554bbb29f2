package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"os"
	"slices"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/manual"
)

// file is a file below a prefix, such as /usr.
type file struct {
	path    string
	mode    int64
	content []byte
}

func sorted(files []file) []file {
	return slices.SortedFunc(slices.Values(files), func(a, b file) int { return cmp.Compare(a.path, b.path) })
}

// docs is the directory that is the package's own.
const docs = "share/doc/stopgate/"

// sharedFiles are the files that are the same on each platform: the manual, completions, and what they say
// about themselves.
func sharedFiles(e edition) ([]file, error) {
	var files []file
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{docs + name, 0o644, content})
	}

	pages, err := manualPages(e)
	if err != nil {
		return nil, err
	}
	completions, err := completions()
	return append(append(files, pages...), completions...), err
}

func manualPages(e edition) ([]file, error) {
	pages := manual.Pages(cli.Tree(), manual.Edition{Version: e.version, Date: e.date.Format("2006-01-02")})
	text, err := os.ReadFile("packaging/stopgated.1")
	if err != nil {
		return nil, err
	}
	pages = append(pages, manual.Page{Name: "stopgated.1", Text: string(text)})

	var files []file
	for _, page := range pages {
		content, err := zipped([]byte(page.Text))
		if err != nil {
			return nil, err
		}
		files = append(files, file{"share/man/man1/" + page.Name + ".gz", 0o644, content})
	}
	return files, nil
}

// completions are the scripts that stopgate completion prints, where shells look for them.
func completions() ([]file, error) {
	root := cli.Tree()
	var bash, zsh, fish bytes.Buffer
	if err := cmp.Or(root.GenBashCompletionV2(&bash, true), root.GenZshCompletion(&zsh), root.GenFishCompletion(&fish, true)); err != nil {
		return nil, err
	}
	return []file{
		{"share/bash-completion/completions/stopgate", 0o644, bash.Bytes()},
		{"share/zsh/site-functions/_stopgate", 0o644, zsh.Bytes()},
		{"share/fish/vendor_completions.d/stopgate.fish", 0o644, fish.Bytes()},
	}, nil
}

// zipped compresses without a name and a time, so that the same content gives the same bytes.
func zipped(content []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}
