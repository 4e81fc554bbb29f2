package web

import (
	"crypto/rand"
	"crypto/subtle"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// inviteTime is how long a link and its code are good for.
	inviteTime = 5 * time.Minute
	// mostInvites are open at once; the oldest goes.
	mostInvites = 8
	// mostGuesses is how many wrong codes there may be before all codes are void: one has 40 bits.
	mostGuesses = 5
	// codeLetters have none that look alike.
	codeLetters = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
	codeLength  = 8
)

// invitation lets one browser sign in, once. It is kept in memory alone.
type invitation struct {
	token   string // hash
	code    string // hash; "" where there is none
	door    string
	expires time.Time
}

// invitations are those that are open.
type invitations struct {
	now func() time.Time

	mu      sync.Mutex
	open    []invitation
	guesses int
}

// add makes an invitation. The code is for people who type it on a phone.
func (i *invitations) add(door string, withCode bool) (token, code string, expires time.Time) {
	token = secret()
	made := invitation{token: hash(token), door: door, expires: i.now().Add(inviteTime)}
	if withCode {
		code = newCode()
		made.code = hash(code)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if withCode {
		i.guesses = 0
	}
	i.open = append(i.open, made)
	i.open = i.open[max(0, len(i.open)-mostInvites):]
	return token, code, made.expires
}

func newCode() string {
	var b [codeLength]byte
	rand.Read(b[:]) // never fails
	for i := range b {
		b[i] = codeLetters[int(b[i])%len(codeLetters)] // 32 letters: no one is more likely
	}
	return string(b[:])
}

// take takes the invitation of a token at a door: it is good for once.
func (i *invitations) take(door, token string) bool {
	wanted := hash(token)
	return i.remove(func(v invitation) bool { return v.door == door && same(v.token, wanted) })
}

// takeCode is take for a code. After a few wrong ones no code is right any more.
func (i *invitations) takeCode(door, typed string) bool {
	wanted := hash(strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(typed)))
	i.mu.Lock()
	guesses := i.guesses
	i.guesses++
	i.mu.Unlock()
	if guesses >= mostGuesses {
		return false
	}
	return i.remove(func(v invitation) bool { return v.door == door && v.code != "" && same(v.code, wanted) })
}

// void reports whether no code is right any more, because there were too many wrong ones.
func (i *invitations) void() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.guesses >= mostGuesses
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// remove removes the first of those that are still good and fit.
func (i *invitations) remove(fits func(invitation) bool) bool {
	now := i.now()
	i.mu.Lock()
	defer i.mu.Unlock()
	i.open = slices.DeleteFunc(i.open, func(v invitation) bool { return now.After(v.expires) })
	at := slices.IndexFunc(i.open, fits)
	if at < 0 {
		return false
	}
	i.open = slices.Delete(i.open, at, at+1)
	return true
}

// clear closes all.
func (i *invitations) clear() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.open = nil
}
