package hook

import (
	"encoding/json"
	"fmt"

	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// Encode writes a payload back as JSON, with the fields this program does not
// know in the place where Claude Code put them.
func Encode(p Payload) ([]byte, error) {
	fields := fieldsOf(p)
	unwritten := make(map[string]any, len(fields))
	for _, f := range fields {
		unwritten[f.name] = f.dst
	}

	var members []rawjson.Member
	add := func(name string, value any) error {
		text, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("encode %s: %w", name, err)
		}
		members = append(members, rawjson.Member{Name: name, Value: text})
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
	return rawjson.Object(members), nil
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
