package hub

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

const (
	// Valid is how long an invitation can be used.
	Valid = time.Hour
	// forgotten is when an invitation that ended is removed. Until then the hub can say what is wrong with it.
	forgotten = 7 * 24 * time.Hour
	// mostInvitations is how many there may be: each connection with an unknown key reads them.
	mostInvitations = 200
)

// invitation is a token that was given out. It is good at this hub alone, so that no other one has to know
// that it was used.
type invitation struct {
	Key     string    `json:"key"` // the public one
	User    string    `json:"user"`
	Hub     int       `json:"hub,omitempty"` // that the machine is to run
	Expires time.Time `json:"expires"`
	UsedBy  string    `json:"used_by,omitempty"` // the key of the machine
	Name    string    `json:"name,omitempty"`    // that it took
}

func invitationsPath(stateDir string) string {
	return filepath.Join(member.HubDir(stateDir), "invitations.json")
}

// readInvitations are those that are known. Where they cannot be read, none is.
func readInvitations(stateDir string) []invitation {
	all, _ := statefile.Read[[]invitation](invitationsPath(stateDir), 1<<20) // then the join is refused
	return all
}

// updateInvitations changes them while no other process does.
func updateInvitations(ctx context.Context, stateDir string, change func(*[]invitation) error) error {
	path := invitationsPath(stateDir)
	lock := statefile.Lock{Path: path + lockfile.Suffix, Patience: 10 * time.Second, What: "the invitations"}
	return statefile.Update(ctx, path, lock, func() ([]invitation, error) {
		all, err := statefile.Read[[]invitation](path, 1<<20)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case statefile.IsDamaged(err):
			return nil, fmt.Errorf("%s is damaged (%w): remove it; tokens that were not used are void then", path, err)
		}
		return all, err
	}, change)
}

// Invite makes an invitation for a machine of a user, which is to run a hub if it is to. Replaced means that an
// earlier token for that hub is void now.
func Invite(ctx context.Context, stateDir, user string, runs bool, now time.Time) (token member.Token, replaced bool, err error) {
	id, err := member.Load(stateDir)
	if err != nil {
		return token, false, err
	}
	own, isHub := id.Own()
	if !isHub {
		return token, false, ErrNotHub
	}
	if err := member.CheckUser(user); err != nil {
		return token, false, err
	}

	authority, err := id.Authority()
	if err != nil {
		return token, false, err
	}
	key, seed, err := member.NewKey()
	if err != nil {
		return token, false, err
	}

	one := invitation{Key: key, User: user, Expires: now.Add(Valid)}
	err = updateInvitations(ctx, stateDir, func(all *[]invitation) error {
		*all = slices.DeleteFunc(*all, func(i invitation) bool { return now.After(i.Expires.Add(forgotten)) })
		if runs {
			if one.Hub, replaced, err = freeHub(stateDir, id, all, now); err != nil {
				return err
			}
		}
		if len(*all) >= mostInvitations {
			return fmt.Errorf("there are %d invitations of the last week: use one of them", len(*all))
		}
		*all = append(*all, one)
		return nil
	})
	if err != nil {
		return token, false, err
	}

	token = member.Token{Fleet: id.Fleet, Hub: own, Number: id.Hub, CA: member.Fingerprint(authority), Seed: string(seed), Runs: runs}
	if runs {
		token.At = id.Hubs[one.Hub-1]
	}
	return token, replaced, nil
}

// ErrNotHub says that something is done on a hub alone.
var ErrNotHub = errors.New("this machine runs no hub")

// ErrNotFounder says that something is done on the machine that made the fleet alone.
var ErrNotFounder = errors.New("this machine did not make the fleet: the key that signs certificates of hubs is not here")

// freeHub is the number of a hub that no member runs. One that has no open invitation is preferred; else the
// oldest invitation is replaced.
func freeHub(stateDir string, id member.Identity, all *[]invitation, now time.Time) (number int, replaced bool, err error) {
	if _, err := member.LoadAuthority(stateDir, id); errors.Is(err, fs.ErrNotExist) {
		return 0, false, ErrNotFounder
	} else if err != nil {
		return 0, false, err
	}

	members, err := member.LoadMembers(stateDir)
	if err != nil {
		return 0, false, err
	}
	taken := map[int]bool{}
	for _, m := range members {
		taken[m.Hub] = taken[m.Hub] || !m.Left
	}

	open := func(i invitation) bool { return i.Hub > 0 && i.UsedBy == "" && now.Before(i.Expires) && !taken[i.Hub] }
	for number := 1; number <= len(id.Hubs); number++ {
		if !taken[number] && !slices.ContainsFunc(*all, func(i invitation) bool { return open(i) && i.Hub == number }) {
			return number, false, nil
		}
	}

	oldest := slices.IndexFunc(*all, open)
	if oldest < 0 {
		return 0, false, fmt.Errorf("all hubs of the fleet have joined: there are %d, as fleet init said", len(id.Hubs))
	}
	number = (*all)[oldest].Hub
	*all = slices.Delete(*all, oldest, oldest+1)
	return number, true, nil
}

// use takes an invitation for a machine. The same machine may use it again: its join may have been cut off.
func use(ctx context.Context, stateDir, key string, request member.JoinRequest, now time.Time) (used invitation, err error) {
	err = updateInvitations(ctx, stateDir, func(all *[]invitation) error {
		at := slices.IndexFunc(*all, func(i invitation) bool { return i.Key == key })
		if at < 0 {
			return errors.New("the token is unknown: on a hub run stopgate fleet invite")
		}
		one := &(*all)[at]
		switch {
		case one.UsedBy != "" && (one.UsedBy != request.Key || one.Name != request.Name):
			return fmt.Errorf("the token was used already, by %s: each join needs its own, also of a machine that left; on a hub run stopgate fleet invite", one.Name)
		case one.UsedBy == "" && !now.Before(one.Expires):
			return fmt.Errorf("the token expired %s ago: on a hub run stopgate fleet invite", now.Sub(one.Expires).Round(time.Minute))
		case (one.Hub > 0) != (request.Request != ""):
			return errors.New("the token and the request do not agree whether the machine is to run a hub")
		}
		one.UsedBy, one.Name = request.Key, request.Name
		used = *one
		return nil
	})
	return used, err
}
