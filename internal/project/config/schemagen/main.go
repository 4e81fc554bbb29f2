// Command schemagen writes the JSON Schemas of the configuration files, for
// editors. It runs in internal/project/config through go generate; tests fail when its
// output is not committed, or says something else than the decoder.
package main

import (
	"log"
	"os"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/project/config"
)

func main() {
	dir := "schema"
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	for _, kind := range config.Kinds() {
		if err := config.MakeSchema(kind).Write(filepath.Join(dir, kind+".json")); err != nil {
			log.Fatal(err)
		}
	}
}
