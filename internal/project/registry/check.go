package registry

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// Report is what Check found.
type Report struct {
	Agents           int
	Faults, Warnings []document.Fault // in the order of the file
}

// Check finds everything that is wrong with the registry, also what Load does not
// mind: what does nothing, and what is not there in this environment. It contacts
// nobody.
func Check(path string, env []string) Report {
	r, err := read(path, true)
	if err != nil {
		if faults, ok := errors.AsType[*document.Faults](err); ok {
			return Report{Faults: faults.All}
		}
		return Report{Faults: []document.Fault{document.OfFile(path, err.Error(), "")}}
	}

	registry := &Registry{}
	for i := range r.parsed {
		registry.entries = append(registry.entries, r.parsed[i].entry)
	}

	for i := range r.parsed {
		p := &r.parsed[i]
		r.at = p.at
		r.checkSession(i)
		r.checkRules(p)
		if p.Enabled {
			r.checkPlace(p, env)
			r.checkGateway(p, env)
			r.checkCycle(i, registry)
		}
	}
	r.checkMode()
	return Report{Agents: len(registry.Agents()), Faults: r.Faults(), Warnings: r.Warnings()}
}

// member is a value of the entry, else the entry itself.
func (p *parsed) member(path ...string) *hujson.Value {
	if v := jsonfile.At(p.node, path...); v != nil {
		return v
	}
	return p.node
}

// checkSession looks whether an earlier entry leaves anything to this one.
func (r *reader) checkSession(i int) {
	p := &r.parsed[i]
	v := p.member("session_name")
	if !IsPattern(p.SessionName) && strings.ContainsAny(p.SessionName, ".:") {
		r.warn(v, "session_name", "can never be the name of a session", "tmux calls it "+TmuxName(p.SessionName))
	}
	for j := range r.parsed[:i] {
		earlier := &r.parsed[j]
		if !earlier.Enabled || !p.Enabled {
			continue
		}
		if earlier.SessionName == p.SessionName {
			r.fault(v, "session_name", fmt.Sprintf("is the same as in agents[%d], which comes first", earlier.at), `switch one of them off with "enabled": false`)
			return
		}
		if IsPattern(p.SessionName) && covers(earlier.SessionName, p.SessionName) {
			r.warn(v, "session_name", fmt.Sprintf("never matches: agents[%d] (%s) comes first", earlier.at, earlier.SessionName), "put the narrower pattern first")
			return
		}
	}
}

// TmuxName is what tmux makes of a session's name.
func TmuxName(name string) string { return strings.NewReplacer(".", "_", ":", "_").Replace(name) }

// covers reports whether the first pattern takes all that the second does. It knows
// only the simple case, in which nothing but * stands for something in the first.
func covers(first, second string) bool {
	return strings.Contains(first, "*") && !strings.ContainsAny(first, `?[\`) && !strings.ContainsAny(second, `[\`) &&
		matches(first, second, sameBytes)
}

// checkRules finds rules that never apply: those behind a rule that takes all their
// questions.
func (r *reader) checkRules(p *parsed) {
	for i, rule := range p.Answers {
		for j, earlier := range p.Answers[:i] {
			if strings.EqualFold(earlier.Question, rule.Question) || covers(strings.ToLower(earlier.Question), strings.ToLower(rule.Question)) {
				v := p.member("answers")
				if a, ok := jsonfile.ArrayOf(v); ok {
					v = &a.Elements[i]
				}
				r.warn(v, fmt.Sprintf("answers[%d]", i), fmt.Sprintf("never applies: answers[%d] matches first", j), "the first rule that matches is used")
				break
			}
		}
	}
}

func (r *reader) checkPlace(p *parsed, env []string) {
	if p.WorkingDirectory == "" {
		return
	}
	v, dir := p.member("working_directory"), atHome(p.WorkingDirectory, env)
	info, err := os.Stat(dir)
	switch {
	case !filepath.IsAbs(dir):
		r.fault(v, "working_directory", "must be an absolute path", "")
	case err != nil:
		r.fault(v, "working_directory", "does not exist: "+dir, "")
	case !info.IsDir():
		r.fault(v, "working_directory", "is not a directory: "+dir, "")
	}
}

// checkGateway looks for what the transport will need.
func (r *reader) checkGateway(p *parsed, env []string) {
	g := p.Gateway
	r.checkOthers(p)
	switch g.Transport {
	case ViaOpenClaw:
		r.checkProgram(p.member("gateway", "program"), "gateway.program", g.Program, env)
	case ViaOpenClawHTTP:
		r.checkSecret(p, "token", g.TokenEnv, g.TokenFile, env)
	case ViaWebhook:
		if g.SecretEnv == "" && g.SecretFile == "" {
			r.warn(p.member("gateway"), "gateway.secret_env", "is missing: the receiver cannot verify that a message is from stopgate", "name a variable in secret_env or a file in secret_file")
			return
		}
		r.checkSecret(p, "secret", g.SecretEnv, g.SecretFile, env)
	case ViaCommand:
		r.checkProgram(p.member("gateway", "command"), "gateway.command", g.Command[0], env)
	}
}

// checkOthers finds what belongs to another transport.
func (r *reader) checkOthers(p *parsed) {
	if p.Gateway.Transport == "" || p.gateway == nil {
		return
	}
	known := r.gatewayMembers(&Gateway{})
	for i := range p.gateway.Members {
		m := &p.gateway.Members[i]
		name := jsonfile.StringOf(&m.Name)
		of := transportsOf(known, name)
		if of != nil && !slices.Contains(of, p.Gateway.Transport) {
			r.fault(&m.Name, "gateway."+name, "has no effect with the transport "+p.Gateway.Transport, "it belongs to "+strings.Join(of, " and "))
		}
	}
}

// transportsOf are those that a member of a gateway is for; nil for all.
func transportsOf(members []member, name string) []string {
	for _, m := range members {
		if m.name == name {
			return m.transports
		}
	}
	return nil
}

// checkProgram looks where the sender will.
func (r *reader) checkProgram(v *hujson.Value, path, program string, env []string) {
	file, found := Program(filepath.Dir(r.Name), program, env)
	if !found {
		r.fault(v, path, "is not on the PATH: "+program, "install it, or write its full path")
		return
	}
	if _, err := exec.LookPath(file); err != nil {
		r.fault(v, path, "is not a program: "+file, "")
	}
}

// checkSecret looks where a secret should be, and not at it.
func (r *reader) checkSecret(p *parsed, kind, variable, file string, env []string) {
	if file != "" {
		file = File(filepath.Dir(r.Name), file, env)
		path := "gateway." + kind + "_file"
		text, err := jsonfile.ReadText(file)
		switch {
		case err != nil:
			r.fault(p.member("gateway", kind+"_file"), path, "cannot be read: "+err.Error(), "")
		case strings.TrimSpace(string(text)) == "":
			r.fault(p.member("gateway", kind+"_file"), path, "is an empty file: "+file, "")
		}
		return
	}
	v := p.member("gateway", kind+"_env")
	if v == p.node {
		v = p.member("gateway")
	}
	if environ.Get(env, variable) == "" {
		r.fault(v, "gateway."+kind+"_env", variable+" is not set here", "set it where tmux and Claude Code are started, or use "+kind+"_file")
	}
}

// longestCycle is the number of agents that a cycle is looked for through.
const longestCycle = 100

// checkCycle follows agents that are sessions themselves. Each cycle is told once, at
// its first entry.
func (r *reader) checkCycle(start int, registry *Registry) {
	way := []string{}
	e := &registry.entries[start]
	for range longestCycle {
		if e.Gateway.Transport != ViaSession {
			return
		}
		way = append(way, e.Gateway.Session)
		next := registry.find(e.Gateway.Session)
		if next == nil || !next.named {
			return
		}
		if next == &registry.entries[start] {
			r.warn(r.parsed[start].member("gateway", "session"), "gateway.session", "leads back to this entry: they would wake each other forever ("+strings.Join(way, " → ")+")", "limit wake_on of one of them, or have it wake another session")
			return
		}
		for i := range registry.entries[:start] {
			if next == &registry.entries[i] {
				return // told there, if it is one
			}
		}
		e = next
	}
}

// checkMode minds who may write the file: it names programs that are run.
func (r *reader) checkMode() {
	if runtime.GOOS == "windows" {
		return
	}
	if info, err := os.Stat(r.Name); err == nil && info.Mode().Perm()&0o022 != 0 {
		r.Fault(document.Span{}, "others may write this file, which names programs to run", "chmod go-w "+r.Name)
	}
}
