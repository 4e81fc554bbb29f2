package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/project/config"
)

// maxResult bounds the agent's words on one violation. They are shown to the
// next reviewer.
const maxResult = 4 << 10

// ApplyEdits takes what the agent wrote into a file over to the violations on
// record: status and result, nothing else. "fixed" is a claim, for a review to
// verify. "skipped" needs a reason, and for a critical violation the word of
// maySkip. Whatever cannot be taken over leaves its violation as it was; remarks
// says so.
func ApplyEdits(open []Violation, edited File, maySkip func(Violation) bool) (after []Violation, remarks []string) {
	for _, v := range open {
		next, remark := v.edited(edited.Violations, maySkip)
		after = append(after, next)
		if remark != "" {
			remarks = append(remarks, fmt.Sprintf("%s (%s): %s", v.ID, v.Location(), remark))
		}
	}
	return after, remarks
}

func (v Violation) edited(entries []Violation, maySkip func(Violation) bool) (Violation, string) {
	i := slices.IndexFunc(entries, v.isEntry)
	if i < 0 {
		return v, "no longer in the file; left unchanged"
	}
	entry := entries[i]
	switch {
	case entry.Status == New: // nothing was said
		return v, ""
	case entry.Status != Fixed && entry.Status != Skipped:
		return v, fmt.Sprintf("invalid status %q (use new, fixed or skipped); left unchanged", entry.Status)
	case entry.Status == Skipped && strings.TrimSpace(entry.Result) == "":
		return v, `"skipped" needs a reason in "result"; left unchanged`
	case entry.Status == Skipped && v.Priority.AtLeast(config.Critical) && v.Status != Skipped && !maySkip(v):
		return v, "an agent cannot skip a critical violation; left unchanged"
	}
	v.Status = entry.Status
	v.Result = clip(printable(entry.Result), maxResult)
	return v, ""
}

// isEntry reports whether an entry of a file is about v. An agent that rewrote
// the file may have lost the ID.
func (v Violation) isEntry(entry Violation) bool {
	if entry.ID != "" {
		return entry.ID == v.ID
	}
	return cleanPath(entry.File) == cleanPath(v.File) && slices.Equal(words(entry.Issue), words(v.Issue))
}

// clip is the beginning of a text, valid UTF-8.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + " […]"
}
