// Package shell reads command lines of the POSIX shell and its relatives.
package shell

import (
	"path"
	"reflect"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/stopgate/stopgate/internal/gate/need"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Needs lists what a shell's command line needs, as far as that can be told without running
// it. home is what $HOME and ~ stand for.
func Needs(line, home string) []need.Need {
	r := &reader{home: home}
	r.script("sh", line)
	return r.needs
}

// reader reads a command line in the order in which it runs.
type reader struct {
	place
	home    string
	shell   string
	text    string          // what is read now
	defined map[string]bool // functions and aliases
	guarded map[string]bool // what the line looks for before it uses it
	loose   bool            // names may mean something else: PATH was changed, or a file read that may do so
	made    bool            // something ran that may have made files
	fed     bool            // words come to a command from elsewhere
	branch  int             // how many conditions decide whether this runs
	depth   int             // how many shells are around this one
	needs   []need.Need
}

// place is where a relative path begins. It is lost where a cd goes to a place that cannot be
// told.
type place struct {
	dir  string
	lost bool
}

// maxDepth bounds shells in shells.
const maxDepth = 8

// script reads a text in the language of a shell.
func (r *reader) script(shell, text string) {
	file := parse(shell, text)
	if file == nil || r.depth == maxDepth {
		r.riddle(text)
		return
	}

	outer := *r
	r.shell, r.text, r.depth = shell, text, r.depth+1
	r.defined, r.guarded = map[string]bool{}, map[string]bool{}

	syntax.Walk(file, func(node syntax.Node) bool {
		if f, is := node.(*syntax.FuncDecl); is && f.Name != nil {
			r.defined[f.Name.Value] = true
		}
		return true
	})
	r.walk(file)

	needs, made := r.needs, r.made
	*r = outer
	r.needs, r.made = needs, made
}

// parse reads a text as the shell would; nil where it cannot be read. What sh is differs, and
// a word that is not POSIX's is then a command for it to find.
func parse(shell, text string) *syntax.File {
	languages := []syntax.LangVariant{syntax.LangBash}
	switch shell {
	case "sh", "dash", "ash":
		languages = []syntax.LangVariant{syntax.LangPOSIX, syntax.LangBash}
	case "zsh":
		languages = []syntax.LangVariant{syntax.LangZsh}
	case "ksh", "mksh":
		languages = []syntax.LangVariant{syntax.LangMirBSDKorn, syntax.LangBash}
	}
	for _, language := range languages {
		if file, err := syntax.NewParser(syntax.Variant(language)).Parse(strings.NewReader(text), ""); err == nil {
			return file
		}
	}
	return nil
}

func (r *reader) walk(node syntax.Node) { syntax.Walk(node, r.visit) }

// visit reads one node; false means that it has read what is below, too.
func (r *reader) visit(node syntax.Node) bool {
	switch n := node.(type) {
	case *syntax.CallExpr:
		r.call(n)
	case *syntax.Assign:
		r.loose = r.loose || n.Name != nil && n.Name.Value == "PATH"
		return true
	case *syntax.BinaryCmd:
		r.pair(n)
	case *syntax.IfClause:
		r.choice(n)
	case *syntax.WhileClause:
		r.all(n.Cond)
		r.perhaps(n.Do)
	case *syntax.ForClause:
		r.walk(n.Loop)
		r.perhaps(n.Do)
	case *syntax.CaseClause:
		r.walk(n.Word)
		for _, item := range n.Items {
			r.perhaps(item.Stmts)
		}
	case *syntax.FuncDecl:
		r.perhaps([]*syntax.Stmt{n.Body})
	case *syntax.Subshell:
		r.apart(n.Stmts)
	case *syntax.CmdSubst:
		r.apart(n.Stmts)
	case *syntax.ProcSubst:
		r.apart(n.Stmts)
	default:
		return true
	}
	return false
}

func (r *reader) all(stmts []*syntax.Stmt) {
	for _, s := range stmts {
		r.walk(s)
	}
}

// perhaps reads what a condition decides about. Where a cd in it leads is not known after it.
func (r *reader) perhaps(stmts []*syntax.Stmt) {
	before := r.place
	r.branch++
	r.all(stmts)
	r.branch--
	r.lost = r.lost || r.place != before
}

// apart reads what runs in a shell of its own.
func (r *reader) apart(stmts []*syntax.Stmt) {
	before, loose := r.place, r.loose
	r.all(stmts)
	r.place, r.loose = before, loose
}

func (r *reader) choice(n *syntax.IfClause) {
	r.all(n.Cond)
	before := r.place
	r.perhaps(n.Then)
	after := r.place
	if n.Else != nil {
		r.place = before
		r.branch++
		r.choice(n.Else)
		r.branch--
		r.lost = r.lost || after.lost
	}
}

// pair reads commands with an operator between them. A command behind a test, or behind || may
// not be meant to run.
func (r *reader) pair(n *syntax.BinaryCmd) {
	r.walk(n.X)
	switch call, _ := n.X.Cmd.(*syntax.CallExpr); {
	case n.Op == syntax.OrStmt, n.Op == syntax.AndStmt && (isTest(n.X.Cmd) || call != nil && r.asks(call)):
		r.branch++
		r.walk(n.Y)
		r.branch--
	default:
		r.walk(n.Y)
	}
}

func isTest(command syntax.Command) bool {
	_, is := command.(*syntax.TestClause)
	return is
}

// asks reports whether a command only finds something out.
func (r *reader) asks(call *syntax.CallExpr) bool {
	args := r.words(call.Args)
	return len(args) > 0 && slices.Contains([]string{"[", "[[", "test", "command", "which", "type", "hash"}, args[0].text)
}

// call reads a simple command.
func (r *reader) call(n *syntax.CallExpr) {
	loose := r.loose
	for _, a := range n.Assigns {
		r.walk(a)
	}
	for _, w := range n.Args {
		r.walk(w) // for the commands in it
	}
	r.command(r.words(n.Args))
	if len(n.Args) > 0 {
		r.loose = loose || r.loose && !slices.ContainsFunc(n.Assigns, isPath) // they held for this command
	}
}

func isPath(a *syntax.Assign) bool { return a.Name != nil && a.Name.Value == "PATH" }

// command reads a command by its words, the first of which is the program.
func (r *reader) command(args []word) {
	if len(args) == 0 {
		return
	}
	name := args[0].text
	switch {
	case !args[0].known, r.found(name):
		r.riddle(args[0].source)
		r.made = true
		return
	case r.defined[name]:
		r.made = true
		return
	}

	r.program(name)
	r.manifest(path.Base(name), args[1:])
	if !r.builtin(name, args[1:]) && !r.start(path.Base(name), args[1:]) && !slices.Contains(harmless, name) {
		r.made = true
	}
}

// harmless are commands that make no files.
var harmless = strings.Fields(": [ alias cd echo exit export false pushd printf pwd read return set shift test trap true type ulimit umask unset wait which hash")

// builtin reads the commands that change what the following ones mean.
func (r *reader) builtin(name string, args []word) (is bool) {
	switch name {
	case "cd", "pushd":
		r.move(args)
	case ".", "source":
		r.sourced(args)
	case "eval":
		r.riddle("eval")
		r.loose = true
	case "alias":
		for _, a := range args {
			alias, _, _ := strings.Cut(a.text, "=")
			r.defined[alias] = true
		}
	case "export", "readonly", "declare", "typeset", "local":
		r.loose = r.loose || slices.ContainsFunc(args, func(a word) bool { return strings.HasPrefix(a.text, "PATH=") })
	case "which", "type", "hash":
		r.guard(args)
	case "command":
		if len(args) == 0 || !strings.EqualFold(args[0].text, "-v") {
			return false
		}
		r.guard(args)
	case "test", "[", "[[":
		r.guard(args)
	default:
		return false
	}
	return true
}

func (r *reader) guard(args []word) {
	for _, a := range args {
		r.guarded[a.text] = true
	}
}

func (r *reader) move(args []word) {
	for len(args) > 0 && len(args[0].text) > 1 && strings.HasPrefix(args[0].text, "-") {
		args = args[1:]
	}
	switch {
	case len(args) == 0 || !args[0].known || args[0].text == "-":
		r.lost = true
	case path.IsAbs(args[0].text):
		r.place = place{dir: args[0].text}
	default:
		r.dir = path.Join(r.dir, args[0].text)
	}
}

// sourced reads the name of a file that becomes part of the script.
func (r *reader) sourced(args []word) {
	switch {
	case len(args) == 0:
	case !args[0].known:
		r.riddle(args[0].source)
	case strings.Contains(args[0].text, "/"):
		r.file(args[0].text)
	default:
		r.add(need.Need{Kind: need.File, Text: args[0].text, Maybe: true}) // it may be on the PATH
	}
	r.loose = true
}

func (r *reader) program(name string) {
	if !strings.Contains(name, "/") {
		r.add(need.Need{Kind: need.Program, Text: name, Maybe: r.loose || r.guarded[name]})
		return
	}
	r.path(need.Program, name)
}

func (r *reader) file(name string) { r.path(need.File, name) }

// found reports whether find or xargs puts in a name, which they have from what is there.
func (r *reader) found(name string) bool { return r.fed && strings.Contains(name, "{}") }

// path needs a file, which a command before may make.
func (r *reader) path(kind need.Kind, name string) {
	if r.found(name) {
		return
	}
	if r.lost && !path.IsAbs(name) {
		r.riddle(name)
		return
	}
	r.add(need.Need{Kind: kind, Text: name, Maybe: r.made || r.guarded[name]})
}

func (r *reader) riddle(text string) {
	const most = 60 // characters of a whole script
	r.add(need.Need{Kind: need.Riddle, Text: plain.Clip(text, most)})
}

func (r *reader) add(n need.Need) {
	n.Maybe = n.Maybe || n.Kind == need.Riddle || n.Kind == need.Tool
	n.Branch = r.branch > 0 && !n.Maybe
	switch {
	case n.Kind == need.Riddle:
	case n.Kind == need.Program && !strings.Contains(n.Text, "/"):
		n.Shell = r.shell
	case !path.IsAbs(n.Text):
		n.Dir = r.dir
	}
	if !slices.ContainsFunc(r.needs, func(other need.Need) bool { return reflect.DeepEqual(other, n) }) {
		r.needs = append(r.needs, n)
	}
}
