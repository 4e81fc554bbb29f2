// Package cron is times that come again, in the five fields of cron: when the next one is, in a
// time zone, with its changes of the clock.
package cron

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // for machines that have no time zones
)

// Times are what five fields say. The zero value is no time.
type Times struct {
	minutes, hours, days, months, weekdays uint64 // sets of bits

	everyDay, everyWeekday bool // the field is *: the other one alone counts
	everyHour              bool // it follows the clock, also when an hour comes twice
}

// Error is what is wrong with five fields.
type Error struct {
	At      int // the byte where it begins
	Size    int
	Message string
	Hint    string
}

func (e *Error) Error() string { return e.Message }

// part is one of the five fields.
type part struct {
	name     string
	min, max int
	names    []string // of the values from min on
}

var parts = []part{
	{"minute", 0, 59, nil},
	{"hour", 0, 23, nil},
	{"day", 1, 31, nil},
	{"month", 1, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	{"weekday", 0, 7, []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat", "sun"}},
}

// nicknames stand for all five fields.
var nicknames = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// Nicknames are the words that stand for five fields.
func Nicknames() []string {
	return []string{"@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually"}
}

const form = `five fields: minute hour day month weekday, such as "0 3 * * 1-5"`

// Parse reads five fields, or a nickname. The error is an *Error.
func Parse(text string) (Times, error) {
	if strings.HasPrefix(strings.TrimSpace(text), "@") {
		return parseNickname(text)
	}

	fields := split(text)
	if len(fields) != len(parts) {
		return Times{}, &Error{0, len(text), fmt.Sprintf("%q has %d fields; cron has %d", text, len(fields), len(parts)), "write " + form}
	}

	var sets [5]uint64
	for i, f := range fields {
		set, err := parts[i].parse(f)
		if err != nil {
			return Times{}, err
		}
		sets[i] = set
	}

	star := func(i int) bool { return strings.HasPrefix(fields[i].text, "*") }
	t := Times{
		minutes: sets[0], hours: sets[1], days: sets[2], months: sets[3], weekdays: sets[4] | sets[4]>>7&1,
		everyDay: star(2), everyWeekday: star(4), everyHour: star(1),
	}
	if t.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), time.UTC).IsZero() {
		return Times{}, &Error{0, len(text), fmt.Sprintf("%q is never: no such month has such a day", text), ""}
	}
	return t, nil
}

func parseNickname(text string) (Times, error) {
	word := strings.ToLower(strings.TrimSpace(text))
	if fields, known := nicknames[word]; known {
		return Parse(fields)
	}
	hint := "there are " + strings.Join(Nicknames(), ", ")
	if strings.HasPrefix(word, "@every") {
		hint = `write five fields, such as "*/15 * * * *" for every 15 minutes`
	}
	return Times{}, &Error{0, len(text), fmt.Sprintf("%q is unknown", text), hint}
}

// word is a part of the text, and where it begins.
type word struct {
	text string
	at   int
}

func split(text string) (words []word) {
	at := 0
	for _, field := range strings.Fields(text) {
		at += strings.Index(text[at:], field)
		words = append(words, word{field, at})
		at += len(field)
	}
	return words
}

func (p part) wrong(w word, hint, format string, args ...any) error {
	return &Error{w.at, len(w.text), p.name + ": " + fmt.Sprintf(format, args...), hint}
}

// parse reads a list of ranges.
func (p part) parse(field word) (set uint64, err error) {
	at := field.at
	for item := range strings.SplitSeq(field.text, ",") {
		one, err := p.parseRange(word{item, at})
		if err != nil {
			return 0, err
		}
		set |= one
		at += len(item) + 1
	}
	return set, nil
}

// parseRange reads *, a value, or a range, each with or without a step.
func (p part) parseRange(w word) (set uint64, err error) {
	values, every, stepped := strings.Cut(w.text, "/")
	from, to, ranged := strings.Cut(values, "-")
	low, high := p.min, p.max
	if values != "*" {
		if low, err = p.value(from, w); err != nil {
			return 0, err
		}
		high = low
		if stepped {
			high = p.max
		}
		if ranged {
			if high, err = p.value(to, w); err != nil {
				return 0, err
			}
			if p.max == 7 && high == 0 { // Sunday is the last day, too
				high = 7
			}
		}
	}

	step := 1
	if stepped {
		if step, err = strconv.Atoi(every); err != nil || step < 1 || step > p.max {
			return 0, p.wrong(w, "", "the step %q is not a number from 1 to %d", every, p.max)
		}
	}

	if low > high {
		return 0, p.wrong(w, fmt.Sprintf("write %s-%s,%s-%s", from, p.word(p.max), p.word(p.min), to), "%s ends before it begins", values)
	}
	for v := low; v <= high; v += step {
		set |= 1 << v
	}
	return set, nil
}

// word is a value as it is written.
func (p part) word(value int) string {
	if p.names != nil {
		return p.names[value-p.min]
	}
	return strconv.Itoa(value)
}

// value reads a number or a name.
func (p part) value(text string, w word) (int, error) {
	for i, name := range p.names {
		if strings.EqualFold(text, name) {
			return p.min + i, nil
		}
	}
	number, err := strconv.Atoi(text)
	switch {
	case err == nil && strings.Trim(text, "0123456789") == "" && number >= p.min && number <= p.max:
		return number, nil
	case p.names != nil && len(text) > 3 && p.named(text[:3]):
		return 0, p.wrong(w, "write "+strings.ToLower(text[:3]), "%q is unknown", text)
	case p.names != nil:
		return 0, p.wrong(w, fmt.Sprintf("write a number from %d to %d, or one of %s", p.min, p.max, strings.Join(p.names[:len(p.names)-1+p.min], ", ")), "%q is unknown", text)
	case err == nil:
		return 0, p.wrong(w, "", "%s is not between %d and %d", text, p.min, p.max)
	}
	return 0, p.wrong(w, form, "%q is unknown", text)
}

func (p part) named(text string) bool {
	for _, name := range p.names {
		if strings.EqualFold(text, name) {
			return true
		}
	}
	return false
}

// horizon is how far ahead a time is looked for: a 29th of February is at most 8 years away, one that
// is a certain weekday 40.
const horizon = 41 * 366

// Next is the first time after a moment, in a time zone; zero where there is none. A time that the
// zone's clock leaps over is the moment of the leap. One that comes twice is the first of both,
// unless it is one of every hour, which follow the clock.
func (t Times) Next(after time.Time, zone *time.Location) time.Time {
	if t.minutes == 0 {
		return time.Time{}
	}
	year, month, day := after.In(zone).Date()
	for i := -1; i < horizon; i++ { // a leap may have taken it to the day after
		date := time.Date(year, month, day+i, 0, 0, 0, 0, time.UTC)
		if !t.on(date) {
			continue
		}
		if next := t.within(date, after, zone); !next.IsZero() {
			return next
		}
	}
	return time.Time{}
}

// on reports whether a date is one of the days. If both day and weekday are given, one of them is enough.
func (t Times) on(date time.Time) bool {
	day, weekday := t.days>>date.Day()&1 == 1, t.weekdays>>int(date.Weekday())&1 == 1
	switch {
	case t.months>>int(date.Month())&1 == 0:
		return false
	case t.everyDay || t.everyWeekday:
		return day && weekday
	}
	return day || weekday
}

// within is the first time on a date that is after a moment.
func (t Times) within(date, after time.Time, zone *time.Location) (next time.Time) {
	for hours := t.hours; hours != 0; hours &= hours - 1 {
		hour := bits.TrailingZeros64(hours)
		for minutes := t.minutes; minutes != 0; minutes &= minutes - 1 {
			first, second, leap := moments(date.Add(time.Duration(hour)*time.Hour+time.Duration(bits.TrailingZeros64(minutes))*time.Minute), zone)
			switch {
			case !t.everyHour:
				second = time.Time{}
			case leap:
				first = time.Time{}
			}
			for _, at := range []time.Time{first, second} {
				if at.After(after) && (next.IsZero() || at.Before(next)) {
					next = at
				}
			}
		}
	}
	return next
}

// moments are when the clock of a zone shows a time, which is given as if the zone were UTC. The
// second is zero where it does so once; where it never does, the first is that of the leap.
func moments(wall time.Time, zone *time.Location) (first, second time.Time, leap bool) {
	at := func(offset int) time.Time { return wall.Add(-time.Duration(offset) * time.Second).In(zone) }
	_, before := wall.Add(-24 * time.Hour).In(zone).Zone()
	_, after := wall.Add(24 * time.Hour).In(zone).Zone()
	early, late := at(before), at(after)
	if before == after {
		return early, time.Time{}, false
	}
	if late.Before(early) {
		early, late = late, early
	}

	shows := func(t time.Time) bool {
		_, offset := t.Zone()
		return t.Equal(at(offset))
	}
	switch {
	case shows(early) && shows(late):
		return early, late, false
	case shows(early):
		return early, time.Time{}, false
	case shows(late):
		return late, time.Time{}, false
	}

	start, end := early.ZoneBounds()
	if _, offset := early.Zone(); offset == before { // it is before the leap
		return end.In(zone), time.Time{}, true
	}
	return start.In(zone), time.Time{}, true
}
