package config

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// parse turns the text into a tree. An empty document is a null at its start;
// nil means that a fault was recorded.
func (d *decoder) parse() (root ast.Node) {
	if !d.checkText() || !d.checkSpeed() {
		return nil
	}

	// The parser has panicked on strange input before, and a hook call must
	// still be answered.
	defer func() {
		if recover() != nil {
			d.Fault(document.Span{}, "the YAML parser gave up", "")
			root = nil
		}
	}()

	tokens := lexer.Tokenize(d.Text)
	if !d.checkTokens(tokens) {
		return nil
	}
	// Duplicate keys are ours to report: the parser would stop at the first.
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		d.syntaxFault(err)
		return nil
	}

	for _, document := range file.Docs {
		if document.Body != nil {
			return document.Body
		}
	}
	return ast.Null(token.New("", "", &token.Position{Line: 1, Column: 1}))
}

// syntaxFault records what the parser says. Its own text for an error holds an
// excerpt too, which is not always right.
func (d *decoder) syntaxFault(err error) {
	// Naming the parser's error type would link its whole decoder.
	failure, ok := err.(interface {
		GetToken() *token.Token
		GetMessage() string
	})
	if !ok || failure.GetToken() == nil {
		d.Fault(document.Span{}, "not valid YAML: "+oneLine(err.Error()), "")
		return
	}
	at := mark{d, failure.GetToken()}.Span()
	message := "not valid YAML: " + oneLine(failure.GetMessage())
	line := d.Line(at.Line)
	if indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]; strings.Contains(indent, "\t") {
		at = document.Span{Line: at.Line, Column: 1 + strings.IndexByte(indent, '\t'), Width: 1}
		d.Fault(at, "not valid YAML: a tab in the indentation", "indent with spaces")
		return
	}
	d.Fault(at, message, "")
}

// oneLine keeps a message of the parser, which may quote the file, fit to print.
func oneLine(message string) string {
	const longest = 200
	message, _, _ = strings.Cut(message, "\n")
	return strings.Map(document.Visible, strings.ReplaceAll(plain.Clip(message, longest), "\t", " "))
}
