package top

import (
	"fmt"
	"testing"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// BenchmarkUpdate is an event and the drawing after it, with few and with as many rows as are kept.
func BenchmarkUpdate(b *testing.B) {
	for _, n := range []int{20, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := after(beginning(200, 60), Up{many(n)})
			o := s.World.Owners[fmt.Sprintf("%016x", 3)]
			for b.Loop() {
				s, _ = Next(s, Changed{[]daemonapi.Owner{o}})
				Screen(&s)
			}
		})
	}
}
