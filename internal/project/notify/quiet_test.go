package notify

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
	_ "time/tzdata" // the zones must be there

	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/seedtest"
)

func clock(t testing.TB, text string) config.TimeOfDay {
	t.Helper()
	at, err := time.Parse("15:04", text)
	check(t, err)
	return config.TimeOfDay(at.Hour()*60 + at.Minute())
}

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	location, err := time.LoadLocation(name)
	check(t, err)
	return location
}

func TestQuietUntil(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	for _, tt := range []struct{ name, from, to, now, want string }{
		{"before", "22:00", "07:00", "2026-06-01 21:59:59 +0200", ""},
		{"at its beginning", "22:00", "07:00", "2026-06-01 22:00:00 +0200", "2026-06-02 07:00:00 +0200"},
		{"before midnight", "22:00", "07:00", "2026-06-01 23:59:59 +0200", "2026-06-02 07:00:00 +0200"},
		{"after midnight", "22:00", "07:00", "2026-06-02 00:00:01 +0200", "2026-06-02 07:00:00 +0200"},
		{"its last second", "22:00", "07:00", "2026-06-02 06:59:59 +0200", "2026-06-02 07:00:00 +0200"},
		{"at its end", "22:00", "07:00", "2026-06-02 07:00:00 +0200", ""},
		{"within a day", "12:00", "13:30", "2026-06-02 12:10:30 +0200", "2026-06-02 13:30:00 +0200"},
		{"within a day, before", "12:00", "13:30", "2026-06-02 11:59:00 +0200", ""},
		{"within a day, after", "12:00", "13:30", "2026-06-02 13:30:00 +0200", ""},
		{"none", "00:00", "00:00", "2026-06-02 00:00:00 +0200", ""},
		{"the new year", "22:00", "07:00", "2026-12-31 23:00:00 +0100", "2027-01-01 07:00:00 +0100"},
		{"the night is an hour shorter", "22:00", "07:00", "2026-03-28 23:00:00 +0100", "2026-03-29 07:00:00 +0200"},
		{"the night is an hour longer", "22:00", "07:00", "2026-10-24 23:00:00 +0200", "2026-10-25 07:00:00 +0100"},
		{"its end is left out", "22:00", "02:30", "2026-03-29 01:30:00 +0100", "2026-03-29 03:00:00 +0200"},
		{"its end comes twice", "22:00", "02:30", "2026-10-25 01:30:00 +0200", "2026-10-25 02:30:00 +0200"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const form = "2006-01-02 15:04:05 -0700"
			now, err := time.Parse(form, tt.now)
			check(t, err)
			got := ""
			if until := QuietUntil(config.Quiet{From: clock(t, tt.from), To: clock(t, tt.to)}, now.In(berlin)); !until.IsZero() {
				got = until.Format(form)
			}
			if got != tt.want {
				t.Errorf("quiet until %q, want %q", got, tt.want)
			}
		})
	}
}

// TestQuietHoursAreThoseOfTheClock checks at any moment, near changes of the clock most of
// all: it is quiet from now to the end and not at it, by what the clock on the wall says.
func TestQuietHoursAreThoseOfTheClock(t *testing.T) {
	random := seedtest.New(t)
	names := []string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "America/St_Johns", "Pacific/Apia"}
	for range 300 {
		name := names[random.IntN(len(names))]
		q := config.Quiet{From: config.TimeOfDay(random.IntN(24 * 60)), To: config.TimeOfDay(random.IntN(24 * 60))}
		now := moment(random, zone(t, name))
		what := fmt.Sprintf("%s, %d to %d, at %v", name, q.From, q.To, now)
		until := QuietUntil(q, now)
		if inside(q, now) == until.IsZero() {
			t.Fatalf("%s: quiet until %v", what, until)
		}
		if until.IsZero() {
			continue
		}
		if !until.After(now) || until.Sub(now) > 50*time.Hour || inside(q, until) {
			t.Fatalf("%s: quiet until %v", what, until)
		}
		for at := now; at.Before(until); at = at.Add(time.Minute) {
			if !inside(q, at) {
				t.Fatalf("%s: quiet until %v, but not at %v", what, until, at)
			}
		}
	}
}

// moment is a random one, more often than not near a change of the clock.
func moment(random *rand.Rand, where *time.Location) time.Time {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(random.Int64N(int64(365 * 24 * time.Hour)))).In(where)
	if _, change := at.ZoneBounds(); random.IntN(4) > 0 && !change.IsZero() {
		at = change.Add(time.Duration(random.Int64N(int64(26*time.Hour))) - 13*time.Hour).In(where)
	}
	return at
}

// inside goes round the face of a clock from one hand to the other.
func inside(q config.Quiet, t time.Time) bool {
	at := config.TimeOfDay(t.Hour()*60 + t.Minute())
	for m := q.From; m != q.To; m = (m + 1) % (24 * 60) {
		if m == at {
			return true
		}
	}
	return false
}
