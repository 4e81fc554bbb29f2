package queue

import (
	"encoding/json"
	"fmt"

	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// The text of a queue's file, written out field by field for the sake of the hooks: see
// package rawjson. A fuzz test holds it to what encoding/json reads and writes.

// Parse reads the text of a queue's file.
func Parse(text []byte) (Queue, error) {
	q, ours := parseOurs(text)
	if !ours { // a person wrote it, or it is damaged
		q = Queue{}
		if err := json.Unmarshal(text, &q); err != nil {
			return Queue{}, fmt.Errorf("%w: %w", errDamaged, err)
		}
	}
	if err := q.check(); err != nil {
		return Queue{}, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return q, nil
}

func (q *Queue) encode() []byte {
	w := &rawjson.Writer{}
	w.Object(func() {
		writeSome(w, "status", string(q.Status))
		w.Name("commands")
		if q.Commands == nil {
			w.Null()
		} else {
			w.Array(func() {
				for i := range q.Commands {
					w.Element()
					q.Commands[i].write(w)
				}
			})
		}
		if q.Stopgate != nil {
			w.Name("stopgate")
			q.Stopgate.write(w)
		}
	})
	return append(w.Text, '\n')
}

// parseOurs reads what encode writes.
func parseOurs(text []byte) (q Queue, ok bool) {
	r := rawjson.NewReader(text)
	r.Object(func() {
		readSome(r, "status", &q.Status)
		if r.Has("commands") {
			q.Commands = []Command{}
			r.Array(func() { q.Commands = append(q.Commands, readCommand(r)) })
		}
		if r.Has("stopgate") {
			q.Stopgate = readMeta(r)
		}
	})
	return q, r.Done()
}

func (c *Command) write(w *rawjson.Writer) {
	w.Object(func() {
		w.Name("id")
		w.Int(c.ID)
		writeString(w, "command", c.Command)
		writeString(w, "status", string(c.Status))
		c.Trigger.write(w, "trigger")
		c.Awaits.write(w, "awaits")
		w.Name("result")
		writeOrNull(w, c.Result)
		w.Name("completed_at")
		if c.CompletedAt == nil {
			w.Null()
		} else {
			w.String(c.CompletedAt.String())
		}
		if c.Stopgate != nil {
			w.Name("stopgate")
			c.Stopgate.write(w)
		}
	})
}

func readCommand(r *rawjson.Reader) (c Command) {
	r.Object(func() {
		if r.Has("id") {
			c.ID = r.Int()
		}
		readSome(r, "command", &c.Command)
		readSome(r, "status", &c.Status)
		c.Trigger = readHook(r, "trigger")
		c.Awaits = readHook(r, "awaits")
		if r.Has("result") && !r.Null() {
			result := r.String()
			c.Result = &result
		}
		if r.Has("completed_at") && !r.Null() {
			c.CompletedAt = readTime(r)
		}
		if r.Has("stopgate") {
			c.Stopgate = readDelivery(r)
		}
	})
	return c
}

func (h Hook) write(w *rawjson.Writer, name string) {
	w.Name(name)
	w.Object(func() {
		writeString(w, "hook", h.Hook)
		w.Name("sub")
		writeOrNull(w, h.Sub)
	})
}

func readHook(r *rawjson.Reader, name string) (h Hook) {
	if !r.Has(name) {
		return h
	}
	r.Object(func() {
		readSome(r, "hook", &h.Hook)
		if r.Has("sub") && !r.Null() {
			sub := r.String()
			h.Sub = &sub
		}
	})
	return h
}

func (m *Meta) write(w *rawjson.Writer) {
	w.Object(func() {
		writeString(w, "id", m.ID)
		writeString(w, "session", m.Session)
		if !m.CreatedAt.IsZero() {
			writeString(w, "created_at", m.CreatedAt.String())
		}
		if p := m.Place; p != nil {
			w.Name("place")
			w.Object(func() {
				writeString(w, "socket", p.Socket)
				w.Name("pid")
				w.Int(p.PID)
				writeString(w, "pane", p.Pane)
			})
		}
		writeSome(w, "key", m.Key)
		writeSome(w, "client_session", m.ClientSession)
		writeSome(w, "other_prompt", m.OtherPrompt)
		writeTime(w, "ended_at", m.EndedAt)
		if e := m.Ending; e != nil {
			w.Name("ending")
			w.Object(func() {
				writeString(w, "kind", string(e.Kind))
				writeSome(w, "why", e.Why)
				writeSome(w, "detail", e.Detail)
			})
		}
	})
}

func readMeta(r *rawjson.Reader) *Meta {
	m := &Meta{}
	r.Object(func() {
		readSome(r, "id", &m.ID)
		readSome(r, "session", &m.Session)
		if r.Has("created_at") {
			m.CreatedAt = *readTime(r)
		}
		if r.Has("place") {
			m.Place = &Place{}
			r.Object(func() {
				readSome(r, "socket", &m.Place.Socket)
				if r.Has("pid") {
					m.Place.PID = r.Int()
				}
				readSome(r, "pane", &m.Place.Pane)
			})
		}
		readSome(r, "key", &m.Key)
		readSome(r, "client_session", &m.ClientSession)
		readSome(r, "other_prompt", &m.OtherPrompt)
		if r.Has("ended_at") {
			m.EndedAt = readTime(r)
		}
		if r.Has("ending") {
			m.Ending = &Ending{}
			r.Object(func() {
				readSome(r, "kind", &m.Ending.Kind)
				readSome(r, "why", &m.Ending.Why)
				readSome(r, "detail", &m.Ending.Detail)
			})
		}
	})
	return m
}

func (d *Delivery) write(w *rawjson.Writer) {
	w.Object(func() {
		writeString(w, "state", string(d.State))
		writeCount(w, "tries", d.Tries)
		writeCount(w, "enters", d.Enters)
		writeTime(w, "typed_at", d.TypedAt)
		writeTime(w, "entered_at", d.EnteredAt)
		writeTime(w, "confirmed_at", d.ConfirmedAt)
		writeSome(w, "prompt_id", d.PromptID)
		writeSome(w, "ahead", d.Ahead)
		writeSome(w, "later_prompt", d.LaterPrompt)
		writeSome(w, "why", d.Why)
	})
}

func readDelivery(r *rawjson.Reader) *Delivery {
	d := &Delivery{}
	r.Object(func() {
		readSome(r, "state", &d.State)
		if r.Has("tries") {
			d.Tries = r.Int()
		}
		if r.Has("enters") {
			d.Enters = r.Int()
		}
		for _, at := range []struct {
			name string
			to   **Time
		}{{"typed_at", &d.TypedAt}, {"entered_at", &d.EnteredAt}, {"confirmed_at", &d.ConfirmedAt}} {
			if r.Has(at.name) {
				*at.to = readTime(r)
			}
		}
		readSome(r, "prompt_id", &d.PromptID)
		readSome(r, "ahead", &d.Ahead)
		readSome(r, "later_prompt", &d.LaterPrompt)
		readSome(r, "why", &d.Why)
	})
	return d
}

func writeString(w *rawjson.Writer, name, s string) {
	w.Name(name)
	w.String(s)
}

// writeSome leaves out what is empty.
func writeSome(w *rawjson.Writer, name, s string) {
	if s != "" {
		writeString(w, name, s)
	}
}

func writeCount(w *rawjson.Writer, name string, n int) {
	if n != 0 {
		w.Name(name)
		w.Int(n)
	}
}

func writeTime(w *rawjson.Writer, name string, t *Time) {
	if t != nil {
		writeString(w, name, t.String())
	}
}

func writeOrNull(w *rawjson.Writer, s *string) {
	if s == nil {
		w.Null()
	} else {
		w.String(*s)
	}
}

func readSome[S ~string](r *rawjson.Reader, name string, to *S) {
	if r.Has(name) {
		*to = S(r.String())
	}
}

func readTime(r *rawjson.Reader) *Time {
	t := &Time{}
	if t.UnmarshalJSON([]byte(`"`+r.String()+`"`)) != nil {
		r.GiveUp()
	}
	return t
}
