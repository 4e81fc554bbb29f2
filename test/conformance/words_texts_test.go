package conformance

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// userText is something that a user may read. Its first line is that line of the file.
type userText struct {
	file string
	line int
	text string
}

// userTexts are the strings of the programs, the web pages, the documents, the examples, the plugin and what scripts print.
func userTexts(t *testing.T) (all []userText) {
	t.Helper()
	for _, root := range []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "action.yml", "cmd", "docs", "examples", "internal", "packaging", "plugin", "scripts"} {
		err := filepath.WalkDir(filepath.Join(repository, root), func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name, err := filepath.Rel(repository, path)
			if err != nil {
				return err
			}
			name = filepath.ToSlash(name)
			switch {
			case entry.IsDir() && (strings.HasSuffix(entry.Name(), "test") || entry.Name() == "testdata" || name == "docs/adr"): // decisions are history
				return fs.SkipDir
			case !entry.IsDir():
				all = append(all, textsOf(t, name)...)
			}
			return nil
		})
		check(t, err)
	}
	if len(all) < 3000 {
		t.Errorf("only %d texts found", len(all))
	}
	return all
}

// textsOf are the texts of one file, by its kind.
func textsOf(t *testing.T, name string) []userText {
	t.Helper()
	switch root, _, _ := strings.Cut(name, "/"); {
	case strings.HasSuffix(name, "/conformance.md"): // quotes specifications
		return nil
	case strings.HasSuffix(name, ".md"):
		return []userText{markdownText(name, page(t, name))}
	case strings.HasSuffix(name, "_test.go"):
		return nil
	case strings.HasSuffix(name, ".go"):
		return goTexts(t, name, page(t, name))
	case strings.HasSuffix(name, ".js") && !strings.Contains(name, "/vendor/"):
		return scriptedTexts(name, page(t, name))
	case root == "scripts":
		return scriptTexts(name, page(t, name))
	case root == "examples", root == "packaging", root == "action.yml", strings.HasSuffix(name, ".json"), // schemas have descriptions
		strings.HasSuffix(name, ".html"):
		return []userText{{name, 1, page(t, name)}}
	default:
		return nil
	}
}

// goTexts are the string literals with a space, except for struct tags, import paths and regular expressions.
// What is put together with + is one text.
func goTexts(t *testing.T, name, source string) (all []userText) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
	check(t, err)

	var visit func(ast.Node) bool
	visit = func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			if node.Type != nil {
				ast.Inspect(node.Type, visit)
			}
			return false
		case *ast.CallExpr:
			return !compilesPattern(node)
		case *ast.BasicLit, *ast.BinaryExpr:
			text, rest := joined(node.(ast.Expr))
			if strings.Contains(text, " ") {
				all = append(all, userText{name, files.Position(node.Pos()).Line, text})
			}
			for _, part := range rest {
				ast.Inspect(part, visit)
			}
			return false
		}
		return true
	}
	ast.Inspect(file, visit)
	return all
}

// joined is the text of literals that are put together, with a mark for all else, which is the rest.
func joined(expression ast.Expr) (text string, rest []ast.Expr) {
	switch e := expression.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return text, nil
		}
		return "", nil
	case *ast.BinaryExpr:
		left, some := joined(e.X)
		right, more := joined(e.Y)
		if e.Op != token.ADD {
			return "", []ast.Expr{e.X, e.Y}
		}
		return left + right, append(some, more...)
	default:
		return "…", []ast.Expr{expression}
	}
}

func compilesPattern(call *ast.CallExpr) bool {
	function, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	from, ok := function.X.(*ast.Ident)
	return ok && (from.Name == "regexp" || from.Name == "lazyregexp")
}

var (
	fence    = regexp.MustCompile("(?ms)^ *```.*?^ *```|^ *~~~.*?^ *~~~")
	codeSpan = regexp.MustCompile("(?s)``.+?``|`[^`]+`")
)

// markdownText is a page without its code. Lines stay where they are.
func markdownText(name, text string) userText {
	blank := func(code string) string {
		return strings.Map(func(r rune) rune {
			if r == '\n' {
				return r
			}
			return ' ' // a backtick would begin another span
		}, code)
	}
	text = fence.ReplaceAllStringFunc(text, blank)
	return userText{name, 1, codeSpan.ReplaceAllStringFunc(text, blank)}
}

var printed = regexp.MustCompile(`(?:^|[;{&|)]|then|else) *(?:echo|say|printf) (.*)`)

// scriptTexts are what the lines of a shell script print.
func scriptTexts(name, text string) (all []userText) {
	for at, line := range strings.Split(text, "\n") {
		if match := printed.FindStringSubmatch(strings.TrimSpace(line)); match != nil {
			all = append(all, userText{name, at + 1, match[1]})
		}
	}
	return all
}

var jsLiteral = regexp.MustCompile("\"(?:[^\"\\\\\n]|\\\\.)* (?:[^\"\\\\\n]|\\\\.)*\"|`[^`]* [^`]*`")

// scriptedTexts are the strings with a space in what a browser runs.
func scriptedTexts(name, text string) (all []userText) {
	for at, line := range strings.Split(text, "\n") {
		if code, _, _ := strings.Cut(line, "// "); strings.TrimSpace(code) != "" {
			for _, literal := range jsLiteral.FindAllString(code, -1) {
				all = append(all, userText{name, at + 1, literal[1 : len(literal)-1]})
			}
		}
	}
	return all
}
