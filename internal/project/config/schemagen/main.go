// Command schemagen writes the JSON Schemas of the configuration files, for
// editors. It runs in internal/project/config through go generate; tests fail when its
// output is not committed, or says something else than the decoder.
//
// A schema cannot say all that the decoder checks. It may accept more, never
// less.
package main

import (
	"bytes"
	"encoding/json"
	"log"
	"os"
	"path/filepath"
)

func main() {
	dir := "schema"
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	for name, schema := range map[string]node{
		"project": project(),
		"check":   check(fileName()),
		"review":  review(fileName()),
		"ci":      ci(),
		"global":  global(),
	} {
		schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
		text, err := render(schema)
		if err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".json"), text, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

func render(schema node) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(schema)
	return buf.Bytes(), err
}
