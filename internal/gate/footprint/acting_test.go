package footprint

import "testing"

// Which commands read only is the test of package commandline.
func TestActing(t *testing.T) {
	for line, want := range map[string]bool{
		"ls ../other": true,
		"cat ../other/f | head -3; wc -l ../other/f": true,
		"":                                        true,
		"cp ../other/.env .":                      true,
		"ln -s ../other/modules mod":              true,
		"cp f ../other":                           false,
		"cp f ~/other":                            false,
		"cp -t ../other f":                        false,
		"cp -rt ../other f":                       false,
		"cp --target-directory=../other f":        false,
		"cp f ../other/ -v":                       false,
		"cp -r ../other/docs .":                   true,
		"cp f /elsewhere/other/f":                 false,
		"cd ../other":                             false,
		"cd ../other && git log":                  true,
		"cd ../other && git log && touch red":     false,
		"ls ../other && touch ../other/red":       false,
		"echo x >> ../other/red":                  false,
		"cat f | tee ../other/red":                false,
		"cat <<EOF | sh\ntouch ../other/red\nEOF": false,
		"X=1 touch ../other/red":                  false,
		"sh ../other/run; ls":                     false,
	} {
		if got := Acting(line) == ""; got != want {
			t.Errorf("%s: %t", line, got)
		}
	}
	for line, want := range map[string]string{
		"cp ../main/.env . && ls ../other; npm install":    "npm install",
		"cat ../other/f && cd \"../my other\" && make":     "cd ../my other\nmake",
		"find ../other -name '*.go' | xargs sed -i s/a/b/": "find ../other -name '*.go' | xargs sed -i s/a/b/",
		"cat ../other/f; make > log":                       "cat ../other/f; make > log",
	} {
		if got := Acting(line); got != want {
			t.Errorf("%s: %q", line, got)
		}
	}
}
