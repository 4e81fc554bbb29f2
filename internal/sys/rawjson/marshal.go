package rawjson

import (
	"bytes"
	"encoding/json"
)

// Marshal is json.Marshal that leaves <, > and & as they are: people and models read them.
func Marshal(v any) ([]byte, error) {
	text, err := encode(v, "")
	return bytes.TrimSuffix(text, []byte("\n")), err
}

// Lines is Marshal with an indent of two spaces, and a newline at the end.
func Lines(v any) ([]byte, error) { return encode(v, "  ") }

func encode(v any, indent string) ([]byte, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// Complaint is the line by which a command that was called with --json says why it failed.
func Complaint(message, hint string, code int) ([]byte, error) {
	type complaint struct {
		Message string `json:"message"`
		Hint    string `json:"hint,omitempty"`
		Code    int    `json:"exit_code"`
	}
	text, err := Marshal(struct {
		Error complaint `json:"error"`
	}{complaint{message, hint, code}})
	return append(text, '\n'), err
}
