package engine

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// quickStep reads a step that is exactly as EncodeStep writes it, but for rare characters.
// It is not ok for all others, also for those that are none: DecodeStep says what they are.
// A daemon reads up to 10,000 steps at its start, and all of them where there is no
// snapshot; encoding/json alone takes twice as long, since it goes over each fact five
// times.
func quickStep(text []byte) (s Step, ok bool) {
	c := cutter{rest: text}
	s.Owner = c.text(`{"v":1,"owner":`)
	s.Input = c.text(`,"input":`)
	s.Cause = c.text(`,"cause":`)
	at := c.text(`,"time":`)
	if c.odd || s.Time.UnmarshalText([]byte(at)) != nil {
		return Step{}, false
	}
	s.Late = c.take(`,"late":true`)
	s.Journal = c.take(`,"journal":true`)
	if c.take(`,"facts":[`) && !c.facts(&s) {
		return Step{}, false
	}
	if c.take(`,"effects":`) && json.Unmarshal(c.value(), &s.Effects) != nil {
		return Step{}, false
	}
	return s, c.take("}") && !c.odd && len(c.rest) == 0
}

// cutter takes pieces off a text. Once one is not as expected, all others are empty.
type cutter struct {
	rest []byte
	odd  bool
}

func (c *cutter) take(text string) bool {
	ok := len(c.rest) >= len(text) && string(c.rest[:len(text)]) == text
	if ok {
		c.rest = c.rest[len(text):]
	}
	return ok
}

// text takes a string without escapes, and what comes before it.
func (c *cutter) text(before string) string {
	if c.take(before) && c.take(`"`) {
		if end := bytes.IndexByte(c.rest, '"'); end >= 0 && unescaped(c.rest[:end]) {
			s := string(c.rest[:end])
			c.rest = c.rest[end+1:]
			return s
		}
	}
	c.odd, c.rest = true, nil
	return ""
}

func unescaped(text []byte) bool {
	for _, b := range text {
		if b < ' ' || b == '\\' || b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// value takes an object or an array. Whoever decodes it finds out whether it is one.
func (c *cutter) value() []byte {
	value, rest := rawjson.CutValue(c.rest)
	c.odd, c.rest = c.odd || len(value) == 0, rest
	return value
}

// facts takes the rest of a list of facts.
func (c *cutter) facts(s *Step) bool {
	for first := true; !c.take("]"); first = false {
		if !first && !c.take(",") {
			return false
		}
		text := c.value()
		f, ok := quickFact(text)
		if !ok {
			var err error
			if f, err = decodeFact(text); err != nil {
				return false
			}
		}
		s.Facts = append(s.Facts, f)
	}
	return true
}

// quickFact reads the facts that most steps consist of.
func quickFact(text []byte) (Fact, bool) {
	c := cutter{rest: text}
	var f Fact
	switch {
	case c.take(`{"type":"effect:started"`):
		f = EffectStarted{c.text(`,"key":`)}
	case c.take(`{"type":"effect:done"`):
		f = EffectDone{c.text(`,"key":`)}
	case c.take(`{"type":"agent:working"`):
		f = AgentWorking{AgentID: c.text(`,"agent_id":`), Prompt: c.text(`,"prompt_id":`)}
	}
	return f, f != nil && c.take("}") && len(c.rest) == 0
}
