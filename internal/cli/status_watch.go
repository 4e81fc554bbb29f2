package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// watchStatus shows the status again whenever the daemon has news.
func (h *here) watchStatus(cmd *cobra.Command, asJSON bool) error {
	return asking(func(ctx context.Context, p *plane, _ []string) error {
		return p.watch(ctx, "", asJSON, func(ctx context.Context) (glimpse, error) {
			s, err := h.status(ctx)
			return statusShow{s}, err
		})
	})(cmd, nil)
}

// statusShow is the status at one moment, for somebody who watches it.
type statusShow struct{ *status }

func (s statusShow) json() any { return s.status }

func (s statusShow) over() bool { return false }

func (s statusShow) facts() []string { return s.text(false) }

func (s statusShow) lines(p paint, width, height int) []string {
	lines := s.text(p)
	for i, line := range lines {
		if cells(line) > width {
			lines[i] = cut(plain.Line(line), width) // without colours, which cannot be cut
		}
	}
	return fit(lines, height)
}

func (s statusShow) text(p paint) []string {
	var b strings.Builder
	_ = s.write(&b, p) // a builder takes everything
	return strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
}
