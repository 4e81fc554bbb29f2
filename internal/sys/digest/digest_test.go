package digest

import "testing"

func TestHex(t *testing.T) {
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // FIPS 180-2
	if Hex("abc") != abc || Hex([]byte("abc")) != abc {
		t.Errorf("%s, %s", Hex("abc"), Hex([]byte("abc")))
	}
}
