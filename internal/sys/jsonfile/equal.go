package jsonfile

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"

	"github.com/tailscale/hujson"
)

// Equal reports whether two values mean the same: white space, the order of
// members and the way in which a number or a string is written do not count.
func Equal(a, b *hujson.Value) bool {
	x, xerr := meaning(a)
	y, yerr := meaning(b)
	return xerr == nil && yerr == nil && reflect.DeepEqual(x, y)
}

func meaning(v *hujson.Value) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(hujson.Value{Value: v.Value}.Pack()))
	decoder.UseNumber()
	var out any
	if err := decoder.Decode(&out); err != nil {
		return nil, err
	}
	return byValue(out), nil
}

// byValue turns numbers into what Claude Code makes of them. One that is too large
// for it becomes an infinity, which encoding/json itself would refuse.
func byValue(v any) any {
	switch v := v.(type) {
	case json.Number:
		f, _ := strconv.ParseFloat(string(v), 64)
		return f
	case []any:
		for i := range v {
			v[i] = byValue(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = byValue(v[name])
		}
	}
	return v
}
