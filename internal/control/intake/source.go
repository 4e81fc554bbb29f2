package intake

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// What an item may have.
const (
	maxVars   = 32 << 10 // bytes of its values: six times as many in JSON, at worst
	maxListed = 10_000   // items that a source lists

	maxPortion = 100
)

// ParseItems reads items: a JSON array of objects, or objects one after the other.
func ParseItems(text []byte) ([]map[string]string, error) {
	text = bytes.TrimSpace(text)
	var objects []map[string]any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if bytes.HasPrefix(text, []byte("[")) {
		if err := decoder.Decode(&objects); err != nil {
			return nil, notItems(err)
		}
		if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
			return nil, notItems(errors.New("something follows the array"))
		}
	}
	for !bytes.HasPrefix(text, []byte("[")) {
		var object map[string]any
		err := decoder.Decode(&object)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, notItems(err)
		}
		objects = append(objects, object)
	}
	if len(objects) > maxListed {
		return nil, fmt.Errorf("%d items; at most %d", len(objects), maxListed)
	}
	items := make([]map[string]string, len(objects))
	for i, object := range objects {
		if object == nil {
			return nil, notItems(fmt.Errorf("item %d is null", i+1))
		}
		items[i] = map[string]string{}
		for name, value := range object {
			items[i][name] = words(value)
		}
	}
	return items, nil
}

func notItems(err error) error {
	return fmt.Errorf("not a JSON array of objects, nor one object per line: %w", err)
}

// words is a value as a variable has it.
func words(value any) string {
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

// Portions are items in portions that fit into an event of the store.
func Portions(items []map[string]string) (portions [][]map[string]string) {
	size := 0
	for i, item := range items {
		own := 0
		for name, value := range item {
			own += len(name) + len(value)
		}
		if size += own; i == 0 || size > maxVars || len(portions[len(portions)-1]) == maxPortion {
			portions, size = append(portions, nil), own
		}
		last := len(portions) - 1
		portions[last] = append(portions[last], item)
	}
	return portions
}

// Fit are the values of an item that a queue has variables for. Strict refuses others.
func Fit(values map[string]string, vars []string, defaults map[string]string, strict bool) (map[string]string, error) {
	fit, size := map[string]string{}, 0
	for _, name := range vars {
		value, given := values[name]
		if _, optional := defaults[name]; !given && !optional {
			return nil, fmt.Errorf("the item has no %q; it must have %s", name, strings.Join(required(vars, defaults), ", "))
		}
		if strings.ContainsRune(value, 0) {
			return nil, fmt.Errorf("%q contains a NUL byte", name)
		}
		if given {
			fit[name] = strings.ToValidUTF8(value, "\uFFFD")
		}
		size += len(value)
	}
	if size > maxVars {
		return nil, fmt.Errorf("the item has %d bytes; at most %d", size, maxVars)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if strict && !slices.Contains(vars, name) {
			return nil, fmt.Errorf("the queue has no variable %q; it has %s", name, strings.Join(vars, ", "))
		}
	}
	return fit, nil
}

func required(vars []string, defaults map[string]string) (names []string) {
	for _, name := range vars {
		if _, optional := defaults[name]; !optional {
			names = append(names, name)
		}
	}
	return names
}
