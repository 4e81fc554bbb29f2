package fleet

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/ask"
	"github.com/stopgate/stopgate/internal/control/fleet/beat"
)

const (
	// seekPatience is how long machines have to say whether they have something that none shows.
	seekPatience = 3 * time.Second
	// seekAtOnce is how many are asked at once.
	seekAtOnce = 16
	// shortest is the beginning of an id for which it is worth asking.
	shortest = 6
)

// alone reports whether there is no other machine that something could be on.
func (p *Plane) alone() bool {
	return p.f.others.Empty() && len(p.f.members()) <= 1
}

// seek asks all machines that are up for something that none shows: a pipeline that ended days ago, an agent of an
// earlier step, a decision that is settled.
func (p *Plane) seek(ctx context.Context, k kind, id string) []place {
	observer := p.f.Observer()
	l, connected := p.f.up()
	if observer == nil || !connected || len(id) < shortest {
		return nil
	}

	ctx, cancel := context.WithTimeout(ctx, seekPatience)
	defer cancel()

	var mu sync.Mutex
	var found []place
	var all sync.WaitGroup
	free := make(chan struct{}, seekAtOnce)
	for _, host := range observer.Members() {
		if host == l.Member || observer.State(host) != beat.Up {
			continue
		}
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			for _, path := range k.paths {
				a, err := ask.Send(ctx, l, p.f.Version, host, ask.Request{Method: http.MethodGet, Path: path + url.PathEscape(id)})
				if err != nil || a.Status != http.StatusOK {
					continue
				}
				if o, err := k.read(a.Body); err == nil && k.of(&o) != "" {
					mu.Lock()
					found = append(found, place{host, o, k.of(&o)})
					mu.Unlock()
					return
				}
			}
		})
	}

	all.Wait()
	return found
}
