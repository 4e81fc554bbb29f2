package event

import (
	"encoding/json"
	"strconv"
	"time"
)

// AppendJSON appends the record as a JSON object, in the order of its fields and
// without those that are empty. It is written out because encoding/json takes
// 0.13 ms to learn the types, in every process that writes a record; a property
// test holds it to what encoding/json reads.
func (r *Record) AppendJSON(to []byte) []byte {
	o := object{text: append(to, '{')}
	o.number("v", int64(r.Version))
	o.always("id", r.ID)
	o.always("call", r.Call)
	o.always("kind", string(r.Kind))
	o.always("time", r.Time.Format(time.RFC3339Nano))
	o.string("host", r.Host)
	o.string("boot", r.Boot)
	o.number("pid", int64(r.PID))
	o.always("event", r.Event)
	if r.Enums != (Enums{}) {
		o.object("enums", r.Enums.write)
	}
	o.string("session", r.Session)
	o.string("prompt_id", r.Prompt)
	if r.Agent != (SubagentRef{}) {
		o.object("agent", r.Agent.write)
	}
	o.string("tmux_pane", r.Pane)
	o.string("project", r.Project)
	o.string("prompt_hash", r.PromptHash)
	if r.Word != nil {
		o.object("word", r.Word.write)
	}
	o.string("decision", r.Decision)
	o.list("verdicts", len(r.Verdicts), func(i int) { o.text = r.Verdicts[i].append(o.text) })
	o.list("trees", len(r.Trees), func(i int) { o.text = r.Trees[i].append(o.text) })
	o.list("effects", len(r.Effects), func(i int) { o.text = appendString(o.text, r.Effects[i]) })
	o.some("duration_ms", r.DurationMS)
	if len(r.Payload) > 0 {
		o.key("payload")
		o.text = append(o.text, r.Payload...)
	}
	return append(o.text, '}')
}

// MarshalJSON makes encoding/json write what AppendJSON writes.
func (r Record) MarshalJSON() ([]byte, error) { return r.AppendJSON(nil), nil }

func (e Enums) write(o *object) {
	o.string("source", e.Source)
	o.string("reason", e.Reason)
	o.string("trigger", e.Trigger)
	o.string("notification_type", e.NotificationType)
	o.string("error", e.Error)
	o.string("tool_name", e.ToolName)
	if e.StopHookActive != nil {
		o.boolean("stop_hook_active", *e.StopHookActive)
	}
	o.string("reset", e.Reset)
}

func (a SubagentRef) write(o *object) {
	o.string("id", a.ID)
	o.string("type", a.Type)
}

func (w *Word) write(o *object) {
	o.always("agent", w.Agent)
	o.string("kind", w.Kind)
	o.string("message", w.Message)
	o.string("type", w.Type)
	o.string("prompt_id", w.Prompt)
	o.string("ref", w.Ref)
	o.string("data", w.Data)
}

func (v Verdict) append(to []byte) []byte {
	o := object{text: append(to, '{')}
	o.always("keeper", v.Keeper)
	o.always("outcome", v.Outcome)
	o.string("status", v.Status)
	if v.Blocked {
		o.boolean("blocked", true)
	}
	o.string("message", v.Message)
	o.some("start_ms", v.StartMS)
	o.number("duration_ms", v.DurationMS)
	if v.Cost != (Cost{}) {
		o.object("cost", v.Cost.write)
	}
	if v.Reused {
		o.boolean("reused", true)
	}
	return append(o.text, '}')
}

func (c Cost) write(o *object) {
	o.key("usd")
	o.text = strconv.AppendFloat(o.text, c.USD, 'f', -1, 64)
	o.some("input_tokens", c.InputTokens)
	o.some("output_tokens", c.OutputTokens)
	o.some("cache_read_tokens", c.CacheReadTokens)
	o.some("cache_creation_tokens", c.CacheCreationTokens)
}

// object is a JSON object that is being written.
type object struct {
	text []byte
	full bool // a member was written
}

func (o *object) key(name string) {
	if o.full {
		o.text = append(o.text, ',')
	}
	o.full = true
	o.text = append(o.text, '"')
	o.text = append(o.text, name...)
	o.text = append(o.text, '"', ':')
}

// list writes an array of n elements, unless it would be empty.
func (o *object) list(name string, n int, element func(i int)) {
	if n == 0 {
		return
	}
	o.key(name)
	o.text = append(o.text, '[')
	for i := range n {
		if i > 0 {
			o.text = append(o.text, ',')
		}
		element(i)
	}
	o.text = append(o.text, ']')
}

func (o *object) always(name, value string) {
	o.key(name)
	o.text = appendString(o.text, value)
}

func (o *object) string(name, value string) {
	if value != "" {
		o.always(name, value)
	}
}

func (o *object) number(name string, value int64) {
	o.key(name)
	o.text = strconv.AppendInt(o.text, value, 10)
}

func (o *object) some(name string, value int64) {
	if value != 0 {
		o.number(name, value)
	}
}

func (o *object) boolean(name string, value bool) {
	o.key(name)
	o.text = strconv.AppendBool(o.text, value)
}

func (o *object) object(name string, write func(*object)) {
	o.key(name)
	inner := object{text: append(o.text, '{')}
	write(&inner)
	o.text = append(inner.text, '}')
}

// appendString writes a JSON string. What needs escaping is rare and left to
// encoding/json.
func appendString(to []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			text, err := json.Marshal(s)
			if err != nil {
				panic(err) // strings always encode
			}
			return append(to, text...)
		}
	}
	to = append(to, '"')
	to = append(to, s...)
	return append(to, '"')
}
