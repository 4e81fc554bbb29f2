package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/control/store"
)

// pageData is after how many bytes readers take a breath: no connection is held while
// whoever reads thinks.
const pageData = 1 << 20

// Head returns the end of the subject's chain.
func (s *Store) Head(ctx context.Context, subject string) (store.Head, error) {
	if err := s.usable(subject); err != nil {
		return store.Head{}, err
	}
	e, err := headOf(ctx, s.readers, subject)
	return e.head(), explain(s.path, err)
}

// Heads returns the ends of all chains but our own.
func (s *Store) Heads(ctx context.Context) (map[string]store.Head, error) {
	if err := s.usable("all"); err != nil {
		return nil, err
	}
	heads, wrong := map[string]store.Head{}, error(nil)
	err := each(ctx, s.readers, func(row *sql.Rows) error {
		subject, head, err := scanHead(row)
		switch {
		case err != nil:
			return err
		case !store.ValidSubject(subject) || head.Position == 0 || head.Hash == store.Hash{}:
			wrong = fmt.Errorf("%w: the table of heads was changed at %q", store.ErrDamaged, subject)
		case !store.Own(subject):
			heads[subject] = head
		}
		return nil
	}, headsQuery)
	return heads, explain(s.path, cmp.Or(err, wrong))
}

const headsQuery = "SELECT subject, position, hash FROM heads"

// scanHead reads a row of headsQuery. A value of the wrong type is taken for none.
func scanHead(row *sql.Rows) (subject string, head store.Head, err error) {
	var values [3]any
	err = row.Scan(&values[0], &values[1], &values[2])
	subject, _ = values[0].(string)
	return subject, store.Head{Position: position(values[1]), Hash: hash(values[2])}, err
}

// Read returns the events of one subject.
func (s *Store) Read(ctx context.Context, subject string, after store.Position) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		chain, err := s.chain(ctx, subject, after)
		for _, e := range slices.Backward(chain) {
			if e.Data == nil {
				e, err = s.entryOf(ctx, subject, e.head())
			}
			if err == nil {
				err = sound(e.Event)
			}
			if err != nil {
				break
			}
			if !yield(e.Event, nil) {
				return
			}
		}
		if err != nil {
			yield(store.Event{}, explain(s.path, err))
		}
	}
}

// chain goes back from a subject's head to a position, by the links. The newest comes
// first. Of a long chain most have no data.
func (s *Store) chain(ctx context.Context, subject string, after store.Position) (chain []entry, err error) {
	if err := s.usable(subject); err != nil {
		return nil, err
	}
	e, err := headOf(ctx, s.readers, subject)
	size := 0
	for err == nil && e.Position > after {
		if size += len(e.Data); size > pageData {
			e.Data = nil
		}
		chain = append(chain, e)
		if e.prior == 0 && e.linked() {
			return chain, nil
		}
		e, err = s.entryOf(ctx, subject, store.Head{Position: e.prior, Hash: e.Previous})
	}
	if len(chain) > 0 && errors.Is(err, store.ErrTrimmed) {
		err = s.checkTrimmed(chain[len(chain)-1], after, err)
	}
	if err != nil {
		return nil, err
	}
	return chain, nil
}

// checkTrimmed checks the link to an event that a trim has removed. An event that
// was not asked for may be gone. No hash covers where the link leads: one that was changed would end the
// chain early.
func (s *Store) checkTrimmed(e entry, after store.Position, trimmed error) error {
	// Asked after the event was not there: what a trim removes it first declares gone.
	switch t := s.trimmed.Load(); {
	case e.prior > after:
		return trimmed
	case after >= t.to && !store.Own(e.Subject) && t.bases[e.Subject] != e.Previous:
		return fmt.Errorf("%w: the event of %s before those after %d is not at %d", store.ErrDamaged, e.Subject, after, e.prior)
	}
	return nil
}

// entryOf returns the entry of a subject that a link leads to.
func (s *Store) entryOf(ctx context.Context, subject string, at store.Head) (entry, error) {
	e, err := entryAt(ctx, s.readers, at.Position)
	switch {
	case err != nil:
		return entry{}, err
	case e.Position == 0 && at.Position <= s.gone():
		return entry{}, fmt.Errorf("%w: those of %s up to %d", store.ErrTrimmed, subject, at.Position)
	case e.head() != at || e.Subject != subject || !e.linked():
		return entry{}, fmt.Errorf("%w: event %d of %s is missing or was changed", store.ErrDamaged, at.Position, subject)
	}
	return e, nil
}

// ReadAll returns the events of all subjects.
func (s *Store) ReadAll(ctx context.Context, after store.Position) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		err := s.usable("all")
		if err == nil {
			_, err = s.readTo(ctx, "", after, s.end(), yield)
		}
		if err != nil {
			yield(store.Event{}, explain(s.path, err))
		}
	}
}

// Watch returns the events of the subjects with a prefix, also those to come.
func (s *Store) Watch(ctx context.Context, prefix string, after store.Position) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		for {
			news := *s.news.Load()
			bound := s.end()
			more, err := s.readTo(ctx, prefix, after, bound, yield)
			if err != nil && ctx.Err() == nil {
				yield(store.Event{}, explain(s.path, err))
			}
			if err != nil || !more {
				return
			}
			after = max(after, bound)
			select {
			case <-news:
			case <-ctx.Done():
				return
			case <-s.closing:
				yield(store.Event{}, store.ErrClosed)
				return
			}
		}
	}
}

// readTo yields the events after one position up to another, of which none is missing.
// It reports whether more are wanted.
func (s *Store) readTo(ctx context.Context, prefix string, after, bound store.Position, yield func(store.Event, error) bool) (bool, error) {
	for after < bound {
		page, failure := s.page(ctx, after)
		// Asked after the page was read: what a trim removes it first declares gone.
		if gone := s.gone(); after < gone {
			return false, fmt.Errorf("%w: those up to %d", store.ErrTrimmed, gone)
		}
		if len(page) == 0 && failure == nil {
			failure = fmt.Errorf("%w: the events %d to %d are missing", store.ErrDamaged, after+1, bound)
		}

		for _, e := range page {
			if after == bound {
				return true, nil
			}
			if e.Position != after+1 {
				return false, fmt.Errorf("%w: event %d is missing", store.ErrDamaged, after+1)
			}
			if err := sound(e); err != nil {
				return false, err
			}
			after = e.Position
			if store.Own(e.Subject) || !strings.HasPrefix(e.Subject, prefix) {
				continue
			}
			if !yield(e, nil) {
				return false, nil
			}
		}
		if failure != nil && after < bound {
			return false, failure
		}
	}
	return true, nil
}

// page reads some of the events after a position. With an error come those before what
// cannot be read.
func (s *Store) page(ctx context.Context, after store.Position) (page []store.Event, err error) {
	rows, err := s.rows.QueryContext(ctx, int64(after))
	if err != nil {
		return nil, errors.Join(err, s.usable("all"))
	}
	defer rows.Close()
	for size := 0; size < pageData && rows.Next(); {
		e, err := scanEntry(rows)
		if err != nil {
			return page, err
		}
		page = append(page, e.Event)
		size += len(e.Data) + len(e.Subject)
	}
	return page, rows.Err()
}

func (s *Store) end() store.Position  { return store.Position(s.last.Load()) }
func (s *Store) gone() store.Position { return s.trimmed.Load().to }

func (s *Store) usable(subject string) error {
	select {
	case <-s.closing:
		return store.ErrClosed
	default:
	}
	if !store.ValidSubject(subject) {
		return fmt.Errorf("%w: subject %q", store.ErrInvalid, subject)
	}
	return nil
}

// sound says what is wrong with an event that was read.
func sound(e store.Event) error {
	if e.Sound() {
		return nil
	}
	return fmt.Errorf("%w: event %d was changed", store.ErrDamaged, e.Position)
}
