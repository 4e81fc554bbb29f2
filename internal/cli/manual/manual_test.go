package manual_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/manual"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

var check = checktest.OK

func TestMain(m *testing.M) {
	environtest.Clean()
	os.Exit(m.Run())
}

var edition = manual.Edition{Version: "v1.2.3", Date: "2026-11-17"}

// Each command that users see has a page, or a part of one.
func TestIssue19EveryCommandIsInTheManual(t *testing.T) {
	pages := map[string]string{}
	for _, page := range manual.Pages(cli.Tree(), edition) {
		pages[page.Name] = strings.ReplaceAll(page.Text, `\-`, "-")
	}
	for _, cmd := range cli.Tree().Commands() {
		if cmd.Hidden || cmd.Name() == "help" || cmd.Name() == "exit-codes" {
			continue
		}
		page := pages["stopgate-"+cmd.Name()+".1"]
		if !strings.Contains(page, "\nstopgate-"+cmd.Name()+` - `+strings.ReplaceAll(cmd.Short, "'", `\(aq`)+"\n") {
			t.Errorf("stopgate-%s.1 does not say what the command is for:\n%s", cmd.Name(), page)
		}
		if !strings.Contains(pages["stopgate.1"], `\fBstopgate-`+cmd.Name()+`\fR(1)`) {
			t.Errorf("stopgate.1 does not name %s", cmd.Name())
		}
		for _, below := range cmd.Commands() {
			if !below.Hidden && below.Name() != "help" && !strings.Contains(page, `.SS "`+below.CommandPath()+`"`) {
				t.Errorf("stopgate-%s.1 leaves out %s", cmd.Name(), below.CommandPath())
			}
		}
	}
	if !strings.Contains(pages["stopgate.1"], "\n.SH \"EXIT CODES\"\n") {
		t.Error("stopgate.1 leaves out the exit codes")
	}
}

// groff knows every request and finds nothing to complain about.
func TestIssue19TheManualIsSound(t *testing.T) {
	groff := environtest.Need(t, "groff")
	args := []string{"-man", "-ww", "-z", "-k", "-Tutf8"}
	dir := t.TempDir()
	for _, page := range manual.Pages(cli.Tree(), edition) {
		path := filepath.Join(dir, page.Name)
		check(t, os.WriteFile(path, []byte(page.Text), 0o600))
		args = append(args, path)
	}

	out, err := exec.Command(groff, args...).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// What roff could take for its own is shown as it was written.
func TestIssue19TextOfTheManualIsNotRoff(t *testing.T) {
	groff := environtest.Need(t, "groff")
	long := ".SH not a heading\n'not a request'\nC:\\dir `quoted` ~/home ^ --flag \"q\" naïve…\n\n  .nf  in a table\n  'x'"
	root := &cobra.Command{Use: "tool", Short: "-", Long: long, Run: func(*cobra.Command, []string) {}}

	cmd := exec.Command(groff, "-man", "-ww", "-k", "-Tutf8", "-P-cbou")
	cmd.Stdin = strings.NewReader(manual.Pages(root, edition)[0].Text)
	out, err := cmd.CombinedOutput()
	check(t, err)

	shown := strings.Join(strings.Fields(string(out)), " ")
	want := strings.Join(strings.Fields(long), " ")
	if !strings.Contains(shown, want) {
		t.Errorf("%s\nis not in:\n%s", want, out)
	}
}
