package hook

import (
	"embed"
	"fmt"
)

//go:generate go run ./schemagen

//go:embed schema/*.json
var schemas embed.FS

// Schema is the JSON Schema (2020-12) of the event's payload.
func Schema(e Event) ([]byte, error) {
	data, err := schemas.ReadFile("schema/" + string(e) + ".json")
	if err != nil {
		return nil, fmt.Errorf("no schema for %q", string(e))
	}
	return data, nil
}
