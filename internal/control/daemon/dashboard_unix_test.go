//go:build unix

package daemon

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
)

const (
	dashboardFile = "../../../examples/grafana/stopgate.json"
	guideFile     = "../../../docs/guides/metrics.md"
)

// dashboard is what matters here of Grafana's format.
type dashboard struct {
	Panels []struct {
		ID      int
		Type    string
		Title   string
		Targets []struct{ Expr, LegendFormat string }
		GridPos struct{ H, W, X, Y int }
	}
	Templating struct {
		List []struct {
			Name       string
			Type       string
			Definition string
		}
	}
}

// Every expression of the dashboard is about metrics and labels that a real daemon has.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile(dashboardFile)
	check(t, err)
	var d dashboard
	check(t, json.Unmarshal(text, &d))
	r, _ := aDay(t, "")
	known := seriesOf(r.scrape(t))

	expressions := 0
	ids := map[int]bool{}
	for _, p := range d.Panels {
		if ids[p.ID] {
			t.Errorf("two panels have the id %d", p.ID)
		}
		ids[p.ID] = true
		if p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("%s is wider than the page", p.Title)
		}
		if (p.Type == "row") != (len(p.Targets) == 0) {
			t.Errorf("%s has %d expressions", p.Title, len(p.Targets))
		}
		for _, target := range p.Targets {
			expressions++
			for _, fault := range known.check(target.Expr, target.LegendFormat) {
				t.Errorf("%s: %s\n%s", p.Title, fault, target.Expr)
			}
		}
	}
	if expressions < 20 {
		t.Errorf("%d expressions", expressions)
	}
	var variables []string
	for _, v := range d.Templating.List {
		variables = append(variables, v.Name)
		if v.Type == "query" {
			found := regexp.MustCompile(`^label_values\((\w+), (\w+)\)$`).FindStringSubmatch(v.Definition)
			if found == nil || known[found[1]] == nil || !known[found[1]][found[2]] {
				t.Errorf("the variable %s: %s", v.Name, v.Definition)
			}
		}
	}
	for _, used := range regexp.MustCompile(`\$\{?(\w+)`).FindAllStringSubmatch(string(text), -1) {
		if name := used[1]; !strings.HasPrefix(name, "__") && !slices.Contains(variables, name) {
			t.Errorf("there is no variable $%s", name)
		}
	}
}

// What is wrong with an expression is found.
func TestDashboardFaults(t *testing.T) {
	known := series{"a_total": {"x": true, "job": true}, "h_bucket": {"le": true}}
	for expr, want := range map[string]string{
		`sum by (x) (rate(a_total{job=~"$job", x!="b_total"}[$__rate_interval])) / 2e3`: "",
		`histogram_quantile(0.95, sum by (le) (rate(h_bucket[5m])))`:                    "",
		`a_total{x="}"} offset 5m and on (x) a_total`:                                   "",
		`rate(b_total[5m])`:            "no metric b_total",
		`a_total{y="1"}`:               "a_total has no label y",
		`sum by (y) (a_total)`:         "no metric here has the label y",
		`sum without (x, z) (a_total)`: "no metric here has the label z",
		`sum(a_total) by (w)`:          "no metric here has the label w",
		`1 + 2`:                        "no metric at all",
	} {
		if got := strings.Join(known.check(expr, ""), "; "); got != want {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
	if got := known.check(`sum by (x) (a_total)`, "{{x}} {{job}}"); len(got) != 1 || got[0] != "the legend's job is not in the result" {
		t.Errorf("%q", got)
	}
}

// series are the labels of metrics, by the names that expressions use.
type series map[string]map[string]bool

// seriesOf are the series of a scrape, with what Prometheus adds.
func seriesOf(s scraped) series {
	known := series{}
	for name, family := range s {
		names := []string{name}
		if family.GetType() == dto.MetricType_HISTOGRAM {
			names = []string{name + "_bucket", name + "_sum", name + "_count"}
		}
		for _, n := range names {
			known[n] = map[string]bool{"job": true, "instance": true}
			for _, m := range family.GetMetric() {
				for _, l := range m.GetLabel() {
					known[n][l.GetName()] = true
				}
			}
		}
		if family.GetType() == dto.MetricType_HISTOGRAM {
			known[name+"_bucket"]["le"] = true
		}
	}
	return known
}

// promTokens are the tokens of PromQL that matter: texts, durations, numbers, words and punctuation.
var promTokens = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|` + "`[^`]*`" + `|\$\{?\w+\}?|\d[\w.]*|[A-Za-z_:][\w:]*|\S`)

// promWords are those of PromQL's words that no parenthesis need follow.
var promWords = strings.Fields("sum avg min max count topk bottomk quantile stddev stdvar group count_values and or unless bool offset inf nan")

// promGroupings are followed by a list of labels.
var promGroupings = strings.Fields("by without on ignoring group_left group_right")

// check is what is wrong with an expression and the legend of what it gives.
func (known series) check(expr, legend string) (faults []string) {
	tokens := promTokens.FindAllString(expr, -1)
	at := func(i int) string {
		if i < len(tokens) {
			return tokens[i]
		}
		return ""
	}
	isWord := func(token string) bool { return regexp.MustCompile(`^[A-Za-z_:]`).MatchString(token) }
	var used, grouped []string
	for i := 0; i < len(tokens); i++ {
		switch token := tokens[i]; {
		case slices.Contains(promGroupings, token) && at(i+1) == "(":
			for i += 2; at(i) != ")" && i < len(tokens); i++ {
				if isWord(tokens[i]) {
					grouped = append(grouped, tokens[i])
				}
			}
		case token == "[":
			for at(i) != "]" && i < len(tokens) {
				i++
			}
		case !isWord(token) || slices.Contains(promWords, token) || at(i+1) == "(":
		default:
			used = append(used, token)
			if known[token] == nil {
				faults = append(faults, "no metric "+token)
			}
			if at(i+1) != "{" {
				continue
			}
			for i += 2; at(i) != "}" && i < len(tokens); i++ {
				if isWord(tokens[i]) && known[token] != nil && !known[token][tokens[i]] {
					faults = append(faults, fmt.Sprintf("%s has no label %s", token, tokens[i]))
				}
			}
		}
	}
	if len(used) == 0 {
		faults = append(faults, "no metric at all")
	}
	for _, label := range grouped {
		if !slices.ContainsFunc(used, func(metric string) bool { return known[metric][label] }) {
			faults = append(faults, "no metric here has the label "+label)
		}
	}
	return append(faults, known.checkLegend(legend, used, grouped)...)
}

// checkLegend is what is wrong with a legend: labels that an expression with groups does not leave.
func (known series) checkLegend(legend string, used, grouped []string) (faults []string) {
	for _, label := range regexp.MustCompile(`\{\{(\w+)\}\}`).FindAllStringSubmatch(legend, -1) {
		plain := len(grouped) == 0 && slices.ContainsFunc(used, func(metric string) bool { return known[metric][label[1]] })
		if !plain && !slices.Contains(grouped, label[1]) {
			faults = append(faults, "the legend's "+label[1]+" is not in the result")
		}
	}
	return faults
}

// The guide lists every metric of ours with its labels, and no other.
func TestGuideListsEveryMetric(t *testing.T) {
	r, _ := aDay(t, "")
	want := map[string]string{}
	for name, family := range r.scrape(t) {
		if !strings.HasPrefix(name, "stopgate_") {
			continue
		}
		labels := map[string]bool{}
		for _, m := range family.GetMetric() {
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = true
			}
		}
		want[name] = strings.Join(slices.Sorted(maps.Keys(labels)), ", ")
	}
	page, err := os.ReadFile(guideFile)
	check(t, err)
	got := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(stopgate_\\w+)` \\|([^|]*)\\|").FindAllStringSubmatch(string(page), -1) {
		labels := strings.FieldsFunc(row[2], func(c rune) bool { return strings.ContainsRune("`, ", c) })
		slices.Sort(labels)
		got[row[1]] = strings.Join(labels, ", ")
	}
	for name, labels := range want {
		if listed, there := got[name]; !there || listed != labels {
			t.Errorf("%s has the labels %q; the guide says %q (%t)", name, labels, listed, there)
		}
	}
	for name := range got {
		if _, there := want[name]; !there {
			t.Errorf("there is no %s", name)
		}
	}
}
