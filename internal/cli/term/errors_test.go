package term

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestComplaints(t *testing.T) {
	bad := errors.New("bad\u202e")
	for name, tt := range map[string]struct {
		err   error
		lines []string
		json  string
	}{
		"plain":        {bad, []string{"stopgate: bad\u202e"}, `{"error":{"message":"bad\u202e","exit_code":1}}`},
		"hint":         {CannotRun(bad, "do"), []string{"stopgate: bad\u202e", "do"}, `{"error":{"message":"bad\u202e","hint":"do","exit_code":3}}`},
		"usage":        {BadUsage(bad, "see"), []string{"stopgate: bad\u202e", "see"}, `{"error":{"message":"bad\u202e","hint":"see","exit_code":2}}`},
		"already told": {AlreadyTold(bad, ExitUsage), nil, `{"error":{"message":"bad\u202e","exit_code":2}}`},
		"interrupted":  {Interrupted(), nil, `{"error":{"message":"interrupted","exit_code":130}}`},
	} {
		c := Explain(tt.err)
		if !slices.Equal(c.Lines(), tt.lines) {
			t.Errorf("%s: %q", name, c.Lines())
		}
		var out strings.Builder
		if err := c.PrintJSON(&out); err != nil || out.String() != strings.ReplaceAll(tt.json, "\u202e", `\u202e`)+"\n" {
			t.Errorf("%s: %s, %v", name, out.String(), err)
		}
	}
	if c := Explain(ErrSilent); c.Message != "" || c.Lines() != nil || c.Code != ExitFailed {
		t.Errorf("silent: %+v", c)
	}
}

type emptyView struct{ shown *bool }

func (v emptyView) Print(io.Writer) { *v.shown = true }

// What a command finds while it is being interrupted is not shown.
func TestShowsNothingWhenInterrupted(t *testing.T) {
	shown := false
	ctx, cancel := context.WithCancel(t.Context())
	cmd := Shows(&cobra.Command{SilenceErrors: true, SilenceUsage: true}, func(*cobra.Command, []string) (emptyView, error) {
		cancel()
		return emptyView{&shown}, nil
	})
	cmd.SetArgs(nil)
	if code := Explain(cmd.ExecuteContext(ctx)).Code; code != ExitInterrupted || shown {
		t.Errorf("exit %d, shown: %v", code, shown)
	}
}
