package review

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/project/config"
)

func violation(file, issue string, priority config.Priority, status Standing) Violation {
	return Violation{ID: fingerprint(gate, file, issue), File: file, Issue: issue, Priority: priority, Status: status}
}

func TestReconcile(t *testing.T) {
	const words = "the response body is never closed when the request fails"
	old := violation("a.go", words, config.Medium, New)
	claimed := old
	claimed.Status, claimed.Result = Fixed, "closed it"
	skipped := old
	skipped.Status, skipped.Result = Skipped, "on purpose"
	moved := old
	moved.Line = "42"
	lesser := old
	lesser.Priority = config.Low
	greater := old
	greater.Priority = config.Critical
	reworded := violation("a.go", "The response body is never closed when a request fails", config.Low, New)
	elsewhere := violation("b.go", words, config.Low, New)
	other := violation("a.go", "the counter overflows", config.Low, New)
	grave := violation("a.go", "every password is logged", config.Critical, New)
	graveLow := grave
	graveLow.Priority = config.Low

	type list = []Violation
	tests := []struct {
		name                        string
		previous, found             list
		sameTree                    bool
		open, closed, droppedAsWell list
	}{
		{name: "nothing at all"},
		{name: "a first review drops nothing", found: list{other, grave}, open: list{other, grave}},
		{name: "not found again on a later tree", previous: list{old}, closed: list{old}},
		{name: "not found again on the same tree", previous: list{old}, sameTree: true, open: list{old}},
		{name: "a claim on the same tree", previous: list{claimed}, sameTree: true, open: list{claimed}},
		{name: "a claim that holds", previous: list{claimed}, closed: list{claimed}},
		{name: "a claim that does not hold", previous: list{claimed}, found: list{old}, open: list{old}},
		{name: "found again below the threshold", previous: list{old}, found: list{old}, open: list{old}},
		{name: "found again on another line", previous: list{old}, found: list{moved}, open: list{moved}},
		{name: "found again without a line", previous: list{moved}, found: list{old}, open: list{moved}},
		{name: "found again as less", previous: list{old}, found: list{lesser}, open: list{old}},
		{name: "found again as more", previous: list{old}, found: list{greater}, open: list{greater}},
		{name: "found again in other words", previous: list{old}, found: list{reworded}, open: list{old}},
		{name: "the same words about another file", previous: list{old}, found: list{elsewhere}, closed: list{old}, droppedAsWell: list{elsewhere}},
		{name: "another issue below the threshold", previous: list{old}, found: list{old, other}, open: list{old}, droppedAsWell: list{other}},
		{name: "another issue above the threshold", previous: list{old}, found: list{old, grave}, open: list{old, grave}},
		{name: "a regression on the same tree", previous: list{old}, found: list{grave}, sameTree: true, open: list{old, grave}},
		{name: "skipped and found again", previous: list{skipped}, found: list{old}, open: list{skipped}},
		{name: "skipped and found again in other words", previous: list{skipped}, found: list{reworded}, open: list{skipped}},
		{name: "skipped and not found again", previous: list{skipped}, open: list{skipped}},
		{name: "told twice", found: list{graveLow, grave}, open: list{grave}},
		{name: "told twice, found again", previous: list{old}, found: list{greater, lesser}, open: list{greater}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			open, closed, dropped := Reconcile(tt.previous, tt.found, tt.sameTree, config.High)
			if diff := cmp.Diff([]list{tt.open, tt.closed, tt.droppedAsWell}, []list{open, closed, dropped}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Two issues of one kind are two, also when one was skipped.
func TestSimilarIssuesAreNotTheSame(t *testing.T) {
	login := violation("a.go", "missing nil check on user in handleLogin", config.High, Skipped)
	logout := violation("a.go", "missing nil check on user in handleLogout", config.High, New)
	open, _, _ := Reconcile([]Violation{login}, []Violation{logout}, false, config.High)
	if diff := cmp.Diff([]Violation{login, logout}, open); diff != "" {
		t.Error(diff)
	}
}

// Nothing is lost: what was on record is open or closed, what was found is open
// or dropped, and only the two ways that are meant lead out.
func TestReconcileLosesNothing(t *testing.T) {
	violations := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) Violation {
		return violation(
			rapid.SampledFrom([]string{"a.go", "b.go"}).Draw(t, "file"),
			rapid.SampledFrom([]string{"one two three four five", "one two three four six", "seven", "eight nine"}).Draw(t, "issue"),
			rapid.SampledFrom([]config.Priority{config.Critical, config.High, config.Medium, config.Low}).Draw(t, "priority"),
			rapid.SampledFrom([]Standing{New, Fixed, Skipped}).Draw(t, "status"))
	}), 0, 5, func(v Violation) string { return v.ID })
	rapid.Check(t, func(t *rapid.T) {
		previous, found := violations.Draw(t, "previous"), violations.Draw(t, "found")
		for i := range found {
			found[i].Status = New
		}
		sameTree := rapid.Bool().Draw(t, "same tree")
		before := slices.Clone(previous)
		open, closed, dropped := Reconcile(previous, found, sameTree, config.High)
		if diff := cmp.Diff(before, previous); diff != "" {
			t.Fatalf("previous was changed: %s", diff)
		}
		for _, p := range previous {
			i, isClosed := withID(open, p.ID), withID(closed, p.ID) >= 0
			if (i >= 0) == isClosed {
				t.Fatalf("%+v is not either open or closed", p)
			}
			if isClosed && (sameTree || p.Status == Skipped || withID(found, p.ID) >= 0) {
				t.Fatalf("%+v was closed", p)
			}
			if i >= 0 && (!open[i].Priority.AtLeast(p.Priority) || (open[i].Status == Skipped) != (p.Status == Skipped)) {
				t.Fatalf("%+v became %+v", p, open[i])
			}
		}
		for _, d := range dropped {
			if len(previous) == 0 || d.Priority.AtLeast(config.High) || withID(previous, d.ID) >= 0 {
				t.Fatalf("%+v was dropped", d)
			}
		}
		if len(open)+len(closed)+len(dropped) > len(previous)+len(found) {
			t.Fatal("violations out of nowhere")
		}
	})
}
