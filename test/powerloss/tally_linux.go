package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/stopgate/stopgate/test/powerloss/workload"
)

// tally counts over all images what was found of one part.
type tally struct {
	part    string
	images  int
	acked   int // operations whose presence was checked
	old     int // images without the operation that had begun
	fresh   int // images with it
	behind  int // images without the last of those that promise nothing
	refused int // lines and files that are not whole, and were refused

	lost, notWritten, damaged, failed int // images
}

// add counts what was found in one image, where that many operations were acknowledged.
func (t *tally) add(acked int, seen workload.Seen, err error) {
	t.images++
	t.acked += acked
	t.refused += seen.Refused
	switch {
	case errors.Is(err, workload.ErrLost):
		t.lost++
	case errors.Is(err, workload.ErrNotWritten):
		t.notWritten++
	case errors.Is(err, workload.ErrDamaged):
		t.damaged++
	case err != nil:
		t.failed++
	case seen.Last < acked:
		t.behind++
	case seen.Last == acked:
		t.old++
	default:
		t.fresh++
	}
}

// print writes a table.
func print(out io.Writer, tallies []*tally) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "file\timages\tacknowledged\told\tnew\tbehind\trefused\tlost\tnot written\tdamaged\tfailed")
	for _, t := range tallies {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n",
			t.part, t.images, t.acked, t.old, t.fresh, t.behind, t.refused, t.lost, t.notWritten, t.damaged, t.failed)
	}
	return w.Flush()
}
