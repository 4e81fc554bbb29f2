// Command manualgen writes stopgate's man pages into a directory, for packages.
package main

import (
	"log"
	"os"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/manual"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("usage: manualgen DIR VERSION DATE")
	}
	dir := os.Args[1]
	if err := os.MkdirAll(dir, 0o755); err != nil {
		log.Fatal(err)
	}
	for _, page := range manual.Pages(cli.Tree(), manual.Edition{Version: os.Args[2], Date: os.Args[3]}) {
		if err := os.WriteFile(filepath.Join(dir, page.Name), []byte(page.Text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}
