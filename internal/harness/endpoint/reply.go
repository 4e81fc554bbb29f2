package endpoint

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Said is what the body of a reply says about an error: in the form of the model API,
// or in one of those that gateways put in front of it.
func Said(body []byte) string {
	var reply struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(body, &reply) != nil {
		return ""
	}
	var inner struct {
		Message string `json:"message"`
	}
	var text string
	switch {
	case json.Unmarshal(reply.Error, &inner) == nil && inner.Message != "":
		return inner.Message
	case json.Unmarshal(reply.Error, &text) == nil && text != "":
		return text
	}
	return reply.Message
}

// Words tell of a reply: what was said, else what the status is called.
func Words(status int, name, said string) string {
	words := fmt.Sprintf("HTTP %d", status)
	if said = strings.TrimSpace(said); said != "" {
		return words + ": " + said
	}
	return strings.TrimSpace(words + " " + name)
}
