package jetstream

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/stopgate/stopgate/internal/control/store"
)

// chunkSize is how much of a snapshot one message has.
const chunkSize = store.MaxData

// A snapshot is in messages of the subjects POSITION.SAVE.NUMBER, each a part of it, and then one of
// POSITION.manifest, which makes them count. SAVE is another one whenever a snapshot is saved.
type manifest struct {
	Save   string     `json:"save"`
	Chunks int        `json:"chunks"`
	Hash   store.Hash `json:"hash"`
}

const manifestName = "manifest"

func newID() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// SaveSnapshot implements store.Store.
func (s *Store) SaveSnapshot(ctx context.Context, snap store.Snapshot) error {
	last, err := s.end(ctx)
	switch {
	case err != nil:
		return err
	case snap.Position > last:
		return fmt.Errorf("%w: a snapshot at %d, behind the last event at %d", store.ErrInvalid, snap.Position, last)
	}
	m := manifest{Save: newID(), Hash: snap.Hash()}
	at := strconv.FormatUint(uint64(snap.Position), 10)
	for chunk := range slices.Chunk(snap.Data, chunkSize) {
		if err := s.put(ctx, at+"."+m.Save+"."+strconv.Itoa(m.Chunks), chunk); err != nil {
			return err
		}
		m.Chunks++
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := s.put(ctx, at+"."+manifestName, text); err != nil {
		return err
	}
	return s.sweep(ctx)
}

// put writes a message of a snapshot. Written twice, it is the same.
func (s *Store) put(ctx context.Context, subject string, data []byte) error {
	return s.persist(ctx, func(ctx context.Context) error {
		_, err := s.js.Publish(ctx, s.chunks(subject), data, jetstream.WithRetryAttempts(0))
		return err
	})
}

// kept is a snapshot as it is in the stream.
type kept struct {
	store.Snapshot
	manifest
	sound bool
}

// positions are those of the snapshots with a manifest, the newest first, and all subjects of the stream.
func (s *Store) positions(ctx context.Context) (all []store.Position, subjects []string, err error) {
	var info *jetstream.StreamInfo
	err = s.persist(ctx, func(ctx context.Context) (err error) {
		info, err = s.spare.Info(ctx, jetstream.WithSubjectFilter(s.chunks(">")))
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	for wire := range info.State.Subjects {
		subject := strings.TrimPrefix(wire, s.chunks(""))
		subjects = append(subjects, subject)
		if at, found := strings.CutSuffix(subject, "."+manifestName); found {
			if n, err := strconv.ParseUint(at, 10, 64); err == nil {
				all = append(all, store.Position(n))
			}
		}
	}
	slices.SortFunc(all, func(a, b store.Position) int { return cmp.Compare(b, a) })
	return all, subjects, nil
}

// sweep removes all but the two newest snapshots, and what is left of a save that did not end, or that
// another one has replaced. What another handle is just saving is newer than the manifests: it stays.
func (s *Store) sweep(ctx context.Context) error {
	positions, subjects, err := s.positions(ctx)
	if err != nil || len(positions) == 0 {
		return err
	}

	current := map[string]bool{}
	for _, at := range positions[:min(2, len(positions))] {
		prefix := strconv.FormatUint(uint64(at), 10) + "."
		m, err := s.manifest(ctx, at)
		if err != nil {
			return nil // damaged: nothing is removed
		}
		current[prefix+m.Save], current[prefix+manifestName] = true, true
	}

	oldest := positions[min(2, len(positions))-1]
	for _, subject := range subjects {
		name := subject[:max(strings.LastIndexByte(subject, '.'), 0)]
		if strings.HasSuffix(subject, "."+manifestName) {
			name = subject
		}
		at, _ := strconv.ParseUint(strings.SplitN(subject, ".", 2)[0], 10, 64)
		if current[name] || store.Position(at) > oldest && !slices.Contains(positions, store.Position(at)) {
			continue
		}
		if err := s.spare.Purge(ctx, jetstream.WithPurgeSubject(s.chunks(subject))); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) manifest(ctx context.Context, at store.Position) (m manifest, err error) {
	text, err := s.get(ctx, strconv.FormatUint(uint64(at), 10)+"."+manifestName)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	return m, err
}

func (s *Store) get(ctx context.Context, subject string) (data []byte, err error) {
	err = s.persist(ctx, func(ctx context.Context) error {
		msg, err := s.spare.GetLastMsgForSubject(ctx, s.chunks(subject))
		if err == nil {
			data = msg.Data
		}
		return err
	})
	return data, err
}

// load reads a snapshot back. Where that cannot be done at all, it returns an error; where what is there
// is not what was saved, it is not sound.
func (s *Store) load(ctx context.Context, at store.Position) (k kept, err error) {
	k.Position = at
	if k.manifest, err = s.manifest(ctx, at); err == nil {
		for i := range k.Chunks {
			var chunk []byte
			if chunk, err = s.get(ctx, fmt.Sprintf("%d.%s.%d", at, k.Save, i)); err != nil {
				break
			}
			k.Data = append(k.Data, chunk...)
		}
	}
	var syntax *json.SyntaxError
	if err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) && !errors.As(err, &syntax) {
		return k, err
	}
	k.sound = err == nil && k.Snapshot.Hash() == k.manifest.Hash
	return k, nil
}

// snapshots are the two that count, the newest first.
func (s *Store) snapshots(ctx context.Context) (all []kept, err error) {
	positions, _, err := s.positions(ctx)
	for _, at := range positions {
		k, err := s.load(ctx, at)
		if err != nil {
			return nil, err
		}
		all = append(all, k)
	}
	return all, err
}

// LoadSnapshot implements store.Store.
func (s *Store) LoadSnapshot(ctx context.Context) (store.Snapshot, error) {
	if err := s.usable(ctx); err != nil {
		return store.Snapshot{}, err
	}
	all, err := s.snapshots(ctx)
	if err == nil {
		err = s.readTrim(ctx)
	}
	if err != nil {
		return store.Snapshot{}, err
	}
	damaged := store.Position(0)
	for _, k := range all {
		if k.sound && k.Position >= s.gone() {
			k.Damaged = damaged
			return k.Snapshot, nil
		}
		damaged = max(damaged, k.Position)
	}
	if s.gone() > 0 {
		return store.Snapshot{}, fmt.Errorf("%w: no valid snapshot covers the trimmed events up to %d", store.ErrDamaged, s.gone())
	}
	return store.Snapshot{Damaged: damaged}, nil
}
