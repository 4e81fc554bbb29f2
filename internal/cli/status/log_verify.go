package status

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func newLogVerify() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that the journal and the daemon's store are intact",
		Long: `Read the whole journal and the daemon's whole store, and report everything that is damaged
or missing. Nothing is changed; the daemon may be running. Records that were not durable yet when
the machine lost power are counted; they do not change the exit code.

Exit code 0: both are intact. 1: something is damaged. 3: one of them could not be read.`,
		Example: `  stopgate log verify
  stopgate log verify --json | jq .journal.damage`,
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			state, err := paths.StateDir()
			if err != nil {
				return err
			}
			v := verification{stateDir: state, out: cmd.OutOrStdout(), errOut: cmd.ErrOrStderr()}
			if asJSON {
				return v.json(cmd.Context())
			}
			return v.print(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// verification looks at everything that was ever recorded.
type verification struct {
	stateDir    string
	out, errOut io.Writer
}

func (v *verification) journal(ctx context.Context) (journal.Report, error) {
	return journal.New(filepath.Join(v.stateDir, "journal"), journal.Limits{}).Verify(ctx)
}

func (v *verification) print(ctx context.Context) error {
	r, err := v.journal(ctx)
	if err != nil {
		return term.WithCode(err, term.ExitCouldNotRun)
	}

	p := term.PaintFor(v.out)
	mark, text := p.Green("✓"), plain.Count(r.Records, "record")
	if r.Newer > 0 {
		text += fmt.Sprintf(", %d written by a newer stopgate", r.Newer)
	}
	if len(r.Cut) > 0 {
		text += fmt.Sprintf(", %d cut off when the machine lost power", len(r.Cut))
	}
	if len(r.Damage) > 0 {
		mark, text = p.Red("✗"), text+", "+fmt.Sprintf("%d damaged", len(r.Damage))
	}

	fmt.Fprintf(v.out, "%s journal  %s\n", mark, text)
	for _, d := range r.Damage {
		fmt.Fprintf(v.out, "    at %s: %s\n", d.Position, d.What)
	}

	code, err := v.store(ctx, v.out)
	if err == nil && code == term.ExitOK && len(r.Damage) > 0 {
		code = term.ExitFailed
	}
	if err != nil || code == term.ExitOK {
		return err
	}
	return term.WithCode(nil, code)
}

func (v *verification) json(ctx context.Context) error {
	r, err := v.journal(ctx)
	if err != nil {
		return term.WithCode(err, term.ExitCouldNotRun)
	}
	var text bytes.Buffer
	code, err := v.store(ctx, &text, "--json")
	if err != nil {
		return err
	}
	report := struct {
		Sound   bool            `json:"sound"`
		Journal journal.Report  `json:"journal"`
		Store   json.RawMessage `json:"store,omitempty"`
	}{code == term.ExitOK && len(r.Damage) == 0, r, nil}
	if json.Valid(text.Bytes()) {
		report.Store = text.Bytes()
	}
	if err := term.PrintJSON(v.out, report); err != nil || report.Sound {
		return err
	}
	return term.WithCode(nil, max(code, term.ExitFailed))
}

// store has stopgated look at the daemon's store. One that was never made is sound.
func (v *verification) store(ctx context.Context, out io.Writer, flags ...string) (code int, err error) {
	if _, err := os.Lstat(filepath.Join(v.stateDir, "stopgate.db")); errors.Is(err, fs.ErrNotExist) && v.neverMade() {
		if len(flags) == 0 {
			fmt.Fprintf(out, "%s store    none yet\n", term.PaintFor(out).Green("✓"))
		}
		return term.ExitOK, nil
	}
	program, err := here.FindProgram("stopgated", os.Environ())
	if err != nil {
		return term.ExitCouldNotRun, err
	}
	cmd := exec.CommandContext(ctx, program, append([]string{"store-verify"}, flags...)...)
	cmd.Stdout, cmd.Stderr = out, v.errOut
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return verifyCode(exit.ExitCode()), nil
	}
	if err != nil {
		return term.ExitCouldNotRun, term.WithCode(err, term.ExitCouldNotRun)
	}
	return term.ExitOK, nil
}

// neverMade reports whether nothing says that there ever was a store.
func (v *verification) neverMade() bool {
	_, err := os.Lstat(filepath.Join(v.stateDir, "stopgate.heads"))
	return errors.Is(err, fs.ErrNotExist)
}

// verifyCode is our exit code for one of stopgated: 1 is damage, anything else says
// nothing about the store.
func verifyCode(code int) int {
	if code == term.ExitFailed {
		return term.ExitFailed
	}
	return term.ExitCouldNotRun
}
