package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/nudge"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/control/watch"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

// ingest reads the journal into the core, one record after the other.
type ingest struct {
	core    *core
	journal *journal.Journal
	dir     string // of the journal
	boot    string
	meaning meaning
	log     *slog.Logger

	version store.Position // of the subject that says how far it is
	unsaved int            // records since that was said

	// read is called for each line that it follows, once, when that is ingested; with the record of an
	// answer. What it finds late it does not tell.
	read  func(entry journal.Entry)
	again time.Time // lines are read again; those before were told, or are lost. Zero for none

	ask chan struct{}

	mu    sync.Mutex
	at    journal.Position // everything before it is in the store, or means nothing here
	looks int              // how often it has come to the journal's end while it followed
	moved nudge.Bell       // one of them has changed
}

// cursor is the place in the journal from which the next daemon has to read. What it
// reads twice changes nothing, so that it need not be exact.
type cursor struct {
	Segment uint64 `json:"segment"`
	Offset  int64  `json:"offset"`
	Boot    string `json:"boot"`
}

const (
	cursorSubject = "daemon.journal"
	// saveEvery bounds how many records are read twice after a crash.
	saveEvery = 10_000
	// throughPatience leaves a hook that waits two seconds the time to hear why.
	throughPatience = 1500 * time.Millisecond
)

func newIngest(core *core, j *journal.Journal, dir, boot string, log *slog.Logger) *ingest {
	return &ingest{
		core: core, journal: j, dir: dir, boot: boot, log: log,
		meaning: meaning{stateDir: filepath.Dir(dir), key: j.Key},
		read:    func(journal.Entry) {},
		ask:     make(chan struct{}, 1),
	}
}

// load reads the cursor. A machine that was booted since may have lost records that were
// read, with others in their place: then the segment is read again.
func (i *ingest) load(ctx context.Context) error {
	head, err := i.core.store.Head(ctx, cursorSubject)
	if err != nil || head.Position == 0 {
		return err
	}
	for e, err := range i.core.store.Read(ctx, cursorSubject, head.Position-1) {
		if err != nil {
			return err
		}
		var c cursor
		if err := json.Unmarshal(e.Data, &c); err != nil {
			return fmt.Errorf("event %d on %s: %w", e.Position, e.Subject, err)
		}
		i.version = e.Position
		i.at = journal.Position{Segment: c.Segment, Offset: c.Offset}
		if c.Boot != i.boot {
			i.at.Offset = 0
		}
	}
	return nil
}

// save records the cursor.
func (i *ingest) save(ctx context.Context) error {
	at := i.reached()
	data, err := json.Marshal(cursor{Segment: at.Segment, Offset: at.Offset, Boot: i.boot})
	if err != nil {
		return err
	}
	version, err := i.core.append(ctx, store.NewEvent{
		Subject: cursorSubject, ID: "journal-" + journal.NewID(), Expected: i.version, Data: data,
	})
	if err != nil {
		head, lost := i.core.store.Head(ctx, cursorSubject)
		if lost == nil {
			i.version = head.Position
		}
		return err
	}
	i.version, i.unsaved = version, 0
	return nil
}

// catchUp reads what happened while no daemon was there.
func (i *ingest) catchUp(ctx context.Context) error {
	for tries := 0; ; tries++ {
		err := i.pass(ctx, true)
		if !errors.Is(err, journal.ErrPosition) || tries == 2 {
			return err
		}
		i.log.Warn("the journal is readable again", "from", i.back(), "error", err)
	}
}

func (i *ingest) pass(ctx context.Context, late bool) error {
	wanted := mayConcern
	if !late {
		wanted = func(json []byte) bool { return isAnswer(json) || mayConcern(json) }
	}
	for entry, err := range i.journal.Select(i.reached(), wanted) {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := i.take(ctx, entry, late); err != nil {
			return err
		}
	}
	return nil
}

// back goes to the start of the segment and, where it stands there already, of the
// journal.
func (i *ingest) back() journal.Position {
	at := i.reached()
	if at.Offset == 0 {
		at.Segment = 0
	}
	at.Offset = 0
	i.move(at)
	return at
}

// follow reads what happens from now on, until the context ends.
func (i *ingest) follow(ctx context.Context) {
	var watching sync.WaitGroup
	watching.Go(func() { watch.Directory(ctx, i.dir, i.lookNow, i.unwatched) })
	defer watching.Wait()
	for range pause.Doubling(ctx, 50*time.Millisecond, longest) {
		err := i.followOn(ctx)
		if ctx.Err() != nil {
			return
		}
		i.log.Error("cannot read the journal; trying again", "error", err)
		i.core.trouble.set("journal", err)
		if errors.Is(err, journal.ErrPosition) {
			i.again = i.core.now()
			i.back()
		}
	}
}

// followOn reads what there is, each time that somebody asks for it.
func (i *ingest) followOn(ctx context.Context) error {
	for {
		if err := i.pass(ctx, false); err != nil {
			return err
		}
		i.core.trouble.set("journal", nil)
		i.looked()
		select {
		case <-i.ask:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// lookNow makes the one who follows look.
func (i *ingest) lookNow() { nudge.Reader(i.ask) }

// unwatched keeps why nobody tells when there is something to read; nil is that somebody
// does.
func (i *ingest) unwatched(err error) {
	if err != nil {
		i.log.Error("cannot watch the journal; polling it instead", "error", err)
	}
	i.core.trouble.set("watch of the journal", err)
}

// take ingests one entry, and waits for the store where it must: what comes later must
// not overtake it.
func (i *ingest) take(ctx context.Context, entry journal.Entry, late bool) error {
	switch {
	case entry.Record != nil:
		if err := i.record(ctx, entry.Record, late); err != nil {
			return err
		}
	case entry.Damage != nil:
		i.log.Warn("part of the journal is missing", "damage", entry.Damage.String())
	case entry.Newer > 0:
		i.log.Warn("skipped a record written by a newer stopgate", "version", entry.Newer)
	}
	if !late && i.isNew(entry) {
		i.read(entry)
	}
	i.move(entry.Position)
	i.unsaved++
	if i.unsaved >= saveEvery {
		if err := i.save(ctx); err != nil {
			i.unsaved = 0 // it is worth a try after as many again
			i.log.Error("cannot record the position in the journal", "error", err)
		}
	}
	return nil
}

// isNew reports whether an entry was not told before. Where lines are read again, what was recorded
// before that is none: a record too few is better than one that counts twice.
func (i *ingest) isNew(entry journal.Entry) bool {
	if i.again.IsZero() {
		return true
	}
	if entry.Record == nil || entry.Record.Time.Before(i.again) {
		return false
	}
	i.again = time.Time{}
	return true
}

func (i *ingest) record(ctx context.Context, r *event.Record, late bool) error {
	who := concerns(r)
	if who == "" {
		return nil
	}
	var owner *engine.Owner
	i.core.look(func(s *engine.State) { owner = concerned(s, r, who) })
	if owner == nil || owner.Agent == nil {
		return nil
	}
	in, ok := i.meaning.input(r, owner)
	if !ok {
		return nil
	}
	in.Late = late
	return unlessRefused(i.core.must(ctx, owner.ID, in))
}

// unlessRefused is for what nobody asked for: that the engine has no use for it is no
// error.
func unlessRefused(err error) error {
	if _, refused := errors.AsType[*engine.Refusal](err); refused {
		return nil
	}
	return err
}

func (i *ingest) reached() journal.Position {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.at
}

func (i *ingest) move(at journal.Position) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.at != at {
		i.at = at
		i.moved.Ring()
	}
}

func (i *ingest) looked() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.looks++
	i.moved.Ring()
}

// through waits until the journal is ingested up to a position. One that is not there when
// everything was read is none of this journal.
func (i *ingest) through(ctx context.Context, position journal.Position) error {
	ctx, cancel := context.WithTimeout(ctx, throughPatience)
	defer cancel()
	reached := func() bool { return i.reached().Compare(position) >= 0 }
	err := i.settle(ctx, reached)
	if reached() {
		return nil
	}
	yet := ""
	if err != nil {
		yet = "yet "
	}
	return api.Refusal("unavailable", fmt.Sprintf("the journal is read up to %v, not %sto %v", i.reached(), yet, position), "")
}

// settled waits until everything is ingested that was in the journal when it was called.
func (i *ingest) settled(ctx context.Context) error {
	return i.settle(ctx, func() bool { return false })
}

// settle is settled, unless something is so before. A look that is under way may have
// begun before the call: the one after it has not.
func (i *ingest) settle(ctx context.Context, enough func() bool) error {
	for looks, first := 0, true; ; first = false {
		i.mu.Lock()
		now, moved := i.looks, i.moved.Rung()
		i.mu.Unlock()
		if first {
			looks = now
		}
		if now >= looks+2 || enough() {
			return nil
		}
		i.lookNow()
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// caughtUp tells every owner with something left to act on, or to wait for, that things
// happen now.
func (c *core) caughtUp(ctx context.Context) error {
	id := "caught-up:" + journal.NewID()
	for _, o := range c.owners() {
		untimed := o.Decision != nil && o.Decision.Expires.IsZero() // it may be one that was found late
		if !leftOver(o) && !untimed {
			continue
		}
		if err := unlessRefused(c.must(ctx, o.ID, engine.Input{ID: id, What: engine.CaughtUp{}})); err != nil {
			return err
		}
	}
	return nil
}

// leftOver reports whether something that an agent did is still to be acted on.
func leftOver(o *engine.Owner) bool {
	return !o.Terminal() && o.Agent != nil && (o.Agent.Pending != "" || len(o.Agent.Asking) > 0)
}
