// Command release makes what users install: for each platform an archive, a list of what is in it and a package
// for npm, for Linux also deb and rpm, for Homebrew a formula, and the checksums of all of it. make packages calls it.
//
// The same source, version and date give the same bytes.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"
)

// edition is one version of the program.
type edition struct {
	version string // 1.2.3, or 1.2.3-rc.1
	commit  string
	date    time.Time // of every file
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("release: ")
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	described := flag.String("version", "", "what git describe says")
	commit := flag.String("commit", "", "the commit that this is made of")
	seconds := flag.Int64("date", 0, "when that was committed, in seconds since 1970")
	platforms := flag.String("platforms", "", "only these, as in linux/amd64,darwin/arm64")
	flag.Parse()
	if flag.NArg() != 1 {
		return errors.New("usage: release [FLAGS] DIR")
	}

	date := time.Unix(*seconds, 0).UTC()
	e := edition{version(*described, date), *commit, date}
	targets, err := chooseTargets(*platforms)
	if err != nil {
		return err
	}
	return release(e, targets, flag.Arg(0))
}

// release fills a directory, which must be empty or missing: what is in it is what is published.
func release(e edition, targets []target, dir string) error {
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		return fmt.Errorf("%s is not empty", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	shared, err := sharedFiles(e)
	if err != nil {
		return err
	}

	for _, t := range targets {
		fmt.Println(t)
		if err := releaseFor(e, t, shared, dir); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	if err := writeNPMLauncher(e, targets, dir); err != nil {
		return err
	}
	if err := writeFormula(e, targets, dir); err != nil {
		return err
	}
	return writeChecksums(dir)
}

func releaseFor(e edition, t target, shared []file, dir string) error {
	work, err := os.MkdirTemp("", "stopgate-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)

	programs, err := build(e, t, work)
	if err != nil {
		return err
	}
	files := sorted(append(programs, shared...))
	if err := writeArchive(filepath.Join(dir, t.archive(e)), t.stem(e), files, e.date); err != nil {
		return err
	}
	if err := writeBill(filepath.Join(dir, t.stem(e)+".cdx.json"), e, work); err != nil {
		return err
	}
	if err := writeNPMPlatform(e, t, programs, dir); err != nil {
		return err
	}
	if t.os != "linux" {
		return nil
	}
	return writeLinuxPackages(e, t, files, dir)
}
