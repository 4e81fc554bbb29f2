package daemonapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// ParseItems reads the items of a queue as people and programs write them: a JSON array of objects, or
// objects one after the other. What the queue makes of them, the daemon says.
func ParseItems(text []byte) ([]map[string]string, error) {
	objects, err := parseObjects(bytes.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("not a JSON array of objects, nor one object per line: %w", plainer(err))
	}
	items := make([]map[string]string, len(objects))
	for i, object := range objects {
		items[i] = map[string]string{}
		for name, value := range object {
			items[i][name] = itemValue(value)
		}
	}
	return items, nil
}

func parseObjects(text []byte) (objects []map[string]any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if !bytes.HasPrefix(text, []byte("[")) {
		for {
			var object map[string]any
			switch err := decoder.Decode(&object); {
			case errors.Is(err, io.EOF):
				return objects, nil
			case err != nil:
				return nil, err
			case object == nil:
				return nil, fmt.Errorf("item %d is null", len(objects)+1)
			}
			objects = append(objects, object)
		}
	}

	if err := decoder.Decode(&objects); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the array")
	}

	for i, object := range objects {
		if object == nil {
			return nil, fmt.Errorf("item %d is null", i+1)
		}
	}
	return objects, nil
}

// plainer says in the user's words what Go calls by its types.
func plainer(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("an item is a %s, not an object", wrong.Value)
	}
	return err
}

// itemValue is a value as a variable has it: a text as it is, null as nothing, and all else as JSON.
func itemValue(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	}
	text, err := rawjson.Marshal(value)
	if err != nil {
		return ""
	}
	return string(text)
}
