package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/stopgate/stopgate/internal/harness/endpoint"
)

// maxTargets bounds the list of targets, in bytes.
const maxTargets = 8 << 20

// Serve reads a JSON list of targets and prints one answer per line, each as soon
// as it is there.
func (p Prober) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	targets, err := readTargets(in)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	enc := json.NewEncoder(out)
	p.CheckAll(ctx, targets, func(a endpoint.Answer) {
		if err == nil {
			err = enc.Encode(a)
		}
		if err != nil {
			cancel() // nobody reads the others
		}
	})
	return err
}

// readTargets says of a list that is none only that: it holds secrets.
func readTargets(in io.Reader) ([]endpoint.Target, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxTargets+1))
	if err != nil {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	if len(text) > maxTargets {
		return nil, fmt.Errorf("standard input: more than %d MiB", maxTargets>>20)
	}
	var targets []endpoint.Target
	if json.Unmarshal(text, &targets) != nil {
		return nil, errors.New("standard input: not a JSON list of targets")
	}
	return targets, nil
}
