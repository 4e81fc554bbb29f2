package footprint

import "testing"

func TestActing(t *testing.T) {
	for line, want := range map[string]bool{
		"ls ../other": true,
		"cat ../other/f | head -3; wc -l ../other/f": true,
		"git -C ../other log --oneline -3":           true,
		"git --no-pager -C ../other diff && pwd":     true,
		"grep -rn x ../other 2>/dev/null":            true,
		"diff f ../other/f 2>&1 | tail":              true,
		"find ../other -name '*.go' -newer f":        true,
		"sed -n '1,20p' ../other/f":                  true,
		"":                                           true,
		"cp ../other/.env .":                         true,
		"ln -s ../other/modules mod":                 true,
		"cp f ../other":                              false,
		"cp f ~/other":                               false,
		"cp -t ../other f":                           false,
		"cp -rt ../other f":                          false,
		"cp --target-directory=../other f":           false,
		"cp f ../other/ -v":                          false,
		"cp -r ../other/docs .":                      true,
		"cp f /elsewhere/other/f":                    false,
		"cd ../other":                                false,
		"cd ../other && git log":                     true,
		"cd ../other && git log && touch red":        false,
		"ls ../other && touch ../other/red":          false,
		"cat f > ../other/red":                       false,
		"echo x >> ../other/red":                     false,
		"cat f | tee ../other/red":                   false,
		"cat <<EOF | sh\ntouch ../other/red\nEOF":    false,
		"cat $(touch ../other/red)":                  false,
		"X=1 touch ../other/red":                     false,
		"find ../other -name '*.go' -delete":         false,
		"find ../other -name f -execdir rm {} ;":     false,
		"sed -i s/a/b/ ../other/f":                   false,
		"sed -n -i p ../other/f":                     false,
		"sed -n 1p -i ../other/f":                    false,
		"sed -n 'w ../other/red' f":                  false,
		"git":                                        false,
		"git -C ../other":                            false,
		"git -C ../other commit -am wip":             false,
		"git -C ../other -c core.editor=x log":       false,
		"git -C ../other diff --output=../other/red": false,
		"git --git-dir ../other/.git checkout -- f":  false,
		"sh ../other/run; ls":                        false,
		"python3 -c 'open(\"../other/red\", \"w\")'": false,
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
