package member

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"unicode"

	"github.com/nats-io/nkeys"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
)

// Token is what one machine gives to another so that it can join. Its seed is good for one join.
type Token struct {
	Fleet string `json:"f"`
	// Hub is where the invitation was made, and Number that hub's. The token is good there alone.
	Hub    Hub `json:"h,omitzero"`
	Number int `json:"n,omitempty"`
	// CA is the hash of the fleet's certificate: the hub must have one of it.
	CA   []byte `json:"c,omitempty"`
	Seed string `json:"s,omitempty"`
	Runs bool   `json:"r,omitempty"` // the machine is to run a hub
	At   Hub    `json:"a,omitzero"`  // where that hub is reached
	// NATS is the address of a cluster that is used instead of hubs, and User who joins. Such a token holds
	// no secret: the machine needs credentials of that cluster.
	NATS string `json:"u,omitempty"`
	User string `json:"w,omitempty"`
}

const (
	tokenStart = "sgfleet1-"
	mostToken  = 4 << 10
)

// String is the token as a person copies it: the end of it shows whether it is whole.
func (t Token) String() string {
	text, _ := json.Marshal(t) // it holds nothing that cannot be written
	body := base64.RawURLEncoding.EncodeToString(text)
	return fmt.Sprintf("%s%s-%08x", tokenStart, body, crc32.ChecksumIEEE([]byte(body)))
}

// ParseToken reads a token. Its errors are for the person who pasted it.
func ParseToken(text string) (t Token, err error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return t, errors.New("a token is needed")
	case len(text) > mostToken:
		return t, errors.New("the text is too long to be a token")
	case strings.ContainsFunc(text, unicode.IsSpace):
		return t, errors.New("the token has a space or a line break in it: paste it as one line")
	case !strings.HasPrefix(text, tokenStart) && strings.HasPrefix(text, "sgfleet"):
		return t, errors.New("the token was made by another version of stopgate: update stopgate on both machines")
	case !strings.HasPrefix(text, tokenStart):
		return t, fmt.Errorf("the token must begin with %s: copy all of it", tokenStart)
	}

	body := text[len(tokenStart):]
	at := len(body) - 9
	if at < 0 || body[at] != '-' || fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(body[:at]))) != body[at+1:] {
		return t, errors.New("the token is incomplete or was changed: copy all of it")
	}

	decoded, err := base64.RawURLEncoding.DecodeString(body[:at])
	if err == nil {
		err = json.Unmarshal(decoded, &t)
	}
	if err == nil {
		err = t.check()
	}
	if err != nil {
		return Token{}, fmt.Errorf("the token is invalid: %w", err)
	}
	return t, nil
}

func (t Token) check() error {
	if err := link.CheckName(t.Fleet); err != nil {
		return err
	}
	if t.NATS != "" {
		return nil
	}
	if _, err := ParseHub(t.Hub.Address()); err != nil {
		return err
	}
	if t.Runs {
		if _, err := ParseHub(t.At.Address()); err != nil {
			return err
		}
	}
	if t.Number < 1 || len(t.CA) != sha256.Size {
		return errors.New("it does not name a hub")
	}
	_, err := t.ID()
	return err
}

// ID is the invitation's: the public part of its key, as it is used in subjects.
func (t Token) ID() (string, error) {
	pair, err := nkeys.FromSeed([]byte(t.Seed))
	if err != nil {
		return "", err
	}
	return pair.PublicKey()
}
