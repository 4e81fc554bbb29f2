package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/event"
	"github.com/stopgate/stopgate/internal/journal"
	"github.com/stopgate/stopgate/internal/settings"
	"github.com/stopgate/stopgate/internal/stop"
)

// recentStops is how many stops status shows.
const recentStops = 10

func newStatus() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show what is happening in this project",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := findHere()
			if err != nil {
				return err
			}
			s, err := h.status()
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), s)
			}
			return s.print(cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

type status struct {
	Root   string         `json:"root"`
	Config string         `json:"config"` // valid, invalid, none
	Hooks  []string       `json:"hooks"`  // scopes that call us
	Trust  string         `json:"trust"`
	Off    *stop.Recess   `json:"off,omitempty"`
	Open   int            `json:"unanswered"` // stops received and never answered
	Stops  []event.Record `json:"stops"`
}

func (h *here) status() (*status, error) {
	s := &status{Root: h.root, Config: "none", Hooks: []string{}, Trust: "not enforced", Stops: []event.Record{}}
	if h.hasProject {
		s.Config = "valid"
		if _, faults := h.validate(); len(faults) > 0 {
			s.Config = "invalid"
		}
	}
	for _, file := range settings.Inspect(h.root) {
		if len(file.Entries) > 0 {
			s.Hooks = append(s.Hooks, file.Scope.String())
		}
	}
	if h.enforces() {
		standing, err := h.trust().Standing(h.root)
		if err != nil {
			s.Trust = err.Error()
		} else {
			s.Trust = string(standing.State)
		}
	}
	if recess, on := stop.InRecess(h.stateDir, h.root, time.Now()); on {
		s.Off = &recess
	}
	return s, s.readStops(filepath.Join(h.stateDir, "journal"))
}

// readStops gathers the latest stops of the project.
func (s *status) readStops(dir string) error {
	open := map[string]bool{}
	for entry, err := range journal.New(dir, journal.Limits{}).Read(journal.Position{}) {
		if err != nil {
			return err
		}
		r := entry.Record
		if r == nil || r.Project != s.Root || r.Event != "Stop" && r.Event != "SubagentStop" {
			continue
		}
		if r.Kind == event.Received {
			open[r.Call] = true
			continue
		}
		delete(open, r.Call)
		if s.Stops = append(s.Stops, *r); len(s.Stops) > recentStops {
			s.Stops = s.Stops[1:]
		}
	}
	s.Open = len(open)
	return nil
}

func (s *status) print(out io.Writer) error {
	p := paintFor(out)
	fmt.Fprintf(out, "project  %s\nconfig   %s\ntrust    %s\n", s.Root, s.Config, s.Trust)
	if len(s.Hooks) == 0 {
		fmt.Fprintf(out, "hooks    %s\n", p.red("not installed: nothing is enforced"))
	}
	for _, scope := range s.Hooks {
		fmt.Fprintf(out, "hooks    %s\n", scope)
	}
	if s.Off != nil {
		fmt.Fprintf(out, "off      %s\n", p.yellow("until "+s.Off.Until.Local().Format(time.DateTime)+" "+s.Off.Why))
	}
	if s.Open > 0 {
		fmt.Fprintln(out, p.yellow(fmt.Sprintf("open     %d stop(s) received and not answered: a hook at work, or one that was ended before it enforced anything", s.Open)))
	}
	view := logView{out: out, paint: p, open: map[string]event.Record{}}
	for i := range s.Stops {
		if err := view.line(&s.Stops[i]); err != nil {
			return err
		}
	}
	return nil
}
