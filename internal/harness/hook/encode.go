package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Encode writes a payload back as JSON, with the fields this program does not
// know in the place where the client put them.
func Encode(p Payload) ([]byte, error) {
	fields := fieldsOf(p)
	unwritten := make(map[string]any, len(fields))
	for _, f := range fields {
		unwritten[f.name] = f.dst
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
	for _, m := range p.Common().members {
		value, known := unwritten[m.Name]
		delete(unwritten, m.Name)
		if !known || isNull(m.Value) {
			value = m.Value
		}
		if err := add(m.Name, value); err != nil {
			return nil, err
		}
	}
	for _, f := range fields {
		if _, missing := unwritten[f.name]; !missing || f.need == optional && isZero(f.dst) {
			continue
		}
		if err := add(f.name, f.dst); err != nil {
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
	case *bool:
		return !*v
	case *float64:
		return *v == 0
	case *json.RawMessage:
		return len(*v) == 0
	case *[]json.RawMessage:
		return len(*v) == 0
	}
	return false
}
