package beat

import (
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/link/linktest"
)

// ear is a follower of beats.
type ear struct {
	l     *link.Link
	o     *Observer
	heard chan string
}

func (e *ear) Begin()  { e.o.Begin() }
func (e *ear) Caught() {}
func (e *ear) Take(m link.Message) {
	member := strings.TrimPrefix(m.Subject, e.l.Beat(""))
	e.o.Hear(member, m.Data, m.Time)
	e.heard <- member
}

func TestMembersHearEachOther(t *testing.T) {
	f := linktest.New(t)
	laptop, vps := f.Member("laptop"), f.Member("vps")
	for _, l := range []*link.Link{laptop, vps} {
		heart := NewHeart(func() Beat { return Beat{Version: "1.2", Labels: []string{"gpu"}, Room: -1} })
		go heart.Run(t.Context(), l, func(err error) {
			if err != nil {
				t.Errorf("%s: %v", l.Member, err)
			}
		})
		if l == vps {
			defer func() {
				if unheard, ever := heart.Unheard(); !ever || unheard > time.Minute {
					t.Errorf("its beats were acknowledged, but %s ago, %v", unheard, ever)
				}
			}()
		}
	}
	e := &ear{l: laptop, o: NewObserver("laptop", time.Now), heard: make(chan string)}
	go laptop.Follow(t.Context(), e, laptop.Beat("*"))
	late := time.After(time.Minute)
	for e.o.State("vps") != Up {
		select {
		case <-e.heard:
		case <-late:
			t.Fatalf("vps is %s", e.o.State("vps"))
		}
	}
	b, known := e.o.Beat("vps")
	if !known || b.Version != "1.2" || b.Room != -1 || len(b.Labels) != 1 {
		t.Errorf("its beat is %+v", b)
	}
	if ago, known := e.o.Heard("vps"); !known || ago > time.Minute {
		t.Errorf("heard of %s ago", ago)
	}
}

// What is not a beat, or a newer one, is passed over.
func TestDamagedBeatsArePassedOver(t *testing.T) {
	o := NewObserver("me", time.Now)
	for _, text := range []string{"", "{", `{"life":"","count":1}`, `{"life":"a"}`, `[]`, "\xff"} {
		o.Hear("vps", []byte(text), time.Now())
	}
	if b, known := o.Beat("vps"); known {
		t.Errorf("%+v", b)
	}
	o.Hear("vps", []byte(`{"life":"a","count":1,"from_the_future":{"x":1},"labels":["ok","NOT OK"],"room":-7}`), time.Now())
	if b, known := o.Beat("vps"); !known || len(b.Labels) != 1 || b.Room != -1 {
		t.Errorf("%+v", b)
	}
}

func TestABeatStaysSmall(t *testing.T) {
	many := make([]string, 10_000)
	for i := range many {
		many[i] = strings.Repeat("x", 32)
	}
	text, err := Beat{Life: "a", Count: 1, Labels: many, Projects: many}.Encode()
	check(t, err)
	if len(text) > link.MaxView {
		t.Errorf("it has %d bytes", len(text))
	}
}

func FuzzDecode(f *testing.F) {
	text, err := Beat{Life: "a", Count: 1, Labels: []string{"gpu"}, Room: 3}.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"life":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := Decode(text)
		if err != nil {
			return
		}
		again, err := b.Encode()
		check(t, err)
		if _, err := Decode(again); err != nil {
			t.Errorf("%s is not understood again: %v", again, err)
		}
	})
}
