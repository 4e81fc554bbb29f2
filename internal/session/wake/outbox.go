package wake

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/digest"
	"github.com/stopgate/stopgate/internal/sys/disk"
)

// Outbox keeps letters until they are sent, one box per agent.
type Outbox struct{ Dir string }

// NewOutbox is the outbox below the state directory.
func NewOutbox(stateDir string) Outbox { return Outbox{Dir: filepath.Join(stateDir, "outbox")} }

// Put adds a letter to its agent's box. It survives a loss of power when Put returns
// without an error. Letters to one agent are sent in the order in which they were put.
// A key that waits already, or was sent lately, is not added again.
func (o Outbox) Put(l Letter) error {
	if l.AgentID == "" {
		return errors.New("the message names no agent")
	}
	if err := o.Box(l.AgentID).put(l.bounded()); err != nil {
		return fmt.Errorf("cannot store a message for agent %q: %w", l.AgentID, err)
	}
	return nil
}

// Waiting tells quickly whether there is anything to send.
func (o Outbox) Waiting() bool {
	boxes, _ := o.boxes() // what cannot be read has nothing that could be sent
	return slices.ContainsFunc(boxes, func(b Box) bool {
		waits, _ := b.Waiting()
		return waits
	})
}

// AgentIDs are the outside agents that letters wait for. A box that cannot be read is no reason to
// leave out the others, which are there beside the error.
func (o Outbox) AgentIDs() ([]string, error) {
	boxes, err := o.boxes()
	var agentIDs []string
	for _, b := range boxes {
		waits, boxErr := b.Waiting()
		if waits {
			agentIDs = append(agentIDs, b.agentID)
		}
		err = errors.Join(err, boxErr)
	}
	return agentIDs, err
}

// Box is the box of one agent.
func (o Outbox) Box(agentID string) Box {
	return Box{agentID: agentID, dir: filepath.Join(o.Dir, boxName(agentID))}
}

// boxes are all that there are. Whatever else lies in the directory is left alone.
func (o Outbox) boxes() ([]Box, error) {
	entries, err := disk.List(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("cannot read the outbox: %w", err)
	}
	var boxes []Box
	for _, entry := range entries {
		if agentID, ok := o.agentIDOf(entry.Name()); ok && entry.IsDir() {
			boxes = append(boxes, o.Box(agentID))
		}
	}
	return boxes, nil
}

const (
	// maxBoxName leaves room in what file systems take as a name.
	maxBoxName = 150
	// hashMark stands before the hash in the name of a box whose agent's own name is
	// too long. No other name has it.
	hashMark = "~"
	// idFile holds the agent's name in such a box.
	idFile = "agent"
	// maxID is longer than any agent's name.
	maxID = 64 << 10
)

// boxName is the name of an agent's directory. It has no capitals: where names differ
// by these alone, some file systems take them for one.
func boxName(agentID string) string {
	var b strings.Builder
	for i := range len(agentID) {
		c := agentID[i]
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	if b.Len() <= maxBoxName {
		return b.String()
	}
	return hashMark + digest.Hex(agentID)
}

// agentIDOf is the outside agent whose directory has the name.
func (o Outbox) agentIDOf(name string) (agentID string, ok bool) {
	if strings.HasPrefix(name, hashMark) {
		id, err := readRegular(filepath.Join(o.Dir, name, idFile), maxID)
		agentID, ok = string(id), err == nil
	} else {
		id, err := url.PathUnescape(name)
		agentID, ok = id, err == nil
	}
	return agentID, ok && agentID != "" && boxName(agentID) == name
}
