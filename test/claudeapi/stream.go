package claudeapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// pingEvery keeps an answer that is held back from looking like a dead connection.
const pingEvery = time.Second

// stream writes one message as server-sent events, in the order and shape the client parses.
type stream struct {
	w      http.ResponseWriter
	model  string
	toolID func() string
}

type fields = map[string]any

func (s *stream) event(kind string, data fields) {
	data["type"] = kind
	encoded, err := json.Marshal(data)
	if err != nil {
		panic(err) // strings and numbers only
	}
	// A write fails when the client went away, which a test may want: nothing to do about it.
	fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", kind, encoded)
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}

func (s *stream) start() {
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.event("message_start", fields{"message": fields{
		"id": "msg_" + s.toolID(), "type": "message", "role": "assistant", "model": s.model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": fields{"input_tokens": 10, "output_tokens": 1},
	}})
}

func (s *stream) ping() { s.event("ping", fields{}) }

func (s *stream) answer(a Answer) {
	reason := "end_turn"
	for i, b := range a.blocks {
		content, delta := fields{"type": "text", "text": ""}, fields{"type": "text_delta", "text": b.text}
		if b.tool != "" {
			reason = "tool_use"
			content = fields{"type": "tool_use", "id": s.toolID(), "name": b.tool, "input": fields{}}
			delta = fields{"type": "input_json_delta", "partial_json": b.input}
		}
		s.event("content_block_start", fields{"index": i, "content_block": content})
		s.event("content_block_delta", fields{"index": i, "delta": delta})
		s.event("content_block_stop", fields{"index": i})
	}
	s.event("message_delta", fields{
		"delta": fields{"stop_reason": reason, "stop_sequence": nil},
		"usage": fields{"output_tokens": 5},
	})
	s.event("message_stop", fields{})
}
