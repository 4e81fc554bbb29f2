package presence

import (
	"encoding/json"
	"time"

	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// The text of a client's file, written out for the sake of the hooks: see package
// rawjson.

func (c *Client) encode() []byte {
	w := &rawjson.Writer{}
	w.Object(func() {
		w.Name("session")
		w.String(c.Session)
		w.Name("socket")
		w.String(c.Socket)
		w.Name("pid")
		w.Int(c.PID)
		w.Name("pane")
		w.String(c.Pane)
		w.Name("state")
		w.String(string(c.State))
		w.Name("since")
		w.String(c.Since.Format(time.RFC3339Nano))
	})
	return append(w.Text, '\n')
}

func parse(text []byte) (Client, error) {
	c, ours := parseOurs(text)
	if ours {
		return c, nil
	}
	c = Client{}
	err := json.Unmarshal(text, &c)
	return c, err
}

// parseOurs reads what encode writes.
func parseOurs(text []byte) (c Client, ok bool) {
	r := rawjson.NewReader(text)
	r.Object(func() {
		for _, field := range []struct {
			name string
			read func()
		}{
			{"session", func() { c.Session = r.String() }},
			{"socket", func() { c.Socket = r.String() }},
			{"pid", func() { c.PID = r.Int() }},
			{"pane", func() { c.Pane = r.String() }},
			{"state", func() { c.State = State(r.String()) }},
			{"since", func() {
				if c.Since.UnmarshalText([]byte(r.String())) != nil {
					r.GiveUp()
				}
			}},
		} {
			if r.Has(field.name) {
				field.read()
			}
		}
	})
	return c, r.Done()
}
