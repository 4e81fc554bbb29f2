package intake

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"
)

// Item is work in a queue.
type Item struct {
	ID       string            `json:"id"`
	Queue    string            `json:"queue"`
	Key      string            `json:"key,omitempty"` // no other item of the queue has it
	Vars     map[string]string `json:"vars,omitempty"`
	State    Standing          `json:"state"`
	Worker   string            `json:"worker,omitempty"` // that took it last
	Owner    string            `json:"owner,omitempty"`  // that was started for it last
	Takes    int               `json:"takes,omitempty"`  // how often it was taken
	Failures int               `json:"failures,omitempty"`
	Error    string            `json:"error,omitempty"`
	Ready    time.Time         `json:"ready,omitzero"` // it is not taken before
	Added    time.Time         `json:"added"`
	Updated  time.Time         `json:"updated"`
	Serial   uint64            `json:"serial"`
}

// Standing is how far an item is.
type Standing string

// The states of items.
const (
	Pending Standing = "pending"
	Running Standing = "running"
	Done    Standing = "done"
	Failed  Standing = "failed" // it is tried again
	Dead    Standing = "dead"   // it failed as often as it may, until a person wants it to be tried again
)

// Is reports whether the item is in one of the states.
func (i *Item) Is(states ...Standing) bool { return slices.Contains(states, i.State) }

// Over reports whether nothing happens with the item by itself.
func (i *Item) Over() bool { return i.State == Done || i.State == Dead }

func (p *Project) switchWorker(name string, on bool) {
	if !on {
		delete(p.Workers, name)
		return
	}
	if p.Workers == nil {
		p.Workers = map[string]bool{}
	}
	p.Workers[name] = true
}

// onItem changes an item that is there.
func onItem(change func(i *Item, f Fact)) func(p *Project, f Fact, at time.Time) {
	return func(p *Project, f Fact, at time.Time) {
		if i := p.Items[f.ID]; i != nil {
			change(i, f)
			i.Updated = at
		}
	}
}

func itemAdded(p *Project, f Fact, at time.Time) {
	if p.Items == nil {
		p.Items = map[string]*Item{}
	}
	p.Serial++
	p.Items[f.ID] = &Item{ID: f.ID, Queue: f.Queue, Key: f.Key, Vars: f.Vars, State: Pending, Added: at, Updated: at, Serial: p.Serial}
}

func itemTaken(i *Item, f Fact) {
	i.State, i.Worker, i.Owner, i.Ready = Running, f.Worker, f.Owner, time.Time{}
	i.Takes++
}

func itemReturned(i *Item, f Fact) { i.State, i.Error, i.Ready = Pending, f.Error, f.Ready }

func itemFailed(i *Item, f Fact) {
	i.Failures++
	i.State, i.Error, i.Ready = Dead, f.Error, f.Ready
	if !f.Ready.IsZero() {
		i.State = Failed
	}
}

// Keys are the ids of a queue's items, by their keys.
func (p *Project) Keys(queue string) map[string]string {
	keys := map[string]string{}
	for _, i := range p.Items {
		if i.Queue == queue && i.Key != "" {
			keys[i.Key] = i.ID
		}
	}
	return keys
}

// InOrder are the items in the order in which they were added.
func (p *Project) InOrder() []*Item {
	return slices.SortedFunc(maps.Values(p.Items), func(a, b *Item) int { return cmp.Compare(a.Serial, b.Serial) })
}

// Crew is a worker as a runbook has it.
type Crew struct {
	Name, Queue string
	Limit       int
}

// Next are the items that a worker takes now, as many as it has room for.
func (p *Project) Next(w Crew, now time.Time) (items []*Item) {
	room := w.Limit
	for _, i := range p.Items {
		if i.State == Running && i.Worker == w.Name && i.Queue == w.Queue {
			room--
		}
	}
	if room <= 0 || !p.Workers[w.Name] {
		return nil
	}
	for _, i := range p.InOrder() {
		if i.Queue == w.Queue && i.waits() && !i.Ready.After(now) && len(items) < room {
			items = append(items, i)
		}
	}
	return items
}

// waits reports whether an item is there to be taken, now or later.
func (i *Item) waits() bool { return i.State == Pending || i.State == Failed }

// Wakes is when the first item can be taken that cannot be yet; zero where there is none.
func (p *Project) Wakes(now time.Time) (first time.Time) {
	for _, i := range p.Items {
		if i.waits() && i.Ready.After(now) && (first.IsZero() || i.Ready.Before(first)) {
			first = i.Ready
		}
	}
	return first
}

// Take is the fact that a worker takes an item. The owner's id is another each time.
func (p *Project) Take(w Crew, i *Item) Fact {
	return Fact{Type: ItemTaken, ID: i.ID, Worker: w.Name, Owner: ID("item", p.Root, i.ID, strconv.Itoa(i.Takes+1))}
}

// Running are the items that something was started for, in order.
func (p *Project) Running() (items []*Item) {
	for _, i := range p.InOrder() {
		if i.State == Running {
			items = append(items, i)
		}
	}
	return items
}
