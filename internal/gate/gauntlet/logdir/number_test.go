package logdir

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
)

func TestNextRun(t *testing.T) {
	tests := []struct {
		name  string
		files []string
		want  int
	}{
		{"no logs", nil, 1},
		{"all kinds count", []string{"console.1.log", "check_._a.4.log", "review_._b_claude@1.3.json"}, 5},
		{"foreign ones too", []string{"x.7.json"}, 8},
		{"as numbers, not as text", []string{"console.9.log", "console.10.log"}, 11},
		{"no number", []string{"console.log", "a.b.log", "a.1.txt", "a.1.log.bak", "12.log", "x.-5.log", "x.1e3.log"}, 1},
		{"a number beyond all runs", []string{"x.99999999999999999999.log", "x.9223372036854775807.log", "console.2.log"}, 3},
		{"the archive does not count", []string{"previous/console.9.log"}, 1},
		{"only the last number", []string{"check_v1.2_a.3.log"}, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := tempDir(t)
			for _, name := range tt.files {
				write(t, d.file(name), "")
			}
			if got, err := d.NextRun(); got != tt.want || err != nil {
				t.Errorf("got %d, %v; want %d", got, err, tt.want)
			}
		})
	}
}

func TestConsole(t *testing.T) {
	d := tempDir(t)
	for want := 1; want <= 3; want++ {
		file, n, err := d.Console()
		check(t, err)
		if n != want || filepath.Base(file.Name()) != fmt.Sprintf("console.%d.log", want) {
			t.Errorf("run %d is %d in %s", want, n, file.Name())
		}
		check(t, file.Close())
	}
	write(t, d.file("blocked"), "")
	if _, _, err := At(d.file("blocked")).Console(); err == nil {
		t.Error("a file in place of the directory: want an error")
	}
}

func TestConsolesOfRunsAtOnceAreDifferent(t *testing.T) {
	d := tempDir(t)
	var numbers sync.Map
	var group sync.WaitGroup
	for range 30 {
		group.Go(func() {
			file, n, err := d.Console()
			if err != nil {
				t.Error(err)
				return
			}
			file.Close()
			if _, taken := numbers.LoadOrStore(n, true); taken {
				t.Errorf("%d was given twice", n)
			}
		})
	}
	group.Wait()
}
