package status

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/daemon"
	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
)

// watchStatus shows the status again whenever the daemon has news.
func watchStatus(h *here.Place, cmd *cobra.Command) error {
	return daemon.Asking(func(ctx context.Context, p *daemon.Daemon, _ []string) error {
		return p.Watch(ctx, "", func(ctx context.Context) (term.Glimpse, error) {
			s, err := look(ctx, h)
			return statusShow{s}, err
		})
	})(cmd, nil)
}

// statusShow is the status at one moment, for somebody who watches it.
type statusShow struct{ *status }

func (s statusShow) JSON() any { return s.status }

func (s statusShow) Over() bool { return false }

func (s statusShow) Facts() (all []term.Fact) {
	for _, line := range s.text(false) {
		all = append(all, term.Fact{Text: line})
	}
	return all
}

func (s statusShow) Lines(p term.Paint, width, height int) []string {
	var lines []string
	for _, text := range s.text(p) {
		for _, line := range term.Fold(text, width) {
			if term.Cells(line) <= width {
				lines = append(lines, line)
				continue
			}
			lines = append(lines, term.Wrap(term.PrintableLine(line), width)...) // without colours, which cannot be cut
		}
	}
	return term.Fit(lines, height)
}

func (s statusShow) text(p term.Paint) []string {
	var b strings.Builder
	_ = s.write(&b, p) // a builder takes everything
	return strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
}
