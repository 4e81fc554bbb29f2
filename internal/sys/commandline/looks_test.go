package commandline

import "testing"

func TestLooks(t *testing.T) {
	for line, want := range map[string]bool{
		"ls ../other": true,
		"cat ../other/f | head -3; wc -l ../other/f": true,
		"git -C ../other log --oneline -3":           true,
		"git --no-pager -C ../other diff && pwd":     true,
		"grep -rn x ../other 2>/dev/null":            true,
		"diff f ../other/f 2>&1 | tail":              true,
		"find ../other -name '*.go' -newer f":        true,
		"sed -n '1,20p' ../other/f":                  true,
		"rg -n x ../other":                           true,
		"git branch --show-current; git remote -v":   true,
		"git worktree list | sort -r | uniq -c":      true,
		"date +%s && echo done >&2":                  true,
		"grep x f > /dev/null":                       true,
		"date --set now":                             false,
		"find . -fls red":                            false,
		"find . -fprintf red x":                      false,
		"find . -okdir rm {} ;":                      false,
		"rg --hostname-bin=./touch x ../other":       false,
		"sed -n 5p":                                  false,
		"git -C":                                     false,
		"git branch red":                             false,
		"git worktree list --porcelain add ../red":   false,
		"sort -o ../other/red f":                     false,
		"sort f -uo ../other/red":                    false,
		"uniq f ../other/red":                        false,
		"date -s now":                                false,
		"sed -n '1,5p' f -i":                         false,
		"git grep -Otouch x":                         false,
		"git grep --open-files-in-pager=touch x":     false,
		"rg --pre ./touch x ../other":                false,
		"":                                           false,
		"cd ../other":                                false,
		"cd ../other && git log":                     false,
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
		if got := Looks(line); got != want {
			t.Errorf("%s: %t", line, got)
		}
	}
	if !Looks("cd ../other && git log", "cd") || Looks("cd ../other && make", "cd") {
		t.Error("another command that the caller allows")
	}
}
