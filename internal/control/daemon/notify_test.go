package daemon

import (
	"errors"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/people"
	"github.com/stopgate/stopgate/internal/control/web"
	"github.com/stopgate/stopgate/internal/project/config"
)

// Of a project that is muted nothing is sent at all, to browsers neither. Where the configuration cannot be
// read, it may say so.
func TestIssue18BrowsersAreNotToldOfWhatIsMuted(t *testing.T) {
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		ways config.Ways
		err  error
		told bool
	}{
		"as usual": {told: true},
		"muted":    {ways: config.Ways{Muted: true}},
		"broken":   {err: broken},
	} {
		t.Run(name, func(t *testing.T) {
			told := false
			m := messenger{
				people: people.New(people.Options{
					Config:   func() (config.Notify, error) { return config.Notify{Ways: test.ways}, test.err },
					StateDir: t.TempDir(), Trouble: func(error) {},
				}),
				now:  time.Now,
				site: func() *web.Site { told = true; return nil },
			}
			err := m.Notify(t.Context(), &engine.Owner{ID: anID, Project: "/shop"}, engine.Effect{Title: "x", Decision: anotherID})
			if told != test.told || (err != nil) != (test.err != nil) {
				t.Errorf("told: %t, %v", told, err)
			}
		})
	}
}
