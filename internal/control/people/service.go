package people

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/nicholas-fedor/shoutrrr/pkg/router"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"github.com/stopgate/stopgate/internal/sys/pause"
)

// deliver gives a message to a service, once. The error holds nothing of the address but
// what its label does.
func deliver(ctx context.Context, address string, m Message) error {
	err := whileUnsent(ctx, serviceOf(address), func() error { return give(address, m) })
	return scrubbed(err, address)
}

// whileUnsent tries three times, but not again where something may have been sent.
func whileUnsent(ctx context.Context, service string, give func() error) error {
	for wait := time.Second; ; wait *= 3 {
		err := give()
		if err == nil || wait > 3*time.Second || !unsent(err, service) {
			return err
		}
		if pause.For(ctx, wait) != nil {
			return err
		}
	}
}

// give gives a message to a service. A service is opened anew for each message: some keep
// the title of their first.
func give(address string, m Message) error {
	service, err := open(address)
	if err != nil {
		return err
	}
	params, text := types.Params{}, m.whole()
	if titled(address) {
		params.SetTitle(m.Title)
		text = m.body()
	}
	if serviceOf(address) == "ntfy" {
		m.addButtons(address, params)
	}
	return service.Send(text, &params)
}

// open makes a service of its URL, as shoutrrr's router does, but says what is wrong with
// it.
func open(address string) (types.Service, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	service, err := new(router.ServiceRouter).NewService(serviceOf(address))
	if err != nil {
		return nil, err
	}
	if strings.Contains(u.Scheme, "+") {
		custom, ok := service.(types.CustomURLService)
		if !ok {
			return nil, fmt.Errorf("%w: remove what follows the +", router.ErrCustomURLsNotSupported)
		}
		if u, err = custom.GetConfigURLFromCustom(u); err != nil {
			return nil, err
		}
	}
	return service, service.Initialize(u, nil)
}

// serviceOf is the name of the service that a URL is for.
func serviceOf(address string) string {
	scheme, _, _ := strings.Cut(address, "://")
	service, _, _ := strings.Cut(strings.ToLower(scheme), "+")
	return service
}

// titled reports whether a service shows titles. Of the others some refuse one, and some
// do not show it.
func titled(address string) bool {
	switch service := serviceOf(address); service {
	case "generic": // the message alone is sent, if nothing says in which form
		u, err := url.Parse(address)
		return err == nil && u.Query().Get("template") != ""
	default:
		return slices.Contains(strings.Fields("bark discord gotify join lark notifiarr ntfy opsgenie pushbullet pushover slack smtp teams telegram"), service)
	}
}

// unsent reports whether nothing of a message can have been sent: there was no connection.
// Some services make several, one after the other.
func unsent(err error, service string) bool {
	if slices.Contains(strings.Fields("discord ifttt matrix pushbullet telegram"), service) {
		return false
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Op == "dial"
	}
	// Of some nothing but the text is left.
	text := err.Error()
	return strings.Contains(text, ": dial tcp ") && strings.HasSuffix(text, ": "+syscall.ECONNREFUSED.Error())
}
