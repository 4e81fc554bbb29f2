package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// writeLinuxPackages has nfpm make a deb and an rpm of files that it finds in a directory.
func writeLinuxPackages(e edition, t target, files []file, dir string) error {
	root, err := os.MkdirTemp("", "stopgate-root-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	for _, f := range files {
		if err := place(filepath.Join(root, f.path), f); err != nil {
			return err
		}
	}

	for _, packager := range []string{"deb", "rpm"} {
		cmd := exec.Command("go", "tool", "-modfile=tools/release/go.mod", "nfpm", "package",
			"--config", "packaging/nfpm.yaml", "--packager", packager, "--target", dir)
		cmd.Env = append(os.Environ(), "RELEASE_VERSION="+e.version, "RELEASE_ARCH="+t.arch, "RELEASE_ROOT="+root,
			"SOURCE_DATE_EPOCH="+strconv.FormatInt(e.date.Unix(), 10))
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("nfpm: %w\n%s", err, out)
		}
	}
	return nil
}

// place writes a file with the mode that it has in a package, whatever the umask is.
func place(path string, f file) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, f.content, 0o600); err != nil {
		return err
	}
	return os.Chmod(path, os.FileMode(f.mode))
}
