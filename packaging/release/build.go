package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

const programPackage = "github.com/stopgate/stopgate/internal/sys/program"

// build makes the programs in a directory, and gives them as files below bin.
func build(e edition, t target, dir string) ([]file, error) {
	flags := "-s -w -X " + programPackage + ".version=v" + e.version + " -X " + programPackage + ".commit=" + e.commit
	args := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", dir + string(filepath.Separator)}
	cmd := exec.Command("go", append(args, t.programs()...)...)
	cmd.Env = append(os.Environ(), "GOOS="+t.os, "GOARCH="+t.arch, "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}

	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var programs []file
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		programs = append(programs, file{"bin/" + entry.Name(), 0o755, content})
	}
	return programs, nil
}
