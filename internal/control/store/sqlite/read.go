package sqlite

import (
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

// Read returns the events of one subject.
func (s *Store) Read(ctx context.Context, subject string, after store.Position) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		chain, err := s.chain(ctx, subject, after)
		for _, e := range slices.Backward(chain) {
			if e.Data == nil {
				if e, err = entryAt(row{ctx, s.readers}, e.Position); err == nil && e.Position == 0 {
					err = fmt.Errorf("%w: those of %s up to %d", store.ErrTrimmed, subject, s.gone())
				}
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
func (s *Store) chain(ctx context.Context, subject string, after store.Position) ([]entry, error) {
	if err := s.usable(subject); err != nil {
		return nil, err
	}
	at, err := s.head(ctx, subject)
	if err != nil {
		return nil, err
	}
	var chain []entry
	size := 0
	for at.Position > after {
		e, err := s.entryOf(ctx, subject, at)
		if err != nil {
			return nil, err
		}
		at = store.Head{Position: e.prior, Hash: e.Previous}
		if size += len(e.Data) + len(subject); size > pageData {
			e = entry{Event: store.Event{Position: e.Position}}
		}
		chain = append(chain, e)
	}

	if len(chain) > 0 && at.Position > 0 {
		return chain, s.checkEnd(ctx, subject, after, at)
	}
	return chain, nil
}

// checkEnd checks the link that leads from the first event of a chain to one that was not
// asked for. No hash covers where it leads: one that was changed would end the chain early.
func (s *Store) checkEnd(ctx context.Context, subject string, after store.Position, at store.Head) error {
	_, err := s.entryOf(ctx, subject, at)
	if !errors.Is(err, store.ErrTrimmed) {
		return err
	}
	// Asked after the event was not there: what a trim removes it first declares gone.
	if t := s.trimmed.Load(); after >= t.to && !store.Own(subject) && t.bases[subject] != at.Hash {
		return fmt.Errorf("%w: the event of %s before those after %d is not at %d", store.ErrDamaged, subject, after, at.Position)
	}
	return nil
}

// entryOf returns the entry of a subject that a link leads to.
func (s *Store) entryOf(ctx context.Context, subject string, at store.Head) (entry, error) {
	e, err := entryAt(row{ctx, s.readers}, at.Position)
	switch {
	case err != nil:
		return entry{}, err
	case e.Position == 0 && at.Position <= s.gone():
		return entry{}, fmt.Errorf("%w: those of %s up to %d", store.ErrTrimmed, subject, at.Position)
	case e.Position == 0 || e.Subject != subject || e.Hash != at.Hash || !e.linked():
		return entry{}, fmt.Errorf("%w: event %d of %s is missing, or not what was appended", store.ErrDamaged, at.Position, subject)
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
			news := s.news.next()
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
	var body sql.RawBytes
	for size := 0; size < pageData && rows.Next(); size += len(body) {
		if err := rows.Scan(&body); err != nil {
			return page, fmt.Errorf("%w: %w", store.ErrDamaged, err)
		}
		for rest := []byte(body); len(rest) > 0; {
			var e entry
			if e, rest, err = decode(rest); err != nil {
				return page, err
			}
			if e.Position > after {
				page = append(page, e.Event)
			}
		}
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
	return fmt.Errorf("%w: event %d is not what was appended", store.ErrDamaged, e.Position)
}
