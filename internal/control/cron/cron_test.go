package cron

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// next are the times after a moment, as the zone's clock shows them.
func next(t *testing.T, fields, after, name string, n int) string {
	t.Helper()
	times, err := Parse(fields)
	if err != nil {
		t.Fatal(err)
	}
	at, err := time.Parse(time.RFC3339, after)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for range n {
		at = times.Next(at, zone(t, name))
		all = append(all, at.Format("2006-01-02T15:04Z07:00"))
	}
	return strings.Join(all, " ")
}

func TestNext(t *testing.T) {
	for _, c := range []struct{ fields, after, want string }{
		{"0 3 * * 1-5", "2026-11-13T03:00:00Z", "2026-11-16T03:00Z 2026-11-17T03:00Z"},
		{"*/20 * * * *", "2026-11-13T03:59:59Z", "2026-11-13T04:00Z 2026-11-13T04:20Z"},
		{"5,10-12 8 * * *", "2026-11-13T08:10:30Z", "2026-11-13T08:11Z 2026-11-13T08:12Z"},
		{"0 0 29 feb *", "2026-11-13T08:10:30Z", "2028-02-29T00:00Z 2032-02-29T00:00Z"},
		{"0 0 13 * Fri", "2026-11-01T00:00:00Z", "2026-11-06T00:00Z 2026-11-13T00:00Z"},
		{"0 0 */2 * mon", "2026-11-01T00:00:00Z", "2026-11-09T00:00Z 2026-11-23T00:00Z"},
		{"0 12 * * 7", "2026-11-13T08:10:30Z", "2026-11-15T12:00Z 2026-11-22T12:00Z"},
		{"0 12 * * fri-sun", "2026-11-13T12:10:30Z", "2026-11-14T12:00Z 2026-11-15T12:00Z"},
		{"30/10 0 1 1 *", "2026-11-13T12:10:30Z", "2027-01-01T00:30Z 2027-01-01T00:40Z"},
		{"@daily", "2026-12-31T12:00:00Z", "2027-01-01T00:00Z 2027-01-02T00:00Z"},
		{" @Weekly ", "2026-11-13T12:00:00Z", "2026-11-15T00:00Z 2026-11-22T00:00Z"},
	} {
		if got := next(t, c.fields, c.after, "UTC", 2); got != c.want {
			t.Errorf("%s after %s: %s, want %s", c.fields, c.after, got, c.want)
		}
	}
}

// A time that does not exist is once, after the gap; one that exists twice is once. What is of every
// hour follows the clock.
func TestNextWhenTheClockChanges(t *testing.T) {
	for _, c := range []struct{ fields, after, zone, want string }{
		{"30 2 * * *", "2026-03-28T12:00:00Z", "Europe/Berlin", "2026-03-29T03:00+02:00 2026-03-30T02:30+02:00"},
		{"*/30 2,3 29 3 *", "2026-03-28T12:00:00Z", "Europe/Berlin", "2026-03-29T03:00+02:00 2026-03-29T03:30+02:00"},
		{"30 2 * * *", "2026-10-24T12:00:00Z", "Europe/Berlin", "2026-10-25T02:30+02:00 2026-10-26T02:30+01:00"},
		{"30 * * * *", "2026-10-24T23:50:00Z", "Europe/Berlin", "2026-10-25T02:30+02:00 2026-10-25T02:30+01:00"},
		{"30 * * * *", "2026-03-29T00:10:00Z", "Europe/Berlin", "2026-03-29T01:30+01:00 2026-03-29T03:30+02:00"},
		{"0 0 * * *", "2026-04-23T12:00:00Z", "Africa/Cairo", "2026-04-24T01:00+03:00 2026-04-25T00:00+03:00"}, // at midnight
		{"15 2 * * *", "2026-10-03T12:00:00Z", "Australia/Lord_Howe", "2026-10-04T02:30+11:00 2026-10-05T02:15+11:00"},
		{"0 12 30 12 *", "2011-01-01T00:00:00Z", "Pacific/Apia", "2011-12-31T00:00+14:00 2012-12-30T12:00+14:00"}, // a day that was left out
	} {
		if got := next(t, c.fields, c.after, c.zone, 2); got != c.want {
			t.Errorf("%s after %s in %s: %s, want %s", c.fields, c.after, c.zone, got, c.want)
		}
	}
}

// Next is the first minute at which the zone's clock shows one of the times, in every zone.
func TestNextIsTheFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := rapid.SampledFrom([]string{"*/7 * * * *", "15 */5 * * *", "0 1,2,3 * * *", "59 23 * * 0", "0 0 1,15 * 3", "30 2 28-31 3,10 *"}).Draw(t, "fields")
		z, err := time.LoadLocation(rapid.SampledFrom([]string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Africa/Cairo"}).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		times, err := Parse(fields)
		if err != nil {
			t.Fatal(err)
		}
		after := time.Unix(rapid.Int64Range(1_700_000_000, 1_900_000_000).Draw(t, "after"), 0)
		got := times.Next(after, z)
		if !got.After(after) {
			t.Fatalf("%s is not after %s", got, after)
		}
		for at := after.Truncate(time.Minute).Add(time.Minute); at.Before(got) && at.Before(after.Add(20*24*time.Hour)); at = at.Add(time.Minute) {
			here := at.In(z)
			shown := times.on(here) && times.hours>>here.Hour()&1 == 1 && times.minutes>>here.Minute()&1 == 1
			if first, _, _ := moments(time.Date(here.Year(), here.Month(), here.Day(), here.Hour(), here.Minute(), 0, 0, time.UTC), z); shown && (times.everyHour || first.Equal(at)) {
				t.Fatalf("%s in %s: %s is before %s", fields, z, here, got)
			}
		}
	})
}

func TestParseFaults(t *testing.T) {
	for fields, want := range map[string]string{
		"0 3 * *":         `"0 3 * *" has 4 fields; cron has 5`,
		"0 0 3 * * *":     "has 6 fields",
		"":                "has 0 fields",
		"60 3 * * *":      "minute: 60 is not between 0 and 59",
		"0 24 * * *":      "hour: 24 is not between 0 and 23",
		"0 0 0 * *":       "day: 0 is not between 1 and 31",
		"0 0 * monday *":  `month: "monday" is unknown`,
		"0 0 * * monday":  `weekday: "monday" is unknown: write mon`,
		"0 0 * * 8":       "weekday:",
		"0 0 * * fri-mon": "fri-mon ends before it begins: write fri-sun,sun-mon",
		"0 0 30 2 *":      "is never",
		"*/0 * * * *":     `the step "0" is not a number`,
		"*/x * * * *":     `the step "x"`,
		"0 0 L * *":       `day: "L" is unknown`,
		"+5 0 * * *":      `minute: `,
		"@reboot":         `"@reboot" is unknown: there are @hourly`,
		"@every 5m":       `*/15 * * * *`,
		"1,,2 * * * *":    `minute: "" is unknown`,
	} {
		_, err := Parse(fields)
		var bad *Error
		if !errors.As(err, &bad) || !strings.Contains(bad.Message+": "+bad.Hint, want) {
			t.Errorf("%s: %v, want %s", fields, err, want)
		} else if bad.At+bad.Size > len(fields) {
			t.Errorf("%s: at %d, %d bytes", fields, bad.At, bad.Size)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("0 3 * * 1-5")
	f.Fuzz(func(t *testing.T, fields string) {
		times, err := Parse(fields)
		if err == nil && times.Next(time.Unix(0, 0), time.UTC).IsZero() {
			t.Errorf("%q is never", fields)
		}
	})
}
