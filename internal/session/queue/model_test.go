package queue

import (
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/sys/racetest"
)

// world is a client in its terminal, a person who uses it too, and the process that
// types, which may die between any two of its steps. Hooks may come twice, late, and
// in another order.
type world struct {
	*rapid.T
	q    Queue
	over bool
	n    int // makes every id and message another one
	now  time.Time

	disturbed map[string]bool // what besides the queue happens in this world

	// The client.
	alive  bool
	box    string // what stands in the input box
	client string // its session
	prompt string // the newest
	turn   *turn
	turns  map[string]turn // by prompt

	// The hooks.
	told []Event
	late []Event

	intruded bool // somebody typed what is no command

	seen *Stuck // what the process that watches over queues saw

	// The one who types.
	typer    *typer
	begun    map[int]int
	pressed  map[int]int
	finished map[int]string // the commands at their end, as they were then
}

type turn struct{ prompt, text, message string }

// typer is a process that delivers a command; next is what it does between two
// changes of the queue.
type typer struct {
	id   int
	next func()
}

var disturbances = []string{
	"lost Enter", "typer dies", "hooks late", "hooks twice", "person", "person sends the same", "person clears",
	"interrupt", "API fails", "background task", "compaction", "client ends", "impatience", "two type", "watcher",
}

func newWorld(t *rapid.T) *world {
	texts := rapid.SliceOfN(rapid.SampledFrom([]string{"/clear", "/compact", "/compact keep it", "/gsd:plan-phase 3", "a", "a", "b", "two\nlines"}), 1, 5).Draw(t, "commands")
	w := &world{
		T: t, now: noon, alive: true, client: "client0", prompt: "prompt0", turns: map[string]turn{},
		begun: map[int]int{}, pressed: map[int]int{}, finished: map[int]string{}, disturbed: map[string]bool{},
		q: New("s", "q1", texts, noon),
	}
	for _, d := range rapid.SliceOfNDistinct(rapid.SampledFrom(disturbances), 0, 5, rapid.ID[string]).Draw(t, "disturbances") {
		w.disturbed[d] = true
	}
	return w
}

// happens reports whether a disturbance takes place now.
func (w *world) happens(what string) bool {
	return w.disturbed[what] && rapid.IntRange(0, 3).Draw(w.T, what) == 0
}

func (w *world) id(kind string) string {
	w.n++
	return fmt.Sprint(kind, w.n)
}

// apply gives an event to the queue and checks everything that must always be so.
func (w *world) apply(e Event) Transition {
	w.now = w.now.Add(time.Millisecond)
	before := encoded(w.T, w.q)
	o := Apply(w.q, e, w.now)
	if encoded(w.T, w.q) != before {
		w.Fatalf("%T %+v changed its argument, which was\n%s", e, e, before)
	}
	now := encoded(w.T, o.Queue)
	if !o.Changed && now != before {
		w.Fatalf("%T %+v does not own up to its change:\n%s\n%s", e, e, before, now)
	}
	_, ended := o.Ended()
	if w.over && (o.Changed || o.Drive || !ended || o.Action != Finished) {
		w.Fatalf("%T %+v: the queue had ended, and now: %s\n%s", e, e, o.Action, now)
	}
	if ended && o.Drive {
		w.Fatalf("%T %+v: nothing is to be typed when all is over", e, e)
	}
	w.count(e, o)
	w.q, w.over = o.Queue, ended
	w.checkQueue(now)
	return o
}

// count keeps how often the queue let something be typed.
func (w *world) count(e Event, o Transition) {
	if !o.Changed || o.Action != Moved {
		return
	}
	switch e := e.(type) {
	case Begun:
		if w.begun[e.ID]++; w.begun[e.ID] > 1 {
			w.Fatalf("command %d is typed twice", e.ID)
		}
		for _, c := range o.Queue.Commands[:e.ID-1] {
			if c.Status != Done {
				w.Fatalf("command %d is typed while command %d is %s", e.ID, c.ID, c.Status)
			}
		}
	case Pressed:
		if w.pressed[e.ID]++; w.pressed[e.ID] > MaxEnters || w.begun[e.ID] == 0 {
			w.Fatalf("Enter %d for command %d, typed %d times", w.pressed[e.ID], e.ID, w.begun[e.ID])
		}
	}
}

func (w *world) checkQueue(now string) {
	again, err := Parse([]byte(now))
	if err != nil || encoded(w.T, again) != now {
		w.Fatalf("%v: it does not survive its file:\n%s", err, now)
	}
	active, results := 0, map[string]bool{}
	for _, c := range w.q.Commands {
		switch c.Status {
		case Active:
			active++
		case Done, Failed:
			w.checkFinished(c)
		}
		if c.Result != nil {
			if results[*c.Result] {
				w.Fatalf("two commands have the result %q", *c.Result)
			}
			results[*c.Result] = true
		}
	}
	if active > 1 {
		w.Fatalf("%d commands are active:\n%s", active, now)
	}
}

// checkFinished checks a command at its end: it stays as it was when it came there,
// the client had it, and its result is that of its own turn.
func (w *world) checkFinished(c Command) {
	now := encoded(w.T, c)
	if was, before := w.finished[c.ID]; before && was != now {
		w.Fatalf("command %d was at its end:\n%s\n%s", c.ID, was, now)
	}
	w.finished[c.ID] = now
	if c.Status == Failed {
		return
	}
	if w.begun[c.ID] == 0 && c.Stopgate.PromptID == "" {
		w.Fatalf("command %d is done, but the client never had it", c.ID)
	}
	if (c.Awaits.Hook == "Stop") != (c.Result != nil) {
		w.Fatalf("command %d awaits %s and has the result %v", c.ID, c.Awaits.Hook, c.Result)
	}
	if c.Result == nil {
		return
	}
	if t := w.turns[c.Stopgate.PromptID]; t.message != *c.Result || !c.Matches(t.text) {
		w.Fatalf("command %d has a result of another turn, %+v", c.ID, t)
	}
}

func encoded(t *rapid.T, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// hook tells the queue, now or later. The client compacts only when it was told, and
// one compaction looks like another: that is never late.
func (w *world) hook(e Event) {
	if _, compacting := e.(PreCompact); compacting {
		w.tell(e)
		return
	}
	w.told = append(w.told, e)
	if w.happens("hooks late") {
		w.late = append(w.late, e)
		return
	}
	w.tell(e)
}

func (w *world) tell(e Event) {
	if w.apply(e).Drive {
		w.drive()
	}
}

// drive starts a process that types, unless there is one.
func (w *world) drive() {
	if w.typer == nil {
		w.typer = &typer{next: w.look}
	}
}

// step lets the process that types do one thing. The queue was changed before it.
func (w *world) step() {
	if w.typer == nil {
		return
	}
	if w.happens("typer dies") {
		w.typer = nil
		return
	}
	next := w.typer.next
	w.typer.next = w.look
	next()
}

// look sees how far the active command got, and what can be done about it.
func (w *world) look() {
	c := w.q.Active()
	if c == nil || w.over || c.Confirmed() || w.typer.id != 0 && w.typer.id != c.ID {
		w.typer = nil
		return
	}
	w.typer.id = c.ID
	switch inBox := w.box == c.Command; {
	case c.Stopgate.State == Waiting:
		w.begin(c)
	case inBox && c.Stopgate.Enters < MaxEnters:
		if w.apply(Pressed{c.ID}).Changed {
			w.typer.next = w.enter
		}
	case inBox || c.Stopgate.State == Typing || w.happens("impatience"):
		w.apply(Undelivered{c.ID, "nothing confirmed it"})
	case len(w.late) == 0:
		w.apply(Undelivered{c.ID, "nothing confirmed it"})
	}
}

func (w *world) begin(c *Command) {
	switch {
	case w.turn != nil:
		w.apply(Held{c.ID, "it works"})
		w.typer = nil
	case !w.alive || w.box != "":
		w.apply(NotReady{c.ID, "there is no empty prompt"})
		w.typer = nil
	default:
		if w.apply(Begun{c.ID}).Changed {
			w.typer.next = func() { w.box += c.Command }
		}
	}
}

// enter is the key, which the client may miss.
func (w *world) enter() {
	if !w.alive || w.turn != nil || w.box == "" || w.happens("lost Enter") {
		return
	}
	text := w.box
	w.box = ""
	w.submit(text)
}

func (w *world) submit(text string) {
	switch {
	case text == "/clear":
		w.hook(SessionEnd{"clear"})
		w.client = w.id("client")
		w.hook(SessionStart{"clear", w.client})
	case strings.HasPrefix(text, "/compact"):
		w.turn = &turn{text: text}
		w.hook(PreCompact{w.prompt})
	default:
		w.prompt = w.id("prompt")
		w.turn = &turn{w.prompt, text, w.id("message")}
		w.turns[w.prompt] = *w.turn
		w.hook(Prompt{w.prompt, text})
	}
}

// endTurn lets the client come to the end of what it does.
func (w *world) endTurn() {
	t := w.turn
	if t == nil {
		return
	}
	if t.prompt != "" && w.happens("compaction") {
		w.hook(SessionStart{"compact", w.client})
		return
	}
	w.turn = nil
	w.catchUp(t.prompt)
	switch {
	case w.happens("interrupt"):
	case t.prompt == "":
		w.hook(SessionStart{"compact", w.client})
	case w.happens("API fails"):
		w.hook(StopFailure{t.prompt, "API Error: 529"})
	default:
		w.hook(Stop{t.prompt, t.message})
	}
}

// catchUp tells of a prompt that is still to be told: the client waits for that hook
// before it begins the turn, so that none comes after the turn's end.
func (w *world) catchUp(prompt string) {
	isIts := func(e Event) bool { p, is := e.(Prompt); return is && p.PromptID == prompt }
	if i := slices.IndexFunc(w.late, isIts); i >= 0 {
		e := w.late[i]
		w.late = slices.Delete(w.late, i, i+1)
		w.tell(e)
	}
}

func (w *world) idle() {
	if w.alive && w.turn == nil && w.box == "" {
		w.hook(Idle{w.prompt})
	}
}

// disturb is what else may happen.
func (w *world) disturb() {
	switch {
	case w.happens("hooks twice") && len(w.told) > 0:
		e := rapid.SampledFrom(w.told).Draw(w.T, "twice")
		// The client waits for all hooks of a prompt before it goes on: the second of two
		// never comes after a later prompt.
		if p, is := e.(Prompt); !is || p.PromptID == w.prompt {
			w.tell(e)
		}
	case len(w.late) > 0:
		i := rapid.IntRange(0, len(w.late)-1).Draw(w.T, "late")
		e := w.late[i]
		w.late = slices.Delete(w.late, i, i+1)
		w.tell(e)
	case w.happens("client ends"):
		w.restart()
	case w.happens("watcher"):
		w.watch()
	case w.happens("two type"):
		w.typeBlindly()
	case !w.alive || w.turn != nil:
	case w.happens("background task"):
		w.submit("<task-notification>")
	case w.happens("person"):
		w.box += "something else"
		w.intruded = true
		w.enter()
	case w.happens("person clears") && w.box == "":
		w.submit("/clear")
	case w.disturbed["hooks late"] || w.disturbed["hooks twice"]:
		// Of two prompts with the same text only the order of hooks says which is newer.
	case w.happens("person sends the same") && w.box == "" && w.q.Active() != nil:
		w.submit(w.q.Active().Command)
	}
}

// watch is the process that gives up what no hook moves on, by what it saw a while ago.
func (w *world) watch() {
	if w.seen != nil {
		w.apply(*w.seen)
		w.seen = nil
		return
	}
	w.seen = &Stuck{Why: "nothing moves it on"}
	if c := w.q.Active(); c != nil {
		w.seen.ID, w.seen.State = c.ID, c.State()
	}
}

// typeBlindly is a second process that types, which knows nothing of the first nor of
// the screen. The queue alone keeps it from harm.
func (w *world) typeBlindly() {
	id := rapid.IntRange(1, len(w.q.Commands)).Draw(w.T, "command")
	w.intruded = true
	switch rapid.IntRange(0, 3).Draw(w.T, "blindly") {
	case 0:
		if w.apply(Begun{id}).Changed && !w.over {
			w.box += w.q.Commands[id-1].Command
		}
	case 1:
		if w.apply(Pressed{id}).Changed && !w.over {
			w.enter()
		}
	case 2:
		w.apply(Held{id, "it works"})
	case 3:
		w.apply(NotReady{id, "there is no empty prompt"})
	}
}

// restart ends the client, or starts the next one.
func (w *world) restart() {
	if w.alive {
		w.alive, w.turn, w.box = false, nil, ""
		w.hook(SessionEnd{"prompt_input_exit"})
		return
	}
	w.alive = true
	source := rapid.SampledFrom([]string{"resume", "resume", "startup"}).Draw(w.T, "source")
	if source == "startup" {
		w.client = w.id("client")
	}
	w.hook(SessionStart{source, w.client})
}

// settle lets the world come to rest: whatever happened before, a queue comes to an
// end that somebody is told of.
func (w *world) settle() {
	w.disturbed = nil
	for range 40 * len(w.q.Commands) {
		if w.over {
			return
		}
		switch {
		case len(w.late) > 0:
			w.disturb()
		case !w.alive:
			w.restart()
		case w.typer != nil:
			w.step()
		case w.turn != nil:
			w.endTurn()
		default:
			w.box = "" // a person who typed something thinks better of it
			w.idle()
		}
	}
	w.Fatalf("it never ends:\n%s", encoded(w.T, w.q))
}

// In every world: never two are active, nothing is typed twice, the order is kept,
// results belong to their command, and so on; see apply.
func propertyApply(t *rapid.T) {
	w := newWorld(t)
	quiet := len(w.disturbed) == 0
	w.drive()
	for range rapid.IntRange(1, 80).Draw(t, "steps") {
		switch rapid.IntRange(0, 9).Draw(t, "who") {
		case 0, 1, 2, 3, 4:
			w.step()
		case 5, 6:
			w.endTurn()
		case 7:
			w.idle()
		case 8, 9:
			w.disturb()
		}
	}
	w.settle()
	if len(w.told) > 0 {
		w.tell(rapid.SampledFrom(w.told).Draw(t, "after the end"))
	}
	switch ending := w.q.Stopgate.Ending; {
	case quiet && ending.Kind != Complete:
		t.Fatalf("nothing happened, and yet it ended with %+v:\n%s", ending, encoded(t, w.q))
	case ending.Kind == Cancel && !w.intruded:
		t.Fatalf("no person typed, and yet it ended with %+v:\n%s", ending, encoded(t, w.q))
	}
}

// The worlds are the same in every run; make fuzz looks for others.
func TestApplyInManyWorlds(t *testing.T) {
	racetest.Skip(t)
	seed := flag.Lookup("rapid.seed").Value
	if seed.String() != "0" {
		rapid.Check(t, propertyApply)
		return
	}
	defer func() { _ = seed.Set("0") }()
	for i := range 20 { // of 100 worlds each
		check(t, seed.Set(strconv.Itoa(i+1)))
		if !t.Run(strconv.Itoa(i), func(t *testing.T) { rapid.Check(t, propertyApply) }) {
			break
		}
	}
}

func FuzzApply(f *testing.F) { f.Fuzz(rapid.MakeFuzz(propertyApply)) }
