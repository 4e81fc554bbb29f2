package keeper

import "strings"

// Together makes one verdict of those on several trees. The worst gives its outcome, status
// and reason; what is told of each is told.
func Together(all []Verdict) (out Verdict) {
	var messages, summaries []string
	for i, v := range all {
		if i == 0 || v.severity() > out.severity() {
			out.Outcome, out.Status, out.Reason = v.Outcome, v.Status, v.Reason
		}
		out.Notify, out.NeedsPerson = out.Notify || v.Notify, out.NeedsPerson || v.NeedsPerson
		if v.Message != "" {
			messages = append(messages, v.Message)
		}
		if v.Summary != "" {
			summaries = append(summaries, v.Summary)
		}
	}
	out.Message, out.Summary = strings.Join(messages, "\n"), strings.Join(summaries, "; ")
	return out
}

// severity orders verdicts: one that blocks, one that a person has to decide about, a
// failure that was given up, one that could not be had, a pass.
func (v Verdict) severity() int {
	switch {
	case v.Blocks():
		return 4
	case v.NeedsPerson:
		return 3
	case v.Outcome == Failed:
		return 2
	case v.Outcome == CouldNotRun:
		return 1
	}
	return 0
}
