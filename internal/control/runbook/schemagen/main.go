// Command schemagen writes the JSON Schema of runbooks, for editors that know TOML. It
// runs in internal/control/runbook through go generate; tests fail when its output is not
// committed, or says something else than the decoder.
package main

import (
	"log"
	"os"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

func main() {
	dir := "../../project/schema"
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	text, err := runbook.MakeSchema().File()
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "runbook.json"), text, 0o644); err != nil {
		log.Fatal(err)
	}
}
