package runbook

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
)

// Runbooks of oddjobs lie in .oj/runbooks, and are read as they are. What is called
// differently there and means the same is read; what changes nothing that runs is left out,
// with a warning; anything else is refused with what to write instead.
//
// In our own runbooks the same words are faults with the same advice. A word that our
// runbooks have by now is ours: its row has no effect.

// oddWord is a word of oddjobs.
type oddWord struct {
	in   table
	word string
	as   string // our word for it
	drop string // why it can be left out
	hint string // what to write instead
}

// table is a kind of table that words stand in.
type table string

const (
	inRunbook    table = "runbook"
	inRun        table = "run"
	inPipeline   table = "pipeline"
	inWorkspace  table = "workspace"
	inTransition table = "transition"
	inAgent      table = "agent"
	inAction     table = "action"
	inQueue      table = "queue"
	inQueueRetry table = "retry of a queue"
	inWorker     table = "worker"
)

func oddWords() []oddWord {
	return []oddWord{
		{in: inRunbook, word: "job", as: "pipeline"},
		{in: inRunbook, word: "jobs", as: "pipeline"},
		{in: inRunbook, word: "pipelines", as: "pipeline"},
		{in: inRunbook, word: "commands", as: "command"},
		{in: inRunbook, word: "agents", as: "agent"},
		{in: inRunbook, word: "imports", as: "import"},
		{in: inRunbook, word: "consts", as: "const"},
		{in: inRunbook, word: "queues", as: "queue"},
		{in: inRunbook, word: "workers", as: "worker"},
		{in: inRunbook, word: "cron", hint: `give the pipeline a schedule, such as "*/30 * * * *", and turn it on: stopgate schedule on`},
		{in: inRunbook, word: "crons", hint: `give the pipeline a schedule, such as "*/30 * * * *", and turn it on: stopgate schedule on`},

		{in: inQueue, word: "list", hint: `write source = { command = "…", every = "5m" } and the key that tells items apart`},
		{in: inQueue, word: "take", hint: "do that in the first step of the pipeline"},
		{in: inQueue, word: "poll", hint: `write source = { command = "…", every = "5m" }`},
		{in: inQueueRetry, word: "cooldown", as: "backoff"},
		{in: inWorker, word: "source", as: "queue"},
		{in: inWorker, word: "handler", as: "run"},
		{in: inWorker, word: "concurrency", as: "limit"},

		{in: inRun, word: "job", as: "pipeline"},
		{in: inRun, word: "attach", drop: "attach to the agent after the start: stopgate agent attach ID"},

		{in: inPipeline, word: "input", as: "vars"},
		{in: inPipeline, word: "source", as: "workspace"},
		{in: inPipeline, word: "name", drop: "a pipeline is listed by its id, its command and its arguments"},

		{in: inWorkspace, word: "ref", as: "base"},

		{in: inTransition, word: "attempts", drop: "a step that is entered more than 5 times fails its pipeline"},

		{in: inAgent, word: "on_exit", as: "on_dead"},
		{in: inAgent, word: "session", drop: "the agent's terminal has no colours or titles of its own"},
		{in: inAgent, word: "prime", hint: "put what the agent must know into its prompt, or have a step before it write that to a file and name the file in the prompt"},

		{in: inAction, word: "command", as: "run"},
	}
}

// oddActions are the actions of oddjobs by their names here, and what to write for those that
// there are not.
func oddActions() (same, other map[string]string) {
	return map[string]string{"recover": string(Resume)}, map[string]string{
		"ask":  `write { action = "nudge", message = "Ask with AskUserQuestion: …" }`,
		"auto": `write "escalate", or leave the field out`,
	}
}

// oddTemplates are the names before the dot of templates of oddjobs.
func oddTemplates() (same, other map[string]string) {
	const workspace = "of a workspace there are ${workspace.path}, ${workspace.branch} and ${workspace.base}; make names unique with ${pipeline_id}"
	return map[string]string{"args": "var", "input": "var"}, map[string]string{
		"workspace": workspace, "source": workspace,
		"item": "only a step with for_each has an item; give it as an argument of the command: ${var.NAME}",
	}
}

// fromOddjobs makes our words of those of oddjobs.
func (d *decoder) fromOddjobs(tree *node) {
	if d.oddjobs {
		d.oddCrons(tree)
	}
	d.oddTable(tree, inRunbook, d.fields())

	for _, p := range children(tree, "pipeline") {
		d.oddTable(p, inPipeline, d.pipelineFields(&pipelineDraft{}))
		d.oddWorkspace(p)
		d.oddTransitions(p)
		if steps := p.get("step"); steps != nil {
			for _, s := range steps.node.items {
				d.oddRun(s)
				d.oddTransitions(s)
			}
		}
	}

	for _, c := range children(tree, "command") {
		d.oddRun(c)
	}
	for _, a := range children(tree, "agent") {
		d.oddTable(a, inAgent, d.agentFields(&agentDraft{}))
		d.oddActions(a)
	}
	for _, q := range children(tree, "queue") {
		d.oddQueue(q)
	}
	for _, w := range children(tree, "worker") {
		d.oddWorker(w)
	}

	if d.oddjobs {
		d.oddTexts(tree)
	}
}

// children are the definitions of a kind.
func children(tree *node, kind string) (all []*node) {
	if group := tree.get(kind); group != nil {
		for _, e := range group.node.entries {
			all = append(all, e.node)
		}
	}
	return all
}

// oddQueue looks at a queue. One without attempts has no retry.
func (d *decoder) oddQueue(q *node) {
	kind, list := q.get("type"), q.get("list")
	switch {
	case kind != nil && kind.node.text == "persisted" && d.oddjobs:
		q.remove("type") // as all are here
	case list != nil && d.oddjobs:
		d.fault(list.at, "a queue with list and take is not supported", `write source = { command = "…", every = "5m" }, vars and key, and take the item in the first step of the pipeline`)
		q.kind, q.entries = document.Broken, nil
		return
	case kind != nil:
		d.fault(kind.at, "type of a queue is not supported", "leave it out")
		q.remove("type")
	}

	d.oddTable(q, inQueue, d.queueFields(&queueDraft{}, new(span)))
	retry := q.get("retry")
	if retry == nil {
		return
	}
	d.oddTable(retry.node, inQueueRetry, new(Retry).fields())
	if attempts := retry.node.get("attempts"); d.oddjobs && (attempts == nil || attempts.node.text == "0") {
		q.remove("retry")
	}
}

// oddWorker looks at a worker, whose source is a table with its queue.
func (d *decoder) oddWorker(w *node) {
	d.oddTable(w, inWorker, d.workerFields(&workerDraft{}))
	if queue := w.get("queue"); queue != nil && d.oddjobs {
		if inner := queue.node.get("queue"); inner != nil {
			*queue.node = *inner.node
		}
	}
	d.oddRun(w)
}

// oddRun looks at what a command or a step runs.
func (d *decoder) oddRun(of *node) {
	if run := of.get("run"); run != nil {
		d.oddTable(run.node, inRun, []field{{Name: "pipeline"}, {Name: "agent"}})
	}
}

func (d *decoder) oddTransitions(of *node) {
	for _, key := range []string{"on_done", "on_fail", "on_cancel"} {
		if e := of.get(key); e != nil {
			d.oddTable(e.node, inTransition, []field{{Name: "step"}})
		}
	}
}

func (d *decoder) oddActions(agent *node) {
	for _, key := range []string{"on_idle", "on_dead", "on_prompt", "on_error", "on_stop"} {
		e := agent.get(key)
		if e == nil {
			continue
		}
		for _, action := range append(e.node.items, e.node) {
			d.oddTable(action, inAction, []field{{Name: "run"}})
			word := action
			if given := action.get("action"); given != nil {
				word = given.node
			}
			d.oddAction(word, key)
		}
	}
}

// oddAction makes our action of one of oddjobs.
func (d *decoder) oddAction(word *node, trigger string) {
	if word.kind != document.Text {
		return
	}
	same, other := oddActions()
	if ours, ok := same[word.text]; ok {
		d.called(word.at, word.text, ours)
		word.text = ours
	}
	if hint, ok := other[word.text]; ok {
		if trigger == "on_stop" {
			hint = `write on_stop = "idle", and for on_idle ` + strings.TrimPrefix(hint, "write ")
		}
		d.fault(word.at, "there is no action "+quote(word.text), hint)
		word.kind = document.Broken
	}
}

// oddTable makes our words of a table's. What our runbooks have is left alone.
func (d *decoder) oddTable(n *node, in table, ours []field) {
	if n.kind != document.Mapping {
		return
	}

	for _, w := range oddWords() {
		e := n.get(w.word)
		isOurs := func(word string) bool {
			return slices.ContainsFunc(ours, func(f field) bool { return f.Name == word })
		}
		if e == nil || w.in != in || isOurs(w.word) {
			continue
		}

		given := *e
		n.remove(w.word)
		switch {
		case w.as != "":
			d.called(given.at, w.word, w.as)
			given.key = w.as
			d.join(n, given)
		case w.drop != "" && d.oddjobs:
			d.warn(given.at, w.word+" has no effect", w.drop)
		case w.drop != "":
			d.fault(given.at, "unknown field "+quote(w.word), w.drop)
		default:
			written := d.Text[given.at.at : given.at.at+given.at.size]
			d.unsupported(given, written, w.hint)
		}
	}
}

// unsupported is a fault for each definition of a group, at its own place: in TOML they may be anywhere in the
// file.
func (d *decoder) unsupported(group entry, written, hint string) {
	found := false
	for _, e := range group.node.entries {
		if e.node.kind == document.Mapping {
			found = true
			d.fault(e.at, written+" is not supported: "+quote(e.key), hint)
		}
	}
	if !found {
		d.fault(group.at, written+" is not supported", hint)
	}
}

// called says that a word has another name here, which only oddjobs' own runbooks need not
// know.
func (d *decoder) called(at span, word, ours string) {
	if !d.oddjobs {
		d.fault(at, quote(word)+" is called "+quote(ours)+" here", "write "+ours)
	}
}

// join adds a field to a table; definitions are added to those that are there.
func (d *decoder) join(n *node, e entry) {
	there := n.get(e.key)
	if there == nil || there.node.kind != document.Mapping || e.node.kind != document.Mapping {
		d.put(n, e)
		return
	}
	for _, inner := range e.node.entries {
		d.put(there.node, inner)
	}
}

// oddTexts makes our templates and durations of those below a node.
func (d *decoder) oddTexts(n *node) {
	if n.kind == document.Text {
		n.text = d.oddText(n)
	}
	for _, item := range n.items {
		d.oddTexts(item)
	}
	for _, e := range n.entries {
		if (e.key == "cooldown" || e.key == "backoff") && e.node.kind == document.Text {
			e.node.text = oddDuration(e.node.text)
		}
		d.oddTexts(e.node)
	}
}

func (d *decoder) oddText(n *node) string {
	same, other := oddTemplates()
	for _, cut := range substrings(n.text) {
		d.fault(d.inside(n.at, cut), cut+" is not supported: a template has no substrings", "cut the value in a script: printf '%.72s' \"${var.NAME}\"")
	}
	return replace(n.text, func(template string) (string, bool) {
		if ours, ok := oddPlaces[template]; ok {
			return "${" + ours + "}", true
		}
		prefix, rest, dotted := strings.Cut(template, ".")
		if ours, ok := same[prefix]; ok && dotted {
			return "${" + ours + "." + rest + "}", true
		}
		if hint, ok := other[prefix]; ok && !slices.Contains(Templates(), template) {
			d.fault(d.inside(n.at, "${"+template+"}"), "unknown template ${"+template+"}", hint)
		}
		return "", false
	})
}

// substrings are the templates with a place and a length behind the name: ${var.title:0:72}.
func substrings(text string) (all []string) {
	for rest := text; ; {
		_, after, found := strings.Cut(rest, "${")
		if !found {
			return all
		}
		rest = after
		inner, _, _ := strings.Cut(after, "}")
		name, place, cut := strings.Cut(inner, ":")
		if cut && strings.Contains(name, ".") && strings.Trim(name, nameLetters+".") == "" && strings.Trim(place, "0123456789:") == "" {
			all = append(all, "${"+inner+"}")
		}
	}
}

// oddDuration is a duration as we write it: oddjobs has days, and seconds without a unit.
func oddDuration(text string) string {
	number := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz ")
	count, err := strconv.Atoi(number)
	if err != nil {
		return text
	}
	switch strings.TrimSpace(text[len(number):]) {
	case "", "sec", "secs", "second", "seconds":
		return number + "s"
	case "min", "mins", "minute", "minutes":
		return number + "m"
	case "hr", "hrs", "hour", "hours":
		return number + "h"
	case "d", "day", "days":
		return strconv.Itoa(count*24) + "h"
	}
	return text
}

// localCommand says what to write for a local that is the output of a command.
func localCommand(text string) string {
	if strings.Contains(text, "rev-parse --show-toplevel") {
		return "write ${project} for the project's root"
	}
	return "run the command in the step that needs its output"
}

// oddShell makes a shell stop at the first command that fails, as it does in oddjobs.
const oddShell = "set -eu; (set -o pipefail) 2>/dev/null && set -o pipefail\n"
