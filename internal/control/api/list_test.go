package api

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// manyOwners is a plane with so many pipelines, the newest first.
type manyOwners struct {
	fakePlane
	n int
}

func (p *manyOwners) Owners(_ context.Context, q *Query) (Page[daemonapi.Owner], error) {
	p.called("owners %s", asked(&Query{Limit: q.Limit}))
	all := func(yield func(daemonapi.Owner) bool) {
		for i := range p.n {
			if !yield(daemonapi.Owner{ID: fmt.Sprintf("%04x", i), Kind: "pipeline", Created: when.Add(-time.Duration(i/3) * time.Second)}) {
				return
			}
		}
	}
	return PageOf(all, func(o daemonapi.Owner) Place { return Place{o.Created, o.ID} }, q), nil
}

// get asks without a socket.
func get(t testing.TB, p Plane, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	New(p, "v1").ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w
}

// A page says where the next is, which has the same filters.
func TestPagesAreLinked(t *testing.T) {
	p := &manyOwners{n: 120}
	path, seen, sizes := "/v1/pipelines?status=done,failed&project=%2Fa%20b", 0, []int{}
	for path != "" {
		w := get(t, p, path)
		var page []daemonapi.Owner
		if w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		check(t, json.Unmarshal(w.Body.Bytes(), &page))
		for _, o := range page {
			if want := fmt.Sprintf("%04x", seen); o.ID != want {
				t.Fatalf("%s in the place of %s", o.ID, want)
			}
			seen++
		}
		sizes = append(sizes, len(page))
		link := w.Header().Get("Link")
		path = strings.TrimSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)
		if path == "" {
			break
		}
		next, err := url.Parse(path)
		check(t, err)
		if q := next.Query(); q.Get("status") != "done,failed" || q.Get("project") != "/a b" || q.Get("cursor") == "" {
			t.Errorf("the next page is %s", path)
		}
	}
	if !slices.Equal(sizes, []int{50, 50, 20}) {
		t.Errorf("pages of %v", sizes)
	}
}

// The history goes on before a position, and a stream begins now or after one.
func TestPositionsOfEvents(t *testing.T) {
	p := &fakePlane{}
	w := get(t, p, "/v1/events/history?type=step:failed,step:waiting&owner=aa&data=1&limit=7")
	if link := w.Header().Get("Link"); link != `</v1/events/history?before=40&data=1&limit=7&owner=aa&type=step%3Afailed%2Cstep%3Awaiting>; rel="next"` {
		t.Errorf("%s, %s", link, w.Body)
	}
	get(t, p, "/v1/events/history?before=40")
	p.events = func(context.Context, uint64) iter.Seq2[daemonapi.Event, error] {
		return func(func(daemonapi.Event, error) bool) {}
	}
	get(t, p, "/v1/events?after=now&project=/p")
	get(t, p, "/v1/events?after=12")
	want := []string{
		"history Owner=aa Types=[step:failed step:waiting] Data=true Limit=7 " + fmt.Sprint(uint64(Now)), "history  40",
		"events Project=/p " + fmt.Sprint(uint64(Now)), "events  12",
	}
	if diff := cmp.Diff(want, p.took()); diff != "" {
		t.Error(diff)
	}
	for _, query := range []string{"after=later", "after=-1", "type=Step", "type=a,,b", "cursor=x"} {
		if w := get(t, p, "/v1/events?"+query); w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d", query, w.Code)
		}
	}
}

func TestWrongQueriesOfLists(t *testing.T) {
	for query, says := range map[string]string{
		"limit=0":              "is not a number from 1 to 500",
		"limit=501":            "is not a number from 1 to 500",
		"limit=x":              "is not a number from 1 to 500",
		"cursor=x":             "is not a cursor",
		"cursor=MS4xLg":        "is not a cursor", // without an id
		"cursor=MDEuMS5h":      "is not a cursor", // not as we write it
		"since=yesterday":      "is not a time such as 2026-01-30T08:14:09Z",
		"until=2026-01-30":     "is not a time such as",
		"status=done,":         `"" is not one of queued, running, waiting`,
		"status=done,finished": `"finished" is not one of queued, running, waiting`,
		"project=here":         "is not an absolute path",
		"name=%ff":             "is not a name",
	} {
		w := get(t, &fakePlane{}, "/v1/pipelines?"+query)
		var f daemonapi.Failure
		check(t, json.Unmarshal(w.Body.Bytes(), &f))
		if w.Code != http.StatusBadRequest || f.Code != "invalid" || !strings.Contains(f.Error, says) {
			t.Errorf("%s: %d %+v", query, w.Code, f)
		}
	}
}

func TestQueriesOfLogs(t *testing.T) {
	p := &fakePlane{}
	w := get(t, p, "/v1/pipelines/aa/log?offset=7&limit=9&step=a%20b")
	if w.Code != http.StatusOK || w.Header().Get(LogOffset) != "7" || w.Header().Get(LogSize) != "1234" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	get(t, p, "/v1/runs/bb/log?tail=20&follow=1")
	want := []string{`owner "aa"`, `log "aa" false offset=7 limit=9 tail=0 step="a b"`, `owner "bb"`, `log "bb" true offset=0 limit=0 tail=20 step=""`}
	if diff := cmp.Diff(want, p.took()); diff != "" {
		t.Error(diff)
	}
	for _, query := range []string{"offset=-1", "offset=x", "limit=0", "tail=0", "tail=10001", "tail=1&offset=1", "tail=1&limit=1", "follow=1&limit=5"} {
		if w := get(t, p, "/v1/pipelines/aa/log?"+query); w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d", query, w.Code)
		}
	}
}

// Whatever the items and the size of pages, the pages together are all items in order.
func TestPageOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "n")
		var all []Place
		for i := range n {
			all = append(all, Place{when.Add(time.Duration(rapid.IntRange(0, 4).Draw(t, "time")) * time.Second), fmt.Sprint(i)})
		}
		want := slices.SortedFunc(slices.Values(all), Place.Compare)
		q := Query{Limit: rapid.IntRange(1, 45).Draw(t, "limit")}
		var got []Place
		for {
			page := PageOf(slices.Values(all), func(p Place) Place { return p }, &q)
			got = append(got, page.Items...)
			if page.Next == (Place{}) {
				break
			}
			if len(page.Items) != q.Limit {
				t.Fatalf("a page of %d", len(page.Items))
			}
			q.After = page.Next
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

// No cursor and no query makes the server do anything but answer, and each cursor that is taken is
// one of ours.
func FuzzCursor(f *testing.F) {
	f.Add(Place{when, "0123456789abcdef"}.Cursor())
	f.Add(Place{time.Unix(1<<48, 999_999_999), "a.b"}.Cursor())
	f.Add(Place{time.Unix(-1, 0), "ü\n"}.Cursor())
	f.Add("MDEuMS5h")
	f.Fuzz(func(t *testing.T, cursor string) {
		p, err := ParseCursor(cursor)
		if err == nil && (p.Cursor() != cursor || p == Place{}) {
			t.Errorf("%q is %+v, which is %q", cursor, p, p.Cursor())
		}
	})
}

func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"", "limit=7&status=done,failed&since=2026-01-30T08:14:09Z", "cursor=x", "a=%zz&;", "project=/%00", "status=,", "limit=1&limit=2", "name=%ff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		for _, route := range Routes() {
			query, err := parseQuery(raw, route.Query)
			if err != nil {
				continue
			}
			if q := (&request{query: query}).wanted(); q.Limit < 1 || q.Limit > maxLimit {
				t.Errorf("%q: a limit of %d", raw, q.Limit)
			}
		}
	})
}
