package stops

import (
	"cmp"
	"slices"

	"github.com/stopgate/stopgate/internal/record/event"
)

// GapKind says in one word why nothing was enforced at a stop.
type GapKind string

// Why nothing was enforced.
const (
	NoAnswer     GapKind = "no_answer"     // the hook was killed, or is still running
	BadPayload   GapKind = "bad_payload"   // the payload could not be read
	Off          GapKind = "off"           // a person switched it off for a while
	Untrusted    GapKind = "untrusted"     // a person never approved the project, or the approval is damaged
	BadConfig    GapKind = "bad_config"    // the configuration cannot be read, or is gone
	ForeignOwner GapKind = "foreign_owner" // the project belongs to another user
	Observing    GapKind = "observing"     // mode: observe would have blocked
	NotJudged    GapKind = "not_judged"    // a setting kept the gates from being asked
	CouldNotRun  GapKind = "could_not_run" // the gates were asked, and said nothing about the work
	NoProject    GapKind = "no_project"    // the stop belongs to no project
	NothingSet   GapKind = "nothing_set"   // the project has nothing that looks at such a stop
	APIError     GapKind = "api_error"     // an error of the API ended the turn: there is nothing to hold back
)

// Gap is why a stop was answered without anything that could have held it back.
type Gap struct {
	Kind GapKind `json:"kind"`
	Why  string  `json:"why,omitempty"` // the keeper's words, where there are some
}

// placeGap is the gap that a verdict on the place tells of, before any keeper is asked; "" for keepers.
func placeGap(speaker string) GapKind {
	switch speaker {
	case "off":
		return Off
	case "trust":
		return Untrusted
	case "owner":
		return ForeignOwner
	case "config":
		return BadConfig
	}
	return ""
}

// ofPlace are the words for who speaks of the place of a call: no keeper has looked at it then.
var ofPlace = []string{"off", "trust", "owner", "config", "settings"}

// gap finds why nothing was enforced at a stop.
func gap(s *Stop) *Gap {
	switch s.Decision {
	case Unanswered:
		return &Gap{Kind: NoAnswer}
	case Rejected:
		return &Gap{Kind: BadPayload, Why: message(s.By)}
	case Blocked, GaveUp:
		return nil
	}
	if s.Event == failedStop {
		return &Gap{Kind: APIError, Why: s.APIError}
	}
	if s.Adopted {
		return nil
	}

	for i := range s.Verdicts {
		v := &s.Verdicts[i]
		if kind := placeGap(v.Keeper); kind != "" && v.Outcome == couldNotRun {
			return &Gap{Kind: kind, Why: v.Message}
		}
		if v.Status == "would_block" {
			return &Gap{Kind: Observing, Why: v.Message}
		}
	}
	return unasked(s)
}

// unasked finds why the gates of a stop said nothing, and that nothing is there to look.
func unasked(s *Stop) *Gap {
	at := slices.IndexFunc(s.Verdicts, func(v event.Verdict) bool { return v.Keeper == gatesKeeper || v.Keeper == "chain" })
	switch {
	case at < 0 && slices.ContainsFunc(s.Verdicts, func(v event.Verdict) bool { return !slices.Contains(ofPlace, v.Keeper) }):
		return nil // another keeper looked
	case at < 0 && s.Project == "":
		return &Gap{Kind: NoProject}
	case at < 0:
		return &Gap{Kind: NothingSet}
	case s.Verdicts[at].Outcome == couldNotRun:
		return &Gap{Kind: CouldNotRun, Why: s.Verdicts[at].Message}
	}
	if len(s.Trees) > 0 && !slices.ContainsFunc(s.Trees, func(t event.Tree) bool { return t.Why == "" }) {
		return &Gap{Kind: NotJudged, Why: s.Trees[0].Why}
	}
	return nil
}

func message(v *event.Verdict) string {
	if v == nil {
		return ""
	}
	return cmp.Or(v.Message, v.Status)
}
