package hook

import (
	"reflect"
	"slices"
	"strings"
)

// need says what a field demands of a payload.
type need string

const (
	optional need = ""         // may be absent or null
	required need = "required" // must be there
	nonBlank need = "nonblank" // must be there and hold more than white space
)

// field ties a name in the document to the place it is decoded to. One list
// per event serves the decoder, the encoder and the schema, so that they agree.
type field struct {
	name string
	dst  any
	need need
}

// aboutAgent stands in a payload where the id of an agent must come.
type aboutAgent struct{}

// fieldsOf lists the fields of a payload in the order in which faults are told.
func fieldsOf(p Payload) []field {
	b := p.Common()
	all := []field{
		{"session_id", &b.SessionID, nonBlank},
		{"transcript_path", &b.TranscriptPath, nonBlank},
		{"hook_event_name", &b.HookEventName, nonBlank},
		{"cwd", &b.CWD, nonBlank},
		{"prompt_id", &b.PromptID, optional},
		{"permission_mode", &b.PermissionMode, optional},
	}
	own := tagged(reflect.ValueOf(p).Elem(), b)
	if !slices.ContainsFunc(own, func(f field) bool { return f.name == "agent_id" }) {
		all = append(all, field{"agent_id", &b.AgentID, optional})
	}
	all = append(all, own...)
	return append(all, field{"agent_type", &b.AgentType, optional})
}

// tagged lists the fields of a struct by their tags, `hook:"NAME"` or `hook:"NAME,NEED"`, with those of
// the structs in it.
func tagged(v reflect.Value, b *Base) (all []field) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, demand, _ := strings.Cut(f.Tag.Get("hook"), ",")
		switch {
		case name != "":
			all = append(all, field{name, v.Field(i).Addr().Interface(), need(demand)})
		case f.Type == reflect.TypeFor[aboutAgent]():
			all = append(all, field{"agent_id", &b.AgentID, nonBlank})
		case f.Anonymous:
			all = append(all, tagged(v.Field(i), b)...)
		}
	}
	return all
}
