package link_test

import (
	"context"
	"testing"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/link/linktest"
)

// busy is a follower that takes its time for each message.
type busy struct{ took, goOn chan struct{} }

func (busy) Begin()  {}
func (busy) Caught() {}

func (b busy) Take(link.Message) {
	b.took <- struct{}{}
	<-b.goOn
}

// A stream that was made again has other numbers: a reader that did not notice at once must not go on where it was.
func TestAStreamThatWasMadeAgainIsReadFromTheBeginning(t *testing.T) {
	f := linktest.New(t)
	l := f.Member("a")
	for range 3 {
		_, err := l.JS.Publish(t.Context(), l.Beat("a"), []byte("x"))
		check(t, err)
	}
	b := busy{make(chan struct{}), make(chan struct{})}
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go func() { ended <- l.Follow(ctx, b, l.Beat("*")) }()
	<-b.took

	check(t, l.JS.DeleteStream(t.Context(), l.ViewStream()))
	check(t, link.Make(t.Context(), f.Dial(), linktest.Name, 1))
	close(b.goOn)
	if err := <-ended; err == nil || ctx.Err() != nil {
		t.Errorf("it ended with %v", err)
	}
}
