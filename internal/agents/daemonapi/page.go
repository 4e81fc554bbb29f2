package daemonapi

import (
	"path/filepath"

	"github.com/stopgate/stopgate/internal/sys/statefile"
)

// PageFile is the record of the web page in the state directory, which the daemon keeps.
func PageFile(stateDir string) string { return filepath.Join(stateDir, "ui.json") }

// MaxPageFile is more than the record ever has.
const MaxPageFile = 1 << 20

// PageURL is the address of the web page on this machine, "" while it is off. It asks no daemon.
func PageURL(stateDir string) string {
	page, err := statefile.Read[struct {
		On       bool   `json:"on"`
		Loopback string `json:"loopback"`
	}](PageFile(stateDir), MaxPageFile)
	if err != nil || !page.On || page.Loopback == "" {
		return ""
	}
	return "http://" + page.Loopback
}
