package attestation

import (
	"context"
	"fmt"
	"time"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Opinion is what is made of one attestation.
type Opinion struct {
	By       string    `json:"by"` // who signed it; where it is not accepted, whom it names
	Kind     Kind      `json:"kind"`
	Time     time.Time `json:"time,omitzero"`
	Accepted bool      `json:"accepted"`
	Why      string    `json:"why,omitempty"` // it is not accepted
	Gates    []Gate    `json:"gates"`
}

// String is a line for people.
func (o Opinion) String() string {
	name := "attestation"
	if o.By != "" {
		name += " by " + o.By
	}
	if o.Kind != "" {
		name += fmt.Sprintf(" (%s)", o.Kind)
	}
	if !o.Accepted {
		return name + ": refused: " + o.Why
	}
	return fmt.Sprintf("%s of %s: accepted, %s", name, o.Time.UTC().Format("2006-01-02 15:04 UTC"), plain.Count(len(o.Gates), "gate"))
}

// Judge says which attestations count here.
func Judge(ctx context.Context, all []Attestation, signers Signers, expected Expected, environ []string) ([]Opinion, error) {
	v, remove, err := newVerifier(signers, environ)
	if err != nil {
		return nil, err
	}
	defer remove()

	var opinions []Opinion
	for i, a := range all {
		if i == maxJudged {
			opinions = append(opinions, Opinion{Gates: []Gate{}, Why: fmt.Sprintf("a commit has at most %d attestations, and this one has %d more", maxJudged, len(all)-maxJudged)})
			break
		}
		opinions = append(opinions, v.judge(ctx, a, expected))
	}
	return opinions, nil
}

// judge looks at what an attestation says before it asks who signed it: that is cheaper.
func (v *verifier) judge(ctx context.Context, a Attestation, expected Expected) Opinion {
	o := Opinion{By: plain.Short(a.By, 100), Kind: a.Kind, Gates: []Gate{}}
	s, err := decode(a.Statement)
	if err == nil {
		o.Time = s.Time
		err = expected.fits(&s)
	}
	who := ""
	if err == nil {
		who, err = v.signer(ctx, a)
	}
	if err != nil {
		o.Why = err.Error()
		return o
	}
	o.By, o.Accepted, o.Gates = who, true, s.Gates
	return o
}
