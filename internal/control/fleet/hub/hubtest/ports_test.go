package hubtest

import "testing"

func TestNoPortIsGivenTwice(t *testing.T) {
	given := map[int]bool{}
	for range 500 { // some of them would be the same otherwise
		port := Port(t)
		if given[port] {
			t.Fatalf("%d is given twice", port)
		}
		given[port] = true
	}
	if port := Port(t); claim(t, port) {
		t.Error("another process would get it, too")
	}
}

func TestAPortIsFreeAgainAfterTheTest(t *testing.T) {
	var port int
	t.Run("of a test", func(t *testing.T) { port = Port(t) })
	if !claim(t, port) {
		t.Error("it is still taken")
	}
}
