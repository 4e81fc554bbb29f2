package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// heavy lists what must not be linked: each is paid for at the start of every
// hook call, and the client waits for it. Measured: 2.2 ms for this program as
// it is, 6.4 ms with all of these.
var heavy = map[string]string{
	"modernc.org/sqlite":                    "the store belongs to stopgated",
	"database/sql":                          "the store belongs to stopgated",
	"github.com/nats-io":                    "the store belongs to stopgated",
	"go.opentelemetry.io":                   "telemetry belongs to stopgated",
	"github.com/prometheus":                 "metrics belong to stopgated",
	"github.com/containrrr/shoutrrr":        "telling people belongs to stopgated",
	"github.com/nicholas-fedor/shoutrrr":    "telling people belongs to stopgated",
	"github.com/gen2brain/beeep":            "telling people belongs to stopgated",
	"github.com/charmbracelet":              "the dashboards belong to stopgated",
	"charm.land":                            "the dashboards belong to stopgated",
	"html/template":                         "the dashboards belong to stopgated",
	"mvdan.cc/sh":                           "the shell's grammar belongs to stopgated",
	"net/http":                              "a hook asks nobody over the network",
	"github.com/santhosh-tekuri/jsonschema": "schemas are checked in tests; payloads have a decoder",
	"github.com/invopop/jsonschema":         "schemas are generated and embedded",
}

func TestLinksNothingHeavy(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	for pkg := range strings.FieldsSeq(string(out)) {
		for prefix, why := range heavy {
			if pkg == prefix || strings.HasPrefix(pkg, prefix+"/") {
				t.Errorf("stopgate links %s, which costs every hook call at its start: %s", pkg, why)
			}
		}
	}
}

// One template anywhere makes the linker keep every exported method there is: a
// fifth more program, for the kernel to map at every hook call. Cobra links the
// engine only where a template of one's own is set.
func TestLinksNoTemplateEngine(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "stopgate")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	out, err := exec.Command("go", "tool", "nm", binary).Output()
	if err != nil {
		t.Fatalf("go tool nm: %v", err)
	}
	if strings.Contains(string(out), "text/template.(*Template).Execute") {
		t.Error("text/template is linked")
	}
}
