package ledger

// Series is a row of failing runs in one working tree. It ends with a pass, or
// with EndSeries.
type Series struct {
	Failures int    `json:"failures"`
	Limit    bool   `json:"limit,omitempty"` // reached: a person has been asked
	Tree     string `json:"tree,omitempty"`  // of the last failing run; empty when not known exactly
}

// EndSeries starts the count anew, for clean and auto-clean: the work at hand is
// another one. What was skipped in the old one is forgotten; what is open stays
// open.
func (s *State) EndSeries() {
	s.Series = Series{}
	s.Skipped = nil
}

// count counts a failing run and says whether the limit is reached. After the
// limit an unchanged tree stays there, and a changed one starts a new series; so
// does one that is not known, since nobody can say that it is unchanged.
func (s *Series) count(tree string, maxRetries int) (limit bool) {
	if s.Limit {
		if tree != "" && tree == s.Tree {
			return true
		}
		*s = Series{}
	}
	s.Failures++
	s.Tree = tree
	s.Limit = s.Failures > maxRetries
	return s.Limit
}
