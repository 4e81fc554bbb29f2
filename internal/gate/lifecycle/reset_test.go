package lifecycle

import (
	"testing"
	"time"
	_ "time/tzdata"
)

func TestParseReset(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	check(t, err)
	now := time.Date(2026, 10, 30, 14, 0, 0, 0, berlin)
	for text, want := range map[string]string{
		"You've hit your session limit · resets 3pm (Europe/Berlin)":    "2026-10-30T15:00:00+01:00",
		"You've hit your session limit · resets 1:30pm (Europe/Berlin)": "2026-10-31T13:30:00+01:00",
		"resets 3\u202fPM (UTC)":                             "2026-10-30T15:00:00Z",
		"resets at 5:30 PM (Europe/Berlin)":                  "2026-10-30T17:30:00+01:00",
		"Your limit will reset at 12am (America/New_York).":  "2026-10-31T00:00:00-04:00",
		"resets 12:05pm (America/Port_of_Spain)":             "2026-10-30T12:05:00-04:00",
		"limit · resets Oct 31, 9am (Europe/Berlin)":         "2026-10-31T09:00:00+01:00",
		"limit · resets Oct 31 at 9am":                       "2026-10-31T09:00:00+01:00",
		"resets Nov 2, 2026, 9:15am (UTC)":                   "2026-11-02T09:15:00Z",
		"resets Jan 2, 9am (UTC)":                            "2027-01-02T09:00:00Z",
		"resets 15:30":                                       "2026-10-30T15:30:00+01:00",
		"resets 23:59:30 utc":                                "2026-10-30T23:59:30Z",
		"resets 3pm (Nowhere/Land)":                          "2026-10-30T15:00:00+01:00",
		"Claude AI usage limit reached|1793451600":           "2026-10-31T13:00:00Z",
		"limit reached|1793451600000|x":                      "2026-10-31T13:00:00Z",
		"API Error: 429 retry after 120 s":                   "2026-10-30T14:02:00+01:00",
		"retry-after: 90":                                    "2026-10-30T14:01:30+01:00",
		`{"retry_after": 1.5, "x": 3}`:                       "2026-10-30T14:00:01+01:00",
		"Fast limit reached · resets in 2h 5m":               "2026-10-30T16:05:00+01:00",
		"please try again in 5 minutes.":                     "2026-10-30T14:05:00+01:00",
		"resets at 2026-10-31T09:00:00Z":                     "2026-10-31T09:00:00Z",
		"try again at 2026-10-31t09:00:00.5+01:00.":          "2026-10-31T09:00:00.5+01:00",
		"The limit is not reset. Retry later. resets 3pm":    "2026-10-30T15:00:00+01:00",
		"we reset nothing":                                   "",
		"resets":                                             "",
		"":                                                   "",
		"resets soon":                                        "",
		"resets 3":                                           "",
		"resets 25:00":                                       "",
		"resets Feb 31, 9am":                                 "",
		"retry after 99999999999999999999 s":                 "",
		"retry after 99999999 h":                             "",
		"API Error: 400 messages.3: text content is invalid": "",
		"resets octopus 3":                                   "",
	} {
		told := ""
		if got, ok := parseReset(text, now); ok {
			told = got.Format(time.RFC3339Nano)
		}
		if told != want {
			t.Errorf("%q resets at %q, want %q", text, told, want)
		}
	}
}

func FuzzParseReset(f *testing.F) {
	for _, text := range []string{
		"resets 3pm (Europe/Berlin)", "resets Oct 31, 2026, 9:30am", "limit reached|1712345678", "retry after 120 s",
		"resets in 2h 5m", "reset at 2026-10-31T09:00:00Z", "resets 23:59:60", "again in 1.5.5", "resets Feb 29, 9am (",
	} {
		f.Add(text, int64(1793365200))
	}
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		now := time.Unix(unix%(1<<36), 0).UTC()
		got, ok := parseReset(text, now)
		if !ok {
			return
		}
		back, err := time.Parse(time.RFC3339, got.Format(time.RFC3339))
		if err != nil || back.Unix() != got.Unix() {
			t.Errorf("%q gives %v, which cannot be written down: %v", text, got, err)
		}
	})
}
