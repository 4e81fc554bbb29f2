package runbook

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/lazyregexp"
)

// parseHCL reads HCL; nil means that it cannot be read, and that a fault says why.
func (s *source) parseHCL() *node {
	text := []byte(s.Text)
	if s.expansions {
		text = hideExpansions(text)
	}
	if !s.tame(text) {
		return nil
	}

	file, diagnostics := hclsyntax.ParseConfig(text, s.path, hcl.InitialPos)
	for _, d := range diagnostics {
		at := span{}
		if d.Subject != nil {
			at = spanOf(*d.Subject)
		}
		s.fault(at, lowered(strings.TrimSuffix(d.Summary, ".")), hintOf(d))
	}
	if len(diagnostics) > 0 {
		return nil
	}

	tree := s.body(file.Body.(*hclsyntax.Body), span{})
	if !s.bounded(tree) {
		return nil
	}
	return tree
}

func hintOf(d *hcl.Diagnostic) string {
	if strings.Contains(d.Summary, "template") || strings.Contains(d.Summary, "control") {
		return d.Detail + " For the shell, write $${ instead of ${ and %%{ instead of %{."
	}
	return d.Detail
}

func lowered(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToLower(first)) + text[size:]
}

func spanOf(r hcl.Range) span { return span{r.Start.Byte, r.End.Byte - r.Start.Byte} }

// tame looks at the tokens, since the parser recurses with what they nest, and takes
// quadratic time for what a text is made of.
func (s *source) tame(text []byte) bool {
	tokens, _ := hclsyntax.LexConfig(text, s.path, hcl.InitialPos)
	var t tamer
	for i, token := range tokens {
		message, hint := t.next(token.Type)
		if token.Type == hclsyntax.TokenMinus && i > 0 && tokens[i-1].Type == hclsyntax.TokenMinus {
			message = noExpressions
		}
		if message != "" {
			s.fault(spanOf(token.Range), message, hint)
			return false
		}
	}
	return true
}

// tamer counts tokens.
type tamer struct {
	depth    int // of all that nests
	inside   int // of ${ }
	controls int // %{, which begin and end without nesting
	lines    int // of heredocs
	pieces   int // of the text between quotes: what stands between $, % and ${ }
	all      int // pieces in the file
}

// next says what is wrong with a file that goes on with such a token, or "".
func (t *tamer) next(token hclsyntax.TokenType) (message, hint string) {
	switch token {
	case hclsyntax.TokenTemplateControl: // a few are named together with all other faults
		t.depth++
		if t.controls++; t.controls > maxDepth {
			return "%{ is not supported", "for the shell, write %%{ instead of %{"
		}
	case hclsyntax.TokenBang, hclsyntax.TokenQuestion:
		return noExpressions, ""
	case hclsyntax.TokenStringLit:
		t.lines++
	case hclsyntax.TokenQuotedLit:
		t.pieces++
		t.all++
	case hclsyntax.TokenTemplateInterp:
		t.depth++
		t.inside++
	case hclsyntax.TokenTemplateSeqEnd:
		t.depth--
		t.inside = max(t.inside-1, 0)
	case hclsyntax.TokenOQuote:
		if t.depth++; t.inside == 0 {
			t.pieces = 0
		}
	case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenOHeredoc:
		t.depth++
	case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
		t.depth--
	}

	switch {
	case t.lines > maxLines:
		return "heredocs have more than " + strconv.Itoa(maxLines) + " lines", "keep long scripts in files"
	case t.pieces > maxPieces || t.all > maxAllPieces:
		return "there are too many $ and % between quotes", "keep long scripts in files"
	case t.depth > maxDepth:
		return "nested more than 100 deep", ""
	}
	return "", ""
}

const noExpressions = "a value must be a literal: expressions, functions and variables are not supported"

// body is a table of a block's attributes and blocks, in the order of the file.
func (s *source) body(b *hclsyntax.Body, at span, first ...entry) *node {
	table := &node{kind: document.Mapping, at: at}
	for _, e := range first {
		table.put(e)
	}

	type part struct {
		at  int
		add func()
	}
	var parts []part
	for _, a := range b.Attributes {
		parts = append(parts, part{a.NameRange.Start.Byte, func() {
			s.put(table, entry{a.Name, spanOf(a.NameRange), s.expression(a.Expr)})
		}})
	}
	for _, inner := range b.Blocks {
		parts = append(parts, part{inner.TypeRange.Start.Byte, func() { s.block(table, inner) }})
	}

	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.at, b.at) })
	for _, p := range parts {
		p.add()
	}
	return table
}

// block adds a block to its table: under its label, to a list, or as it is.
func (s *source) block(table *node, b *hclsyntax.Block) {
	at := spanOf(b.TypeRange)
	named := slices.Contains([]string{"command", "pipeline", "job", "agent", "step", "parallel", "queue", "worker"}, b.Type)
	switch {
	case b.Type == "import":
		s.importBlock(table, at, b)
		return
	case named && len(b.Labels) == 0 && b.Type != "job": // which says of a command that it is one
		s.fault(at, b.Type+" needs a name", "write "+b.Type+" \"NAME\" {")
		return
	case len(b.Labels) > 1:
		s.fault(spanOf(b.LabelRanges[1]), b.Type+" has one name", "")
		return
	case !named && len(b.Labels) == 1 && slices.Contains(nameless(), b.Type):
		s.fault(spanOf(b.LabelRanges[0]), b.Type+" has no name", "write "+b.Type+" {")
		return
	case len(b.Labels) == 0:
		s.put(table, entry{b.Type, at, s.body(b.Body, at)})
		return
	}

	label := spanOf(b.LabelRanges[0])
	if b.Type == "step" || b.Type == "parallel" {
		name := &node{kind: document.Text, at: label, text: b.Labels[0]}
		s.item(table, b.Type, at, s.body(b.Body, label, entry{"name", label, name}))
		return
	}

	if table.get(b.Type) == nil {
		table.put(entry{b.Type, at, &node{kind: document.Mapping, at: at}})
	}
	if group := table.get(b.Type).node; group.kind == document.Mapping {
		s.put(group, entry{b.Labels[0], label, s.body(b.Body, label)})
		return
	}
	s.fault(at, "duplicate "+quote(b.Type), "")
}

// nameless are the blocks without a label. Any other block with one is read as a definition:
// that there is no such kind is said where the kinds are known.
func nameless() []string {
	return []string{
		"notify", "budget", "concurrency", "job", "schedule", "source", "retry", "expire", "env", "defaults", "locals", "run", "workspace", "vars", "outputs",
		"on_done", "on_fail", "on_cancel", "on_idle", "on_dead", "on_prompt", "on_error", "on_stop",
	}
}

// importBlock adds an import to the list of them. Its label is a file or a library: a file's
// name ends like one.
func (s *source) importBlock(table *node, at span, b *hclsyntax.Block) {
	var first []entry
	if len(b.Labels) > 0 {
		label := spanOf(b.LabelRanges[0])
		key := "library"
		if isRunbook(b.Labels[0]) {
			key = "file"
		}
		first = []entry{{key, label, &node{kind: document.Text, at: label, text: b.Labels[0]}}}
	}
	if len(b.Labels) > 1 {
		s.fault(spanOf(b.LabelRanges[1]), "import has one file", "write one import for each")
		return
	}
	s.item(table, "import", at, s.body(b.Body, at, first...))
}

// item adds a block to a list.
func (s *source) item(table *node, key string, at span, body *node) {
	table.put(entry{key, at, &node{kind: document.List, at: at}})
	if list := table.get(key).node; list.kind == document.List {
		list.items = append(list.items, body)
		return
	}
	s.fault(at, "duplicate "+quote(key), "")
}

// expression is a value that is written out.
func (s *source) expression(e hclsyntax.Expression) *node {
	n := &node{at: spanOf(e.Range())}
	n.text = s.Text[n.at.at : n.at.at+n.at.size]

	switch e := e.(type) {
	case *hclsyntax.TemplateExpr:
		n.text, n.kind = s.template(e.Parts)
		return n
	case *hclsyntax.TemplateWrapExpr:
		n.text, n.kind = s.template([]hclsyntax.Expression{e.Wrapped})
		return n
	case *hclsyntax.LiteralValueExpr:
		if n.kind = literal(e.Val); n.kind != document.Broken {
			return n
		}
	case *hclsyntax.UnaryOpExpr:
		if inner, ok := e.Val.(*hclsyntax.LiteralValueExpr); ok && e.Op == hclsyntax.OpNegate && literal(inner.Val) == document.Float {
			n.kind = document.Float
			return n
		}
	case *hclsyntax.TupleConsExpr:
		n.kind = document.List
		for _, item := range e.Exprs {
			n.items = append(n.items, s.expression(item))
		}
		return n
	case *hclsyntax.ObjectConsExpr:
		return s.object(e, n)
	case *hclsyntax.ScopeTraversalExpr:
		n.kind = document.Broken
		s.fault(n.at, noExpressions, "put it in quotes: "+quote(n.text))
		return n
	}

	n.kind = document.Broken
	s.fault(n.at, noExpressions, "")
	return n
}

func literal(v cty.Value) document.Kind {
	switch {
	case v.IsNull():
		return document.Broken
	case v.Type() == cty.Number:
		return document.Float
	case v.Type() == cty.Bool:
		return document.Boolean
	case v.Type() == cty.String:
		return document.Text
	}
	return document.Broken
}

func (s *source) object(e *hclsyntax.ObjectConsExpr, n *node) *node {
	n.kind = document.Mapping
	for _, item := range e.Items {
		at := spanOf(item.KeyExpr.Range())
		value := s.expression(item.ValueExpr)
		if key, ok := objectKey(item.KeyExpr); ok {
			s.put(n, entry{key, at, value})
			continue
		}
		s.fault(at, "a key must be a name", "")
	}
	return n
}

func objectKey(e hclsyntax.Expression) (string, bool) {
	wrapped, ok := e.(*hclsyntax.ObjectConsKeyExpr)
	if !ok || wrapped.ForceNonLiteral {
		return "", false
	}
	if word := hcl.ExprAsKeyword(wrapped); word != "" {
		return word, true
	}
	template, ok := wrapped.Wrapped.(*hclsyntax.TemplateExpr)
	if !ok || !template.IsStringLiteral() {
		return "", false
	}
	return template.Parts[0].(*hclsyntax.LiteralValueExpr).Val.AsString(), true
}

// template is the text of quotes or of a heredoc. Names in ${ } are ours or the shell's,
// not HCL's: they come out as they stand there.
func (s *source) template(parts []hclsyntax.Expression) (string, document.Kind) {
	var b strings.Builder
	for _, part := range parts {
		at := spanOf(part.Range())
		literal, isLiteral := part.(*hclsyntax.LiteralValueExpr)
		if isLiteral && literal.Val.Type() == cty.String && !literal.Val.IsNull() {
			b.WriteString(literal.Val.AsString())
			continue
		}

		name, isName := dotted(part)
		if raw, ok := rawConst(part); ok {
			name, isName = raw, true
		}
		if written := s.Text[at.at : at.at+at.size]; s.expansions && strings.Contains(written, ":") {
			name = written
		}
		if isLiteral { // a number: $1 of the shell
			name = s.Text[at.at : at.at+at.size]
		}

		if strings.HasPrefix(s.Text[at.at:], "%{") {
			s.fault(span{at.at, 2}, "%{ is not supported", "for a condition on a const, give the whole text as a const; for the shell, write %%{ instead of %{")
			return "", document.Broken
		}
		if !isLiteral && !isName {
			s.fault(at, "only names are allowed between ${ and }: "+quote(s.Text[at.at:at.at+at.size])+" is an expression",
				"for the shell, write $${ instead of ${ and %%{ instead of %{")
			return "", document.Broken
		}
		if s.trimmed(at) {
			s.fault(at, "~ between ${ and } is not supported", "")
			return "", document.Broken
		}

		b.WriteString("${" + name + "}")
	}
	return b.String(), document.Text
}

// anExpansion is one of the shell with more than a name in it, which HCL cannot read.
var anExpansion = lazyregexp.New(`[^$]\$\{[A-Za-z_][A-Za-z0-9_.]*:[^{}"\n]*\}`)

// hideExpansions puts names of the same length in the place of what HCL cannot read.
func hideExpansions(text []byte) []byte {
	return anExpansion.Get().ReplaceAllFunc(text, func(found []byte) []byte {
		const before = len("x${")
		name := strings.Repeat("x", len(found)-before-len("}"))
		return slices.Concat(found[:before], []byte(name), []byte("}"))
	})
}

// rawConst is the const in ${raw(const.NAME)}: consts are always put in as they are.
func rawConst(e hclsyntax.Expression) (string, bool) {
	call, ok := e.(*hclsyntax.FunctionCallExpr)
	if !ok || call.Name != "raw" || len(call.Args) != 1 {
		return "", false
	}
	name, ok := dotted(call.Args[0])
	return name, ok && strings.HasPrefix(name, constPrefix)
}

// dotted is a name, or names with dots between them.
func dotted(e hclsyntax.Expression) (string, bool) {
	names, ok := e.(*hclsyntax.ScopeTraversalExpr)
	if !ok {
		return "", false
	}
	name := names.Traversal.RootName()
	for _, step := range names.Traversal[1:] {
		inner, ok := step.(hcl.TraverseAttr)
		if !ok {
			return "", false
		}
		name += "." + inner.Name
	}
	return name, true
}

// trimmed reports whether white space around ${ } is cut by a ~ at either end.
func (s *source) trimmed(at span) bool {
	before := strings.TrimRightFunc(s.Text[:at.at], unicode.IsSpace)
	after := strings.TrimLeftFunc(s.Text[at.at+at.size:], unicode.IsSpace)
	return strings.HasSuffix(before, "~") || strings.HasPrefix(after, "~")
}
