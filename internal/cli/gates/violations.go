package gates

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
)

func NewViolations() *cobra.Command {
	return term.Group(&cobra.Command{
		Use:   "violations",
		Short: "List and answer what reviews found",
		Long: `List the open violations that reviews found, and answer them: fixed, which the next
review verifies, or skipped, with a reason.`,
		Example: `  stopgate violations list
  stopgate violations fix 3fa9 --why "the query is prepared now"`,
	}, newViolationsList(), newViolationsFix(), newViolationsSkip())
}

func newViolationsList() *cobra.Command {
	return term.Shows(&cobra.Command{
		Use:   "list",
		Short: "List open violations",
		Long:  "List open violations and their answers.",
		Example: `  stopgate violations list
  stopgate violations list --json | jq '.[] | select(.priority == "critical")'`,
		Args: term.NoArgs,
	}, func(*cobra.Command, []string) (violationList, error) {
		h, err := here.MustExist(here.FindHere())
		if err != nil {
			return nil, err
		}
		state, err := ledger.Open(h.StateDir, h.Root).Read()
		return openViolations(state.Open), err
	})
}

// violationList is what is open.
type violationList []openViolation

// openViolation is a violation with the gate that found it.
type openViolation struct {
	Gate string `json:"gate"`
	review.Violation
	name  string // of the gate, for people
	files []string
}

// openViolations lists what is open, with what the review files say by now.
func openViolations(failures []ledger.Failure) violationList {
	all := violationList{}
	for _, failure := range failures {
		name := nameOf(gauntlet.Kind(failure.Kind), failure.Name, failure.Entry)
		answered, _ := review.ApplyEdits(failure.Violations, answersIn(failure.Files), nobody)
		for _, v := range answered {
			all = append(all, openViolation{failure.Job, v, name, failure.Files})
		}
	}
	return all
}

// nobody may skip a critical violation by editing a file; where anyone may, the
// next run still takes it over.
func nobody(review.Violation) bool { return false }

// answersIn gathers what the agent wrote into files. Those that cannot be read
// say nothing; the next run tells why.
func answersIn(paths []string) review.File {
	var all review.File
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if file, err := review.ParseFile(data); err == nil {
			all.Violations = append(all.Violations, file.Violations...)
		}
	}
	return all
}

// Print implements term.View.
func (all violationList) Print(out io.Writer) {
	s := summary{out: out, paint: term.PaintFor(out)}
	if len(all) == 0 {
		fmt.Fprintln(out, "no open violations")
		return
	}
	gate := ""
	for i := range all {
		v := &all[i]
		if v.Gate != gate {
			gate = v.Gate
			fmt.Fprintln(out, s.paint.Bold(v.name+":"))
		}
		s.violation(&v.Violation)
	}
	if slices.ContainsFunc(all, func(v openViolation) bool { return v.Status == review.New }) {
		fmt.Fprintf(out, "\n%s to mark one as fixed: stopgate violations fix ID --why \"what was done\"\n", s.paint.Faint("→"))
		fmt.Fprintf(out, "%s to skip one: stopgate violations skip ID --why REASON\n", s.paint.Faint("→"))
	}
}
