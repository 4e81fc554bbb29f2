// Package seedtest gives tests random numbers that can be had again.
package seedtest

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Variable names the seed to use; without it every run has another one.
const Variable = "STOPGATE_SEED"

// New is a source of random numbers for one test, which prints its seed. It is not for use
// by several goroutines.
func New(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(Seed(t), 0))
}

// Seed is the seed of one test, which prints it.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv(Variable); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", Variable, err)
		}
	}

	t.Logf("%s=%d repeats this run", Variable, seed)
	return seed
}
