package ledger

// Series is a row of failing runs in one working tree. It ends with a pass, or
// with EndSeries.
type Series struct {
	Failures int    `json:"failures"`
	Limit    bool   `json:"limit,omitempty"` // reached: a person has been asked
	Tree     string `json:"tree,omitempty"`  // of the last failing run; empty when not known exactly
	// Prompt is the last prompt that a person had written by then; empty where not known.
	Prompt string `json:"prompt,omitempty"`
}

// What a person is told of a limit that is reached: when it ends (see count), and what
// they can do about it.
const (
	LimitEnds   = "failing gates do not block agents here until they pass, or until the files change and a person writes another prompt"
	LimitRemedy = "to reset the retry limit now, run in your own terminal: stopgate clean"
)

// Restart starts the count of failing runs anew: a person has looked.
func (s *State) Restart() {
	s.Series = Series{}
	s.Blocks = nil
}

// EndSeries is Restart for other work: what was skipped in the old one is forgotten, too.
// What is open stays open.
func (s *State) EndSeries() {
	s.Restart()
	s.Skipped = nil
}

// count counts a failing run and says whether the limit is reached. It stays reached until
// a person has written another prompt and the tree is another one; a tree that is not known
// exactly may be.
func (s *Series) count(run *Run) (limit bool) {
	if s.Limit {
		again := run.Prompt != "" && run.Prompt != s.Prompt
		if !again || run.Tree != "" && run.Tree == s.Tree {
			return true
		}
		*s = Series{}
	}
	s.Failures++
	s.Tree, s.Prompt = run.Tree, run.Prompt
	s.Limit = s.Failures > run.MaxRetries
	return s.Limit
}

// countBlock counts a block of one session, whatever series it belongs to, and says whether
// there were enough: two full series since the last pass. A hook that hears of stops alone
// cannot tell a person's prompt from a queue's, so this is what ends a loop of prompts.
func (s *State) countBlock(run *Run) (enough bool) {
	if run.Session == "" {
		return false
	}
	if s.Blocks[run.Session] >= 2*(run.MaxRetries+1) {
		return true
	}
	if s.Blocks == nil {
		s.Blocks = map[string]int{}
	}
	s.Blocks[run.Session]++
	return false
}
