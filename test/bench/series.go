//go:build unix

package main

import (
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// series is what was measured of one program.
type series struct {
	times []time.Duration
	peak  float64 // the largest of its processes, in MB
}

func (s *series) add(took time.Duration, peak float64) {
	s.times = append(s.times, took)
	s.peak = max(s.peak, peak)
}

// median is the middle time, the upper one of two.
func (s *series) median() time.Duration {
	return slices.Sorted(slices.Values(s.times))[len(s.times)/2]
}

func (s *series) min() time.Duration { return slices.Min(s.times) }

// ratioTo is how many times as long as another's this median is.
func (s *series) ratioTo(other *series) float64 {
	return s.median().Seconds() / other.median().Seconds()
}

// peakMB is the memory of a process that has ended, or of the largest process
// that it waited for, where that was larger.
func peakMB(state *os.ProcessState) float64 {
	peak := float64(state.SysUsage().(*syscall.Rusage).Maxrss)
	if runtime.GOOS != "darwin" {
		peak *= 1 << 10
	}
	return peak / 1e6
}
