package lifecycle

import (
	"strconv"
	"strings"
	"time"
)

// parseReset finds in an error's text when the API takes requests again. It knows what the
// client writes ("You've hit your session limit · resets 3:30pm (Europe/Berlin)", "resets Oct
// 31, 9am (UTC)", "resets in 2h 5m"), what older ones wrote ("limit reached|1712345678"), and
// how servers put it ("retry after 120 s", a time in ISO 8601). A time of day is the next
// one after now.
func parseReset(text string, now time.Time) (time.Time, bool) {
	const longest = 4 << 10
	text = strings.ToLower(strings.NewReplacer("\u202f", " ", "\u00a0", " ").Replace(text[:min(len(text), longest)]))
	for at := range len(text) {
		key, after, found := cutKey(text[at:])
		if !found {
			continue
		}
		r := reading{rest: after, now: now, bare: key == "retry"}
		if t, ok := r.moment(); ok {
			return t, true
		}
	}
	return time.Time{}, false
}

// cutKey takes a word that announces a time.
func cutKey(text string) (key, rest string, found bool) {
	for _, key := range []string{"|", "resets", "reset", "retry", "again", "until"} {
		if rest, found = strings.CutPrefix(text, key); found {
			return key, rest, true
		}
	}
	return "", "", false
}

// reading is a text that is read from its start, in lower case.
type reading struct {
	rest string
	now  time.Time
	bare bool // a number without a unit is seconds
}

// moment reads a time in any of the forms, with the words before it.
func (r *reading) moment() (time.Time, bool) {
	for {
		r.rest = strings.TrimLeft(r.rest, " :=-_\"'·\t")
		rest := r.rest
		for _, word := range []string{"after", "at", "on", "in", "is", "time", "seconds:"} {
			if r.word(word) {
				r.bare = r.bare || word == "in" || word == "after"
				break
			}
		}
		if r.rest == rest {
			break
		}
	}
	for _, form := range []func() (time.Time, bool){r.standard, r.date, r.daytime, r.epoch, r.wait} {
		before := r.rest
		if t, ok := form(); ok && t.Year() >= 1970 && t.Year() <= 9999 {
			return t, true
		}
		r.rest = before
	}
	return time.Time{}, false
}

// word takes a word, and not the beginning of a longer one.
func (r *reading) word(word string) bool {
	rest, found := strings.CutPrefix(r.rest, word)
	if !found || rest != "" && 'a' <= rest[0] && rest[0] <= 'z' {
		return false
	}
	r.rest = rest
	return true
}

// number takes up to that many digits.
func (r *reading) number(most int) (n int64, digits int) {
	for digits < len(r.rest) && digits <= most && '0' <= r.rest[digits] && r.rest[digits] <= '9' {
		digits++
	}
	if digits > most {
		return 0, 0
	}
	n, err := strconv.ParseInt(r.rest[:digits], 10, 64)
	if err != nil {
		return 0, 0
	}
	r.rest = r.rest[digits:]
	return n, digits
}

// standard reads 2026-10-31T09:00:00Z.
func (r *reading) standard() (time.Time, bool) {
	end := strings.IndexAny(r.rest, " \"',;)]}|\n\t")
	if end < 0 {
		end = len(r.rest)
	}
	text := strings.TrimRight(strings.ToUpper(r.rest[:end]), ".")
	t, err := time.Parse(time.RFC3339, text)
	return t, err == nil
}

// epoch reads seconds or milliseconds since 1970.
func (r *reading) epoch() (time.Time, bool) {
	switch n, digits := r.number(13); digits {
	case 10:
		return time.Unix(n, 0).UTC(), true
	case 13:
		return time.UnixMilli(n).UTC(), true
	}
	return time.Time{}, false
}

// wait reads 2h 5m, 120 s, 5 minutes and, where it can be nothing else, a bare number of
// seconds.
func (r *reading) wait() (time.Time, bool) {
	const longest = 366 * 24 * time.Hour
	var total time.Duration
	for parts := 0; ; parts++ {
		n, digits := r.number(8)
		if digits == 0 {
			return r.now.Add(total), parts > 0
		}
		if rest, found := strings.CutPrefix(r.rest, "."); found { // of a second
			fraction := reading{rest: rest}
			if _, digits := fraction.number(9); digits > 0 {
				r.rest = fraction.rest
			}
		}
		r.rest = strings.TrimLeft(r.rest, " ")
		unit, found := r.unit()
		total += time.Duration(n) * unit
		if total > longest || total < 0 || !found && !r.bare {
			return time.Time{}, false
		}
		r.rest = strings.TrimLeft(r.rest, " ,")
	}
}

func (r *reading) unit() (is time.Duration, found bool) {
	for _, u := range []struct {
		words string
		is    time.Duration
	}{
		{"ms milliseconds", time.Millisecond},
		{"d day days", 24 * time.Hour},
		{"h hr hrs hour hours", time.Hour},
		{"m min mins minute minutes", time.Minute},
		{"s sec secs second seconds", time.Second},
	} {
		for word := range strings.FieldsSeq(u.words) {
			if r.word(word) {
				return u.is, true
			}
		}
	}
	return time.Second, false
}

// clock is a time of day.
type clock struct{ hour, minute, second int }

// clock reads 3pm, 3:30 pm, 15:30 and 15:30:00.
func (r *reading) clock() (clock, bool) {
	hour, digits := r.number(2)
	if digits == 0 {
		return clock{}, false
	}

	c := clock{hour: int(hour)}
	colon := false
	for _, to := range []*int{&c.minute, &c.second} {
		rest, found := strings.CutPrefix(r.rest, ":")
		if !found {
			break
		}
		r.rest = rest
		n, digits := r.number(2)
		if digits != 2 || n > 59 {
			return clock{}, false
		}
		*to, colon = int(n), true
	}

	before := r.rest
	r.rest = strings.TrimLeft(r.rest, " ")
	am, pm := r.word("am") || r.word("a.m."), r.word("pm") || r.word("p.m.")
	switch {
	case am || pm:
		if hour < 1 || hour > 12 {
			return clock{}, false
		}
		c.hour %= 12
		if pm {
			c.hour += 12
		}
		return c, true
	case !colon || hour > 23:
		return clock{}, false
	}
	r.rest = before
	return c, true
}

// zone reads (Europe/Berlin). Without one, and for one that this machine does not know, the
// person's own holds.
func (r *reading) zone() *time.Location {
	open, found := strings.CutPrefix(strings.TrimLeft(r.rest, " "), "(")
	name, _, closed := strings.Cut(open, ")")
	if !found || !closed || len(name) > 64 {
		if found := strings.HasPrefix(strings.TrimLeft(r.rest, " "), "utc"); found {
			return time.UTC
		}
		return r.now.Location()
	}
	if place, err := time.LoadLocation(zoneName(name)); err == nil {
		return place
	}
	return r.now.Location()
}

// zoneName gives the name of a zone its capitals back: America/Port_of_Spain has them at the
// beginning of words, but for a few.
func zoneName(lower string) string {
	if lower == "utc" || lower == "gmt" || strings.HasPrefix(lower, "etc/") {
		return strings.ReplaceAll(strings.ToUpper(lower), "ETC/", "Etc/")
	}
	name := []byte(lower)
	for i := range name {
		if (i == 0 || strings.IndexByte("/_-", name[i-1]) >= 0) && 'a' <= name[i] && name[i] <= 'z' {
			name[i] -= 'a' - 'A'
		}
	}
	return strings.NewReplacer("_Of_", "_of_", "_Es_", "_es_", "-Au-", "-au-", "Dumontdurville", "DumontDUrville", "Mcmurdo", "McMurdo").Replace(string(name))
}

// daytime reads 3pm (Europe/Berlin): the next one.
func (r *reading) daytime() (time.Time, bool) {
	c, ok := r.clock()
	if !ok {
		return time.Time{}, false
	}
	place := r.zone()
	today := r.now.In(place)
	for day := range 2 {
		t := time.Date(today.Year(), today.Month(), today.Day()+day, c.hour, c.minute, c.second, 0, place)
		if t.After(r.now) {
			return t, true
		}
	}
	return time.Time{}, false
}

// date reads Oct 31, 9am (UTC), with "at" in the middle and with a year.
func (r *reading) date() (time.Time, bool) {
	month, ok := r.month()
	if !ok {
		return time.Time{}, false
	}

	r.rest = strings.TrimLeft(r.rest, " .")
	day, digits := r.number(2)
	if digits == 0 {
		return time.Time{}, false
	}

	r.rest = strings.TrimLeft(r.rest, " ,")
	before := r.rest
	year, digits := r.number(4)
	if digits != 4 { // it is the hour, or nothing
		r.rest, year = before, 0
	}

	r.rest = strings.TrimLeft(r.rest, " ,")
	if r.word("at") {
		r.rest = strings.TrimLeft(r.rest, " ")
	}
	c, ok := r.clock()
	if !ok {
		return time.Time{}, false
	}

	place := r.zone()
	at := func(year int) time.Time {
		return time.Date(year, month, int(day), c.hour, c.minute, c.second, 0, place)
	}
	t := at(int(year))
	if year == 0 {
		t = at(r.now.In(place).Year())
		if t.Before(r.now.Add(-24 * time.Hour)) {
			t = at(t.Year() + 1)
		}
	}
	return t, t.Month() == month && t.Day() == int(day)
}

func (r *reading) month() (time.Month, bool) {
	for m := time.January; m <= time.December; m++ {
		name := strings.ToLower(m.String())
		if r.word(name) || r.word(name[:3]) {
			return m, true
		}
	}
	return 0, false
}
