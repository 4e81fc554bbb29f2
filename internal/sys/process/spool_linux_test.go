package process

import (
	"bytes"
	"os"
	"testing"
)

func TestSpool(t *testing.T) {
	spool, err := os.CreateTemp(t.TempDir(), "")
	check(t, err)
	defer spool.Close()
	out := &firstLine{done: make(chan struct{})}
	c := shell(t, "echo aside >&2; echo answer; exec sleep 300")
	c.Stdout, c.Spool, c.Enough = out, spool, out.done
	if r := run(t, c); out.String() != "answer\n" || r.Tail != "aside" {
		t.Errorf("%q, %+v", out.String(), r)
	}
}

// What a command wrote last is there too, whatever it does next.
func TestSpoolIsReadToItsEnd(t *testing.T) {
	spool, err := os.CreateTemp(t.TempDir(), "")
	check(t, err)
	defer spool.Close()
	var out bytes.Buffer
	c := shell(t, "head -c 3000000 /dev/zero; echo end; kill -9 $$")
	c.Stdout, c.Spool = &out, spool
	if r := run(t, c); out.Len() != 3000004 || !bytes.HasSuffix(out.Bytes(), []byte("end\n")) || r.Code != -1 {
		t.Errorf("%d bytes, %+v", out.Len(), r)
	}
}
