package member

import "time"

// The verbs of requests to a hub.
const (
	VerbJoin   = "join"   // from the key of an invitation
	VerbLeave  = "leave"  // from a member, for itself or, from the founder, for another one
	VerbStatus = "status" // from a member
)

// JoinRequest is how a machine asks to become a member.
type JoinRequest struct {
	Name    string `json:"name"`
	Key     string `json:"key"`               // the public one
	Request string `json:"request,omitempty"` // for a certificate, where it is invited to be a hub
}

// JoinAnswer makes it one, or says why not.
type JoinAnswer struct {
	Error       string   `json:"error,omitempty"`
	Identity    Identity `json:"identity"`
	Certificate string   `json:"certificate,omitempty"` // of the hub
	Members     []Record `json:"members,omitempty"`     // that the hubs know of, for a new hub
}

// LeaveRequest is how a member leaves.
type LeaveRequest struct {
	Member string `json:"member"`
}

// LeaveAnswer says that it has left, or why not.
type LeaveAnswer struct {
	Error string `json:"error,omitempty"`
	Hub   int    `json:"hub,omitempty"` // the number of the hub that it ran
}

// HubStatus is how a hub sees itself and the others.
type HubStatus struct {
	Error   string    `json:"error,omitempty"`
	Number  int       `json:"number"`
	Version string    `json:"version"`
	PID     int       `json:"pid"`
	Since   time.Time `json:"since"`
	Now     time.Time `json:"now"`
	Expires time.Time `json:"expires"` // the hub's certificate
	Memory  int64     `json:"memory"`  // resident, in bytes
	// Waits is why the fleet's streams cannot be used yet; empty where they can.
	Waits string `json:"waits,omitempty"`
	// Made means that the streams were made once, which takes all hubs: a hub that is missing now has joined before.
	Made       bool           `json:"made,omitempty"`
	SyncAlways bool           `json:"sync_always"`
	Leader     string         `json:"leader,omitempty"` // of the hubs; empty where there is no quorum
	Peers      []HubPeer      `json:"peers,omitempty"`
	Streams    []StreamStatus `json:"streams,omitempty"`
}

// HubPeer is another hub as a hub sees it.
type HubPeer struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	Online  bool   `json:"online"`
	Joined  bool   `json:"joined,omitempty"` // as far as this hub knows; the first one knows of all
}

// StreamStatus is how one of the fleet's streams is.
type StreamStatus struct {
	Name     string `json:"name"`
	Replicas int    `json:"replicas"` // as configured
	Current  int    `json:"current"`  // that have everything
	Leader   string `json:"leader,omitempty"`
	Messages uint64 `json:"messages"`
	Bytes    uint64 `json:"bytes"`
}
