//go:build unix

package send

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/process/processtest"
	"github.com/stopgate/stopgate/internal/sys/seedtest"
)

// A sender that is killed at any time loses nothing: the next ones send the rest in
// order, and what may have arrived once more under the same key.
func TestKilledSenders(t *testing.T) {
	const count = 40
	asked := make(chan struct{}) // no sender gets further than it is to
	g := newGateway(t, slices.Repeat([]answer{func(w http.ResponseWriter, r *http.Request) bool {
		select {
		case asked <- struct{}{}:
			return says(200, "")(w, r)
		case <-r.Context().Done():
			return false
		}
	}}, count*count)...)
	o := newOffice(t, g.openClaw())
	o.put(letters(count)...)
	kills, random := 0, seedtest.New(t)
	for ; o.outbox().Waiting(); kills++ {
		sender := processtest.Child(t, "send", o.StateDir, o.ConfigDir)
		sender.Env = append(sender.Env, o.Environ...)
		check(t, sender.Start())
		ended := make(chan struct{})
		go func() {
			_ = sender.Wait()
			close(ended)
		}()
		// Some are killed before the answer, some after it, some while they write down
		// what came of it.
		for range 1 + random.IntN(5) {
			select {
			case <-asked:
			case <-ended:
			}
		}
		time.Sleep(time.Duration(random.Int64N(int64(3 * time.Millisecond))))
		_ = sender.Process.Kill()
		<-ended
	}
	if kills < 5 {
		t.Errorf("only %d senders were needed", kills)
	}
	var want []string
	for n := range count {
		want = append(want, fmt.Sprint("key-", n+1))
	}
	if diff := cmp.Diff(want, slices.Compact(g.keys())); diff != "" {
		t.Error(diff)
	}
	if len(o.dead()) > 0 || strings.Contains(o.logged(), "dead") {
		t.Errorf("%+v", o.dead())
	}
}
