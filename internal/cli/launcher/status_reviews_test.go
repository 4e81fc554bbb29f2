package launcher

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stopgate/stopgate/internal/record/event"
)

func TestReviewsOfAProject(t *testing.T) {
	cost := event.Cost{USD: 0.25, InputTokens: 10, OutputTokens: 2, CacheReadTokens: 100}
	verdict := func(keeper, status string, c event.Cost) event.Verdict {
		return event.Verdict{Keeper: keeper, Status: status, Cost: c}
	}
	stop := func(session string, verdicts ...event.Verdict) event.Record {
		return event.Record{Session: session, Verdicts: verdicts}
	}
	for _, test := range []struct {
		name  string
		stops []event.Record
		want  ReviewsStatus
	}{
		{"nothing was asked", []event.Record{stop("a"), stop("a", verdict("gates", "passed", event.Cost{}))}, ReviewsStatus{}},
		{
			"refused, then complete",
			[]event.Record{
				stop("a", verdict("gates", "passed", event.Cost{}), verdict("supervisor", "not_completed", cost)),
				stop("a", verdict("supervisor", "completed", cost)),
			},
			ReviewsStatus{Reviews: 2, Refusals: 1, Sessions: 1, Cost: cost.Plus(cost)},
		},
		{
			"two sessions",
			[]event.Record{stop("a", verdict("supervisor", "completed", cost)), stop("b", verdict("supervisor", "completed", cost))},
			ReviewsStatus{Reviews: 2, Sessions: 2, Cost: cost.Plus(cost)},
		},
		{
			"a verdict that was reused",
			[]event.Record{stop("a", verdict("supervisor", "completed", cost)), stop("a", event.Verdict{Keeper: "supervisor", Status: "completed", Reused: true})},
			ReviewsStatus{Reviews: 1, Sessions: 1, Cost: cost},
		},
		{
			"a review whose cost nobody told",
			[]event.Record{stop("a", verdict("supervisor", "completed", event.Cost{}))},
			ReviewsStatus{Reviews: 1, Sessions: 1},
		},
		{
			"a review that cost something and came to nothing",
			[]event.Record{stop("a", verdict("supervisor", "unavailable", cost))},
			ReviewsStatus{Sessions: 1, Cost: cost},
		},
		{"none because of a limit", []event.Record{stop("a", verdict("supervisor", "limit_reached", event.Cost{}))}, ReviewsStatus{}},
		{"what another keeper cost", []event.Record{stop("a", verdict("gates", "passed", cost))}, ReviewsStatus{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got ReviewsStatus
			for i := range test.stops {
				got.Add(&test.stops[i])
			}
			if diff := cmp.Diff(test.want, got, cmpopts.IgnoreUnexported(ReviewsStatus{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}
