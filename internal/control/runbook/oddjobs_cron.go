package runbook

import (
	"fmt"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/project/document"
)

// oddCrons makes schedules of pipelines of the crons of oddjobs, which start a pipeline after an interval. A
// schedule has times of the clock, so an interval that those cannot express stays, and is refused. So does
// a cron that starts anything but a pipeline of this file.
func (d *decoder) oddCrons(tree *node) {
	for _, word := range []string{"cron", "crons"} {
		group := tree.get(word)
		if group == nil {
			continue
		}
		for _, e := range slices.Clone(group.node.entries) {
			if d.oddCron(tree, e) {
				group.node.remove(e.key)
			}
		}
		if len(group.node.entries) == 0 {
			tree.remove(word)
		}
	}
}

// oddCron gives the pipeline of a cron its schedule, where that can be.
func (d *decoder) oddCron(tree *node, cron entry) (done bool) {
	interval, run := cron.node.get("interval"), cron.node.get("run")
	other := func(e entry) bool { return !slices.Contains([]string{"interval", "run", "concurrency"}, e.key) }
	if interval == nil || run == nil || slices.ContainsFunc(cron.node.entries, other) {
		return false
	}
	times, pipeline := clockTimes(interval.node.text), oddPipeline(tree, run.node)
	if times == "" || pipeline == nil || pipeline.get("schedule") != nil {
		return false
	}

	at := interval.node.at
	d.put(pipeline, entry{"schedule", at, &node{kind: document.Text, at: at, text: times}})
	d.warn(at, fmt.Sprintf("cron %s starts its pipeline at times of the clock: %s", quote(cron.key), times),
		"turn it on: stopgate schedule on; a start does not wait for the one before, unless the pipeline has concurrency")
	return true
}

// oddPipeline is the pipeline of this file that a cron runs.
func oddPipeline(tree, run *node) *node {
	for _, word := range []string{"pipeline", "job"} {
		name := run.get(word)
		if name == nil || len(run.entries) != 1 {
			continue
		}
		for _, kind := range []string{"pipeline", "pipelines", "job", "jobs"} {
			if group := tree.get(kind); group != nil {
				if p := group.node.get(name.node.text); p != nil && p.node.kind == document.Mapping {
					return p.node
				}
			}
		}
	}
	return nil
}

// clockTimes are the five fields of an interval that divides an hour, a day or a week; empty for any other.
func clockTimes(interval string) string {
	every, err := time.ParseDuration(oddDuration(interval))
	if err != nil || every < time.Minute || every%time.Minute != 0 {
		return ""
	}
	minutes := int(every / time.Minute)
	switch hours := minutes / 60; {
	case minutes == 1:
		return "* * * * *"
	case minutes < 60 && 60%minutes == 0:
		return fmt.Sprintf("*/%d * * * *", minutes)
	case minutes == 60:
		return "0 * * * *"
	case minutes%60 == 0 && hours < 24 && 24%hours == 0:
		return fmt.Sprintf("0 */%d * * *", hours)
	case minutes == 24*60:
		return "0 0 * * *"
	case minutes == 7*24*60:
		return "0 0 * * 0"
	}
	return ""
}
