package hub

import (
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/member"
)

// Found makes a fleet with this machine as its first member and hub: its authority, its certificate, its record.
// Whatever a call that was cut off has left is replaced.
func Found(stateDir string, id member.Identity, now time.Time) error {
	authority, err := member.NewAuthority(id.Fleet, now)
	if err != nil {
		return err
	}
	if id.Key, err = member.MakeKey(stateDir); err != nil {
		return err
	}
	id.CA, id.Hub = authority.PEM(), 1

	request, err := member.RequestCertificate(stateDir)
	if err != nil {
		return err
	}
	certificate, err := authority.Sign(id.Hubs[0], 1, request, now)
	if err != nil {
		return err
	}

	first := member.Record{Name: id.Name, User: id.User, Key: id.Key, Hub: 1, Time: now.UTC().Truncate(time.Second)}
	if err := member.SaveHub(stateDir, certificate, []member.Record{first}); err != nil {
		return err
	}
	if err := authority.Save(stateDir); err != nil {
		return err
	}
	return id.Save(stateDir)
}
