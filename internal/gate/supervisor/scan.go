package supervisor

import "github.com/stopgate/stopgate/internal/sys/prose"

// verdict is a JSON object that says whether the work is done.
type verdict struct {
	allow      bool
	feedback   []byte // a JSON string, number or word; nil: none
	start, end int
}

// wholeVerdict is the verdict that all of the text is.
func wholeVerdict(text []byte) (verdict, bool) {
	v, ok := lastVerdict(text)
	return v, ok && v.start == 0 && v.end == len(text)
}

// maxDepth is far more than an answer nests.
const maxDepth = 100

// lastVerdict is the last object in a text that has a member completed or
// allow_stop which is true or false. Of objects in one another the outermost
// that has one counts: it ends last. Comments to the end of a line and commas
// before an end are taken, since models write them.
func lastVerdict(text []byte) (last verdict, found bool) {
	var open []draft
	s := prose.Scanner{
		Lenient: true,
		Depth:   maxDepth,
		Enter:   func() { open = append(open, draft{}) },
		Atom:    func(key string, token []byte) { open[len(open)-1].note(key, token) },
		Leave: func(start, end int, _ bool) {
			d := open[len(open)-1]
			open = open[:len(open)-1]
			if d.said {
				last, found = verdict{allow: !d.refused, feedback: d.feedback, start: start, end: end}, true
			}
		},
		GiveUp: func() { open = open[:0] },
	}
	s.Scan(text)
	return last, found
}

// draft is what an object has said so far.
type draft struct {
	said, refused bool // by completed or allow_stop
	feedback      []byte
}

// note keeps a value that is a part of a verdict. Of two that contradict each
// other the one that refuses counts.
func (d *draft) note(key string, token []byte) {
	switch key {
	case "completed", "allow_stop":
		yes, no := string(token) == "true", string(token) == "false"
		d.said = d.said || yes || no
		d.refused = d.refused || no
	case "feedback":
		d.feedback = token
	}
}
