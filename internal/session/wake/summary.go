package wake

import (
	"errors"
	"os"
	"slices"
	"time"
)

// AgentSummary tells of one agent's letters.
type AgentSummary struct {
	AgentID   string
	Waiting   int
	Oldest    time.Time // of what the oldest waiting letter tells; zero when none waits
	Tries     int       // that failed since a letter was last delivered
	LastError string
	Dead      []DeadLetter // the newest first
}

// Summary tells of every agent that has letters waiting or dead. A box that cannot be
// read is no reason to leave out the others, which are there beside the error.
func (o Outbox) Summary() ([]AgentSummary, error) {
	boxes, err := o.boxes()
	var all []AgentSummary
	for _, b := range boxes {
		s, boxErr := b.summary()
		if s.Waiting > 0 || len(s.Dead) > 0 {
			all = append(all, s)
		}
		err = errors.Join(err, boxErr)
	}
	return all, err
}

func (b Box) summary() (AgentSummary, error) {
	s := AgentSummary{AgentID: b.agentID}
	files, err := b.files()
	if err != nil {
		return s, err
	}
	for _, file := range slices.Backward(b.dead()) {
		s.Dead = append(s.Dead, b.deadLetter(file))
	}
	if s.Waiting = len(files); s.Waiting == 0 {
		return s, nil
	}
	s.Oldest = b.written(files[0])
	state, err := b.State()
	s.Tries, s.LastError = state.Tries, state.LastError
	return s, err
}

// written is the time of a letter's news. Of one that is damaged it is that of the file.
func (b Box) written(file letterFile) time.Time {
	path := b.path(file.name())
	if l, err := readLetter(path, file.key); err == nil {
		return l.Time
	}
	info, err := os.Lstat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
