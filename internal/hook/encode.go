package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Encode writes a payload back as JSON, with the fields this program does not
// know in the place where the client put them.
func Encode(p Payload) ([]byte, error) {
	fields := make(map[string]any)
	var order []string
	for _, f := range fieldsOf(p) {
		fields[f.name] = f.dst
		order = append(order, f.name)
	}
	var out bytes.Buffer
	add := func(name string, value any) error {
		if out.Len() == 0 {
			out.WriteByte('{')
		} else {
			out.WriteByte(',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return err
		}
		text, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("encode %s: %w", name, err)
		}
		out.Write(key)
		out.WriteByte(':')
		out.Write(text)
		return nil
	}
	for _, m := range p.base().members {
		value, known := fields[m.name]
		delete(fields, m.name)
		if !known || isNull(m.value) {
			value = m.value
		}
		if err := add(m.name, value); err != nil {
			return nil, err
		}
	}
	for _, name := range order {
		value, unwritten := fields[name]
		if !unwritten || isZero(value) {
			continue
		}
		if err := add(name, value); err != nil {
			return nil, err
		}
	}
	if out.Len() == 0 {
		return []byte("{}"), nil
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

func isZero(dst any) bool {
	switch v := dst.(type) {
	case *string:
		return *v == ""
	case *float64:
		return *v == 0
	case *json.RawMessage:
		return len(*v) == 0
	case *[]json.RawMessage:
		return len(*v) == 0
	}
	return false // a false boolean says something
}
