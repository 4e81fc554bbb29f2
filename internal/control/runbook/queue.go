package runbook

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/project/document"
)

// Queue is work that waits for workers: items with values for variables.
type Queue struct {
	Name     string
	Vars     []string // of each item
	Defaults map[string]string
	Key      string // the variable that tells items apart; "" where each is another
	Retry    Retry
	Source   Source
}

// Source is a command that lists items. Without one they are added by hand.
type Source struct {
	Command string
	Every   time.Duration
}

// Attempts is how often an item is tried before it is dead.
func (q Queue) Attempts() int { return max(q.Retry.Attempts, 1) }

// Worker runs a pipeline for each item of a queue.
type Worker struct {
	Name  string
	Queue string
	Run   Run
	Limit int // how many items at once
	Job   Job // a job of the fleet is added for each item, and nothing started here
}

// defaultEvery is how often a source is asked where it does not say so.
const defaultEvery = 5 * time.Minute

// leastEvery keeps a source from being asked again and again without a pause.
const leastEvery = time.Second

type queueDraft struct {
	Queue
	at     span
	broken bool // what its items have is not known
}

type workerDraft struct {
	Worker
	at, queueAt, runAt span
}

func (d *decoder) queue(v value) {
	q := &queueDraft{Queue: Queue{Name: v.Name}, at: keyOf(v)}
	var keyAt span
	if q.broken = !v.Mapping(d.queueFields(q, &keyAt)...); !q.broken {
		d.checkQueue(v, q, keyAt)
	}
	d.queues = append(d.queues, q)
}

func (d *decoder) queueFields(q *queueDraft, keyAt *span) []field {
	return []field{
		document.Key("vars", &q.Vars, nameList, "The variables of each item.").Needed(),
		document.Key("defaults", &q.Defaults, texts(badName, nameSchema, text), "Values of variables that an item does not have."),
		document.Key("key", &q.Key, document.Then(text, func(v value, key string) (string, bool) {
			*keyAt = nodeOf(v).at
			return key, true
		}), "The variable that tells items apart: each of its values is taken once."),
		document.Key("retry", &q.Retry, retry(), "How often an item is tried before it is dead."),
		document.Key("source", &q.Source, d.sourceOf(), "A command that lists items."),
	}
}

func (d *decoder) sourceOf() typeOf[Source] {
	return document.Then(document.Object(d.sourceFields).As(document.Ref("source")), func(v value, s Source) (Source, bool) {
		if s.Every == 0 {
			s.Every = defaultEvery
		}
		return s, true
	})
}

func (d *decoder) sourceFields(s *Source) []field {
	return []field{
		document.Key("command", &s.Command, text, "Prints a JSON array of objects, or one object per line.").Needed(),
		document.Key("every", &s.Every, document.Then(duration, notTooOften), "How often it runs, at least 1s.").Default("5m"),
	}
}

func notTooOften(v value, every time.Duration) (time.Duration, bool) {
	if every < leastEvery {
		wrong(v, "a source is asked at most once a second", `such as: every = "5m"`)
	}
	return every, every >= leastEvery
}

// nameList is a list of variables.
var nameList = variableList(badName, nameSchema, `such as: ["number", "title"]`).With("minItems", 1)

func (d *decoder) checkQueue(v value, q *queueDraft, keyAt span) {
	if vars := nodeOf(v).get("vars"); len(q.Vars) == 0 && vars != nil && len(vars.node.items) == 0 {
		d.fault(vars.at, "a queue needs a variable", `such as: vars = ["number"]`)
	}
	if q.Key != "" && !slices.Contains(q.Vars, q.Key) {
		d.fault(keyAt, "there is no variable "+quote(q.Key)+" in queue "+quote(q.Name), document.OrValid("variable", q.Key, q.Vars))
	}
	if source := nodeOf(v).get("source"); q.Key == "" && source != nil {
		d.fault(source.at, "a queue with a source needs a key: the variable that tells its items apart", `such as: key = "number"`)
	}
	for _, name := range slices.Sorted(maps.Keys(q.Defaults)) {
		if !slices.Contains(q.Vars, name) {
			d.fault(nodeOf(v).get("defaults").at, "there is no variable "+quote(name)+" in queue "+quote(q.Name), document.OrValid("variable", name, q.Vars))
		}
	}
	if d.oddjobs { // what its pipelines call the fields of an item
		q.Key = ""
	}
}

func (d *decoder) worker(v value) {
	w := &workerDraft{Worker: Worker{Name: v.Name, Limit: 1}, at: keyOf(v)}
	v.Mapping(d.workerFields(w)...)
	d.workers = append(d.workers, w)
}

func (d *decoder) workerFields(w *workerDraft) []field {
	return []field{
		document.Key("queue", &w.Queue, document.Then(text, func(v value, name string) (string, bool) {
			w.queueAt = nodeOf(v).at
			return name, true
		}), "The queue whose items it works on.").Needed(),
		{Name: "run", Required: true, Read: func(v value) {
			w.runAt = nodeOf(v).at
			if v.Node.Kind() != document.Mapping {
				wrong(v, "run of a worker must name a pipeline", `write { pipeline = "NAME" }`)
				return
			}
			readReference(v, &w.Run, &w.runAt, []string{"pipeline"})
		}, Type: func() schema {
			return document.Properties(field{Name: "pipeline", Required: true, Type: nameSchema})
		}, Says: "The pipeline that it runs for each item: { pipeline = \"NAME\" }."},
		document.Key("limit", &w.Limit, count, "How many items it works on at once.").Default(1),
		document.Key("job", &w.Job, job, "Add a job to the fleet for each item, in place of a pipeline on this machine: true, or a table."),
	}
}

// checkWorkers looks at what workers name.
func (d *decoder) checkWorkers(pipelines []string) {
	queues := names(d.queues, func(q *queueDraft) string { return q.Name })
	for _, w := range d.workers {
		d.checkReference("queue", w.Queue, w.queueAt, queues)
		d.checkReference("pipeline", w.Run.Pipeline, w.runAt, pipelines)
	}
	for _, q := range d.queues {
		if !slices.ContainsFunc(d.workers, func(w *workerDraft) bool { return w.Queue == q.Name }) {
			d.warn(q.at, "no worker works on queue "+quote(q.Name), "")
		}
	}
	if d.from == nil {
		return
	}
	for _, q := range d.queues {
		d.fault(q.at, "a queue cannot be imported", "move it to the file that imports this one")
	}
	for _, w := range d.workers {
		d.fault(w.at, "a worker cannot be imported", "move it to the file that imports this one")
	}
}

// workerStarters are workers as commands that no person has.
func (d *decoder) workerStarters() (all []*commandDraft) {
	for _, w := range d.workers {
		i := slices.IndexFunc(d.queues, func(q *queueDraft) bool { return q.Name == w.Queue })
		if i < 0 {
			continue
		}
		command := Command{Name: w.Name, Run: w.Run, Defaults: map[string]string{}}
		for _, name := range d.queues[i].Vars {
			command.Defaults[name] = ""
		}
		for _, p := range d.allPipelines() {
			if d.oddjobs && p.Name == w.Run.Pipeline {
				command.Defaults = p.oddItem(command.Defaults)
			}
		}
		all = append(all, &commandDraft{Command: command, home: d, at: w.at, runAt: w.runAt, starter: "worker " + quote(w.Name), broken: d.queues[i].broken})
	}
	return all
}

// oddItem are the values of an item with the names that a pipeline of oddjobs knows them by, too: the
// name of its first variable stands before them.
func (p Pipeline) oddItem(vars map[string]string) map[string]string {
	all := maps.Clone(vars)
	if len(p.Vars) == 0 {
		return all
	}
	for name, value := range vars {
		all[p.Vars[0]+"."+name] = value
	}
	if _, known := all[p.Vars[0]]; !known {
		all[p.Vars[0]] = ""
	}
	return all
}

// WorkerFound is a worker with its queue and the runbook that both stand in.
type WorkerFound struct {
	Worker
	Queue   Queue
	Runbook Runbook
}

// Workers are all there are, by name.
func (s Set) Workers() (all []WorkerFound) {
	for _, book := range s.Runbooks {
		for _, w := range book.Workers {
			all = append(all, WorkerFound{w, book.Queues[w.Queue], book})
		}
	}
	slices.SortFunc(all, func(a, b WorkerFound) int {
		return strings.Compare(a.Name+"\n"+a.Runbook.Path, b.Name+"\n"+b.Runbook.Path)
	})
	return all
}

// QueueFound is a queue and the runbook that it stands in.
type QueueFound struct {
	Queue
	Runbook Runbook
}

// Queues are all there are, by name.
func (s Set) Queues() (all []QueueFound) {
	for _, book := range s.Runbooks {
		for _, q := range book.Queues {
			all = append(all, QueueFound{q, book})
		}
	}
	slices.SortFunc(all, func(a, b QueueFound) int {
		return strings.Compare(a.Name+"\n"+a.Runbook.Path, b.Name+"\n"+b.Runbook.Path)
	})
	return all
}

// Start is the command, which no person has, that the worker starts for an item.
func (w WorkerFound) Start(vars map[string]string) Command {
	given := with(maps.Clone(w.Queue.Defaults), vars)
	if p := w.Runbook.Pipelines[w.Run.Pipeline]; w.Runbook.Oddjobs {
		given = p.oddItem(given)
	}
	return Command{Name: w.Name, Defaults: given, Run: w.Run}
}
