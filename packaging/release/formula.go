package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const releases = "https://github.com/stopgate/stopgate/releases/download/v"

// formulaNames are Homebrew's names of a platform.
var formulaNames = map[string]string{"darwin": "on_macos", "linux": "on_linux", "amd64": "on_intel", "arm64": "on_arm"}

// writeFormula writes a formula for Homebrew that installs the archives.
func writeFormula(e edition, targets []target, dir string) error {
	var b strings.Builder
	fmt.Fprintf(&b, `class Stopgate < Formula
  desc "Decides whether a coding agent may stop"
  homepage "https://github.com/stopgate/stopgate"
  version %q
  license "Apache-2.0"
`, e.version)
	for _, t := range targets {
		if formulaNames[t.os] == "" {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, t.archive(e)))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, `
  %s do
    %s do
      url "%s%s/%s"
      sha256 "%x"
    end
  end
`, formulaNames[t.os], formulaNames[t.arch], releases, e.version, t.archive(e), sha256.Sum256(content))
	}
	b.WriteString(`
  def install
    prefix.install "bin", "share"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/stopgate version")
  end
end
`)
	return os.WriteFile(filepath.Join(dir, "stopgate.rb"), []byte(b.String()), 0o644)
}
