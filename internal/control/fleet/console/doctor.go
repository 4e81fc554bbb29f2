package console

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/fleet/hub"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// The levels of findings, as those of stopgate doctor. A fleet that is being set up waits.
const (
	levelOK   = "ok"
	levelWarn = "warn"
	levelWait = "wait"
	levelDead = "dead"
)

// levels are all of them, the worst last.
var levels = []string{levelOK, levelWarn, levelWait, levelDead}

// finding is something that doctor looked at.
type finding struct {
	Level string `json:"level"`
	What  string `json:"what"`
	Text  string `json:"text"`
	Hint  string `json:"hint,omitempty"`
}

// diagnosis is all that it found.
type diagnosis struct {
	Findings []finding `json:"findings"`
}

func (d *diagnosis) add(level, what, text, hint string) {
	d.Findings = append(d.Findings, finding{level, what, plain.Line(text), plain.Line(hint)})
}

func (d *diagnosis) worst() string {
	worst := levelOK
	for _, f := range d.Findings {
		if slices.Index(levels, f.Level) > slices.Index(levels, worst) {
			worst = f.Level
		}
	}
	return worst
}

func (c *command) doctor(ctx context.Context) error {
	id, err := member.Load(c.stateDir)
	if err != nil {
		return c.noFleet(err)
	}

	d := &diagnosis{}
	c.checkFiles(d, id)
	c.checkDaemon(ctx, d)
	c.doing("asking the hubs")
	s := c.lookQuietly(ctx, id)
	if !s.refused() { // else its hub has ended for good
		c.checkOwnHub(d, id)
	}

	up := 0
	for i := range s.HubStatus {
		if s.refused() && i+1 == id.Hub {
			continue
		}
		if c.checkHub(ctx, d, id, s, i+1) {
			up++
		}
	}

	if d.refused(s) {
		return c.diagnosed(d)
	}
	d.checkQuorum(id, s, up)
	if s.knowsStreams() {
		d.checkStreams(id, s)
	}
	d.checkStore(id, s)

	if s.Error == "" {
		c.doing("reading what each hub keeps")
		c.checkCopies(ctx, d, id, s)
	}
	d.checkMembers(id, s)
	return c.diagnosed(d)
}

// knowsStreams reports whether a hub knows how the streams are kept: without a quorum it does not know how the others
// are.
func (s status) knowsStreams() bool {
	return s.Quorum && slices.ContainsFunc(s.HubStatus, func(h hubLook) bool { return h.Status != nil && h.Status.Waits == "" })
}

// diagnosed shows what was found.
func (c *command) diagnosed(d *diagnosis) error {
	c.doing("")
	if err := c.show(d, d.text()); err != nil {
		return err
	}
	if worst := d.worst(); worst == levelDead || worst == levelWait {
		return errSilent
	}
	return nil
}

// refused reports whether a hub does not know this machine: then nothing else can be found out.
func (d *diagnosis) refused(s status) bool {
	if s.refused() {
		d.add(levelDead, "membership", "this machine has left the fleet, or was taken out", "stopgate fleet leave; then join again with a token of: stopgate fleet invite")
	}
	return s.refused()
}

func (s status) refused() bool {
	return slices.ContainsFunc(s.HubStatus, func(h hubLook) bool { return h.final })
}

// checkFiles looks whether other users can read what is ours.
func (c *command) checkFiles(d *diagnosis, id member.Identity) {
	open := 0
	err := filepath.WalkDir(member.Dir(c.stateDir), func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == "jetstream" {
			return filepath.SkipDir // its parent is closed
		}
		if info, err := entry.Info(); err == nil && info.Mode().Perm()&0o077 != 0 {
			open++
			d.add(levelDead, "files", "other users can read "+path, "chmod go= "+path)
		}
		return nil
	})
	if err != nil {
		d.add(levelDead, "files", err.Error(), "")
	} else if open == 0 {
		d.add(levelOK, "files", fmt.Sprintf("this machine is %s of %s in the fleet %s", id.Name, id.User, id.Fleet), "")
	}
}

func (c *command) checkDaemon(ctx context.Context, d *diagnosis) {
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	running, err := daemonapi.At(c.stateDir).Version(ctx)
	switch {
	case errors.Is(err, daemonapi.ErrNotRunning):
		d.add(levelDead, "daemon", "it is not running, so this machine takes no part in the fleet", "stopgate daemon start")
	case err != nil:
		d.add(levelDead, "daemon", "it does not answer, so this machine takes no part in the fleet: "+err.Error(), "stopgate daemon stop; stopgate daemon start")
	case running.Version != version():
		d.add(levelWarn, "daemon", fmt.Sprintf("it is of version %s, and this command of %s", running.Version, version()), "stopgate daemon stop; stopgate daemon start")
	default:
		d.add(levelOK, "daemon", fmt.Sprintf("it runs, process %d", running.PID), "")
	}
}

func (c *command) checkOwnHub(d *diagnosis, id member.Identity) {
	if id.Hub == 0 {
		return
	}
	if !hub.Runs(c.stateDir) {
		text, hint := "it does not run", "stopgate daemon start; if it ends again, see "+filepath.Join(c.stateDir, "logs", "hub.log")
		if end := hub.LastEnd(c.stateDir); end.Reason != "" {
			own, _ := id.Own()
			text, hint = "it does not run: "+end.Reason, fmt.Sprintf("once that is fixed, the daemon starts it within a minute; it needs the ports %d and %d", own.Port, own.Port+1)
		}
		d.add(levelDead, "own hub", text, hint)
		return
	}
	if end := hub.LastEnd(c.stateDir); end.Reason != "" { // the daemon has just started it again
		d.add(levelWarn, "own hub", fmt.Sprintf("it is starting, process %d; before, it ended: %s", hub.PID(c.stateDir), end.Reason), "")
		return
	}
	d.add(levelOK, "own hub", fmt.Sprintf("it runs, process %d", hub.PID(c.stateDir)), "")
}

// checkHub says how a hub is, and whether it can be used.
func (c *command) checkHub(ctx context.Context, d *diagnosis, id member.Identity, s status, number int) bool {
	h := s.HubStatus[number-1]
	what := fmt.Sprintf("%s (%s)", h.Name, h.Address)
	if h.TakenOut {
		d.add(levelWarn, what, "the machine that ran it was taken out: losing another hub stops the fleet", "a machine at the same address can take its place: "+s.maker.run(id, "stopgate fleet invite --hub"))
		return false
	}
	if h.err != nil {
		level, text, hint := s.away(ctx, id, number)
		d.add(level, what, text, hint)
		return false
	}
	c.checkAnswer(d, id, s, what, h)
	return true
}

// checkAnswer says how a hub is that answers.
func (c *command) checkAnswer(d *diagnosis, id member.Identity, all status, what string, h hubLook) {
	s := h.Status
	problems := len(d.Findings)
	if math.Abs(h.Skew) > clockSkew.Seconds() {
		d.add(levelWarn, what, fmt.Sprintf("its clock and that of this machine differ by %s: times that are shown are wrong, and tokens expire early or late", plain.Duration(time.Duration(math.Abs(h.Skew)*float64(time.Second)).Round(time.Second))), "turn on NTP on both: timedatectl set-ntp true")
	}
	if s.Version != version() {
		d.add(levelWarn, what, fmt.Sprintf("it is of version %s, and this stopgate of %s", s.Version, version()), fmt.Sprintf("install the same version on both; then, on that machine, kill %d: the daemon starts the new hub", s.PID))
	}
	if left := s.Expires.Sub(c.now()); left < 60*24*time.Hour {
		d.add(levelWarn, what, "its certificate expires on "+s.Expires.Format(time.DateOnly), "make the fleet again before that: stopgate fleet leave, init and join")
	}
	if !s.SyncAlways {
		d.add(levelDead, what, "it does not write to its disk before it acknowledges: a power cut loses what was acknowledged", fmt.Sprintf("on that machine, kill %d: the daemon restarts the hub with the right settings", s.PID))
	}
	switch { // it is well, and what is missing is said there
	case s.Waits != "" && all.settingUp():
		d.add(levelWait, what, s.Waits, "")
	case s.Waits != "":
		d.add(levelWarn, what, s.Waits, "")
	}
	if len(d.Findings) == problems {
		d.add(levelOK, what, h.state(c.now()), "")
	}
}

// clockSkew is how far two clocks may be apart.
const clockSkew = 5 * time.Second

// symptom says why a hub does not answer, and what helps.
func symptom(ctx context.Context, id member.Identity, number int, err error) (text, hint string) {
	var wrong *x509.CertificateInvalidError
	where := id.Hubs[number-1]
	switch {
	case errors.Is(err, nats.ErrAuthorization):
		return "it refuses this machine's key", ""
	case errors.Is(err, nats.ErrPermissionViolation):
		return "it refuses what this stopgate asks: " + err.Error(), "install the same version of stopgate on both machines"
	case errors.As(err, &wrong) && wrong.Reason == x509.Expired:
		return "its certificate is not valid at this machine's time", "check the clock: timedatectl; if it is right, make the fleet again"
	case strings.Contains(err.Error(), "x509") || strings.Contains(err.Error(), "tls:"):
		return "what answers there is not a hub of this fleet: " + err.Error(), "which program has port " + fmt.Sprint(where.Port) + " there? The hub needs it"
	}

	dialer := net.Dialer{Timeout: lookPatience}
	conn, dialed := dialer.DialContext(ctx, "tcp", where.Address())
	switch {
	case dialed == nil:
		_ = conn.Close()
		return "it accepts connections and does not answer: " + err.Error(), "see logs/hub.log in the state directory of that machine"
	case errors.Is(dialed, syscall.ECONNREFUSED):
		return "that machine is up, and no hub runs on it", "on that machine: stopgate daemon start"
	}

	ports := fmt.Sprintf("its port %d must", where.Port)
	if id.Hub > 0 { // members do not use the other one
		ports = fmt.Sprintf("its ports %d and %d must", where.Port, where.Port+1)
	}
	return "it cannot be reached: " + dialed.Error(), fmt.Sprintf("start that machine; if it is up, %s be open for this one", ports)
}

func (d *diagnosis) checkQuorum(id member.Identity, s status, up int) {
	const alone = "the machines do not see each other, and take no jobs; each continues its own work"
	n := len(id.Hubs)
	switch needs := n/2 + 1 - up; {
	case n == 0:
	case s.settingUp():
		d.add(levelWait, "quorum", fmt.Sprintf("%d of %d hubs answer: the fleet can be used when all have joined", up, n), "")
	case n == 1 && up == 0:
		d.add(levelDead, "quorum", "the only hub does not answer: "+alone, "start it: see above")
	case up == 0:
		d.add(levelDead, "quorum", fmt.Sprintf("none of the %d hubs answers: %s", n, alone), fmt.Sprintf("start at least %d of them: see above", needs))
	case needs > 0:
		d.add(levelDead, "quorum", fmt.Sprintf("%d of %d hubs answer: %s", up, n, alone), fmt.Sprintf("start at least %d more: see above", needs))
	case n == 1:
		d.add(levelOK, "quorum", "the only hub answers; the fleet is not highly available", "")
	case up < n:
		d.add(levelWarn, "quorum", fmt.Sprintf("%d of %d hubs answer: losing another one stops the fleet", up, n), "see above")
	default:
		d.add(levelOK, "quorum", fmt.Sprintf("all %d hubs answer", n), "")
	}
}

// checkStreams looks how the streams are kept, by what all hubs say.
func (d *diagnosis) checkStreams(id member.Identity, s status) {
	problems := len(d.Findings)
	seen := map[string]bool{}
	for _, h := range s.HubStatus {
		if h.Status == nil {
			continue
		}
		for _, stream := range h.Status.Streams {
			if !seen[stream.Name] && stream.Replicas != len(id.Hubs) {
				d.add(levelDead, "stream "+stream.Name, fmt.Sprintf("it is kept on %d hubs, and should be on %d", stream.Replicas, len(id.Hubs)), "it was changed with other tools: change it back")
			}
			seen[stream.Name] = true
		}
	}
	switch now := s.complete(); {
	case len(d.Findings) > problems || len(seen) == 0:
	case now < s.up():
		d.add(levelWarn, "streams", fmt.Sprintf("%d of %d hubs have all of the fleet's data", now, len(id.Hubs)), "a hub that was down catches up automatically")
	case now < len(id.Hubs): // those that are away are named above
		d.add(levelOK, "streams", fmt.Sprintf("%d, each on %d of %d hubs, written to disk before they acknowledge", len(seen), now, len(id.Hubs)), "")
	default:
		d.add(levelOK, "streams", fmt.Sprintf("%d, each on %s, written to disk before they acknowledge", len(seen), plain.Count(len(id.Hubs), "hub")), "")
	}
}

func (d *diagnosis) checkStore(id member.Identity, s status) {
	switch {
	case s.Error != "" && s.settingUp():
		d.add(levelWait, "store", s.Error, "")
	case s.Error != "":
		d.add(levelDead, "store", s.Error, "")
	case id.NATS != "":
		d.add(levelWarn, "store", fmt.Sprintf("it has %s; only the administrator of %s can see whether sync_interval is always", plain.Count(len(s.Members), "machine"), id.NATS), "set sync_interval: always in the servers' configuration")
	default:
		d.add(levelOK, "store", "it can be read; the fleet has "+plain.Count(len(s.Members), "machine"), "")
	}
}

// checkMembers says which machines are away, or of another version.
func (d *diagnosis) checkMembers(id member.Identity, s status) {
	for _, m := range s.Members {
		gone := s.maker.run(id, "stopgate fleet leave "+m.Name)
		if m.Name == s.maker.name {
			gone = "make the fleet again, because that machine made it: stopgate fleet leave, init and join"
		}
		switch {
		case m.State == "silent" || m.State == "lost":
			d.add(levelWarn, "machine "+m.Name, fmt.Sprintf("it has not reported for %s", plain.Duration(time.Duration(m.Heard)*time.Second)), "is it up, and its daemon? On it: stopgate fleet doctor. If it is gone for good, "+gone)
		case m.State == "stopped":
			d.add(levelWarn, "machine "+m.Name, "its daemon was stopped "+daemonapi.Span(time.Duration(m.Heard)*time.Second)+" ago", "to start it, on "+m.Name+": stopgate daemon start")
		case m.Version != "" && m.Version != version():
			d.add(levelWarn, "machine "+m.Name, fmt.Sprintf("it has version %s, and this machine %s", m.Version, version()), "install the same version on both")
		}
	}
}

func (d *diagnosis) text() string {
	var b strings.Builder
	for _, f := range d.Findings {
		mark := map[string]string{levelOK: "ok  ", levelWarn: "warn", levelWait: "wait", levelDead: "DEAD"}[f.Level]
		fmt.Fprintf(&b, "%s  %s: %s\n", mark, f.What, f.Text)
		if f.Hint != "" {
			fmt.Fprintf(&b, "      → %s\n", f.Hint)
		}
	}
	switch d.worst() {
	case levelDead:
		b.WriteString("the fleet does NOT work from here\n")
	case levelWait:
		b.WriteString("the fleet cannot be used yet: it is being set up\n")
	case levelWarn:
		b.WriteString("the fleet works from here, with warnings\n")
	default:
		b.WriteString("the fleet works from here\n")
	}
	return b.String()
}
