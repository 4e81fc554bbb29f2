package daemonapi

import "time"

// Fleet is GET /v1/fleet: the fleet that this machine is in, as it sees it.
type Fleet struct {
	Name   string `json:"name,omitempty"`   // empty where it is in none
	Member string `json:"member,omitempty"` // what this machine is called
	// Connected means that a hub answers. Since is when that began, or ended.
	Connected bool          `json:"connected"`
	Since     *time.Time    `json:"since,omitempty"`
	Error     string        `json:"error,omitempty"` // why not
	Hubs      []string      `json:"hubs,omitempty"`  // the names of the members that run one
	Members   []FleetMember `json:"members,omitempty"`
}

// FleetMember is a machine of the fleet.
type FleetMember struct {
	Name     string   `json:"name"`
	User     string   `json:"user"`
	Hub      bool     `json:"hub,omitempty"`
	State    string   `json:"state"`           // up, silent, lost, stopped (its daemon said so), asleep, unknown (it has not reported yet)
	Heard    float64  `json:"heard,omitempty"` // seconds ago
	Version  string   `json:"version,omitempty"`
	Labels   []string `json:"labels,omitempty"`
	Projects []string `json:"projects,omitempty"` // the names that it maps
	Agents   int      `json:"agents"`             // alive
	// Room is how many more jobs the machine would take now; -1 is unknown.
	Room int `json:"room"`
}
