package daemon

import (
	"context"
	"strings"

	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/control/web"
)

// verifier is a store that can be verified while it is in use.
type verifier interface {
	Verify(ctx context.Context) (store.Report, error)
}

// VerifyStore implements web.Plane.
func (p *plane) VerifyStore(ctx context.Context) (web.Soundness, error) {
	v, ok := p.core.store.(verifier)
	if !ok {
		return web.Soundness{}, api.Refusal("invalid", "this store cannot be verified", "")
	}
	report, err := v.Verify(ctx)
	sound := web.Soundness{Events: report.Events, Sound: err == nil && report.Sound()}
	for _, f := range report.Findings {
		sound.Findings = append(sound.Findings, strings.TrimSpace(f.String()+" "+f.Remedy))
	}
	return sound, err
}
