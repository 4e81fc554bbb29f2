//go:build unix

package main

import (
	"context"
	"fmt"
)

// agentMemory measures what a daemon needs for each agent at work.
func agentMemory(ctx context.Context, l *lab, r *report) error {
	const limit, agents = 20, 10_000
	var heap, resident [2]uint64
	for i, n := range []int{0, agents} {
		m, err := l.managed(ctx, fmt.Sprintf("memory-%d", n), n)
		if err != nil {
			return err
		}
		heap[i], resident[i], err = m.memory()
		m.kill()
		if err != nil {
			return err
		}
	}
	each := func(of [2]uint64) float64 { return float64(of[1]-min(of[0], of[1])) / agents / 1e3 }
	r.table("**Memory for 10,000 agents at work**, beyond that of a daemon without any")
	r.measure("values and stacks after a collection", figure{each(heap), "kB for each", limit})
	r.measure("pages in memory", figure{each(resident), "kB for each", 0})
	return nil
}

// measure is a row about something that takes no time.
func (r *report) measure(name string, f figure) {
	fmt.Fprintf(r.to, "| %s | | | %.2f %s | %s\n", name, f.value, f.unit, r.judge(f))
}
