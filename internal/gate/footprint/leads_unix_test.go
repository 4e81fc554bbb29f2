//go:build unix

package footprint

import (
	"errors"
	"os"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/paths"
)

func TestLeads(t *testing.T) {
	dir := paths.Canonical(t.TempDir())
	if err := errors.Join(os.Mkdir(dir+"/work", 0o700), os.Symlink("work", dir+"/link")); err != nil {
		t.Fatal(err)
	}
	top, stands := dir+"/work/other", []string{dir + "/work/project"}
	for command, want := range map[string]bool{
		`touch ../other/red`:                         true,
		`cd ../other && make`:                        true,
		`git -C ../other add -A`:                     true,
		`npm --prefix=../other run gen`:              true,
		`cd lib && touch ../../other/red`:            true,
		`touch ../../work/other/red`:                 true,
		`touch ` + dir + `/work/other/red`:           true,
		`touch ` + dir + `/link/other/red`:           true,
		`touch ~/work/other/red`:                     true,
		`touch $HOME/work/other/red`:                 true,
		`touch ${WORK}/other/red`:                    true,
		`cd "$(dirname "$PWD")"/other`:               true,
		`cd $(dirname $PWD)/other`:                   true,
		`cd "$DIR"/other`:                            true,
		"make\ncd ../other":                          true,
		"make\n../other/run":                         true,
		"make\n" + dir + "/work/other/run":           true,
		`for d in ../*/other; do touch $d/red; done`: true,
		`cd ../"other"`:                              true,
		`cd "../oth"er && touch red`:                 true,
		`cd "` + dir + `"/'work/other'`:              true,
		`make -C../other`:                            true,
		`make -C"../other" all`:                      true,
		`make --directory="../other"`:                true,
		`curl -d @../other/f localhost`:              true,
		`cd ~/other`:                                 true,
		`cd "$HOME"/other`:                           true,
		`cd ${HOME}/work/other`:                      true,
		"cat >../other/f <<EOF\nred\nEOF":            true,
		"touch ../ot\\\nher/red":                     true,
		`touch -- .././other//red`:                   true,
		`touch other/red`:                            false,
		`cd other`:                                   false,
		`cat ./other/f`:                              false,
		`cat work/other/f`:                           false,
		`cat src/other/f`:                            false,
		`cat ../src/other/f`:                         false,
		`cat $HOME/src/other/f`:                      false,
		`cat /elsewhere/other/f`:                     false,
		`curl localhost/other`:                       false,
		`curl "/other"`:                              false,
		`curl /other`:                                false,
		"make\n/other/run":                           false,
		`git clone https://host/work/other.git`:      false,
		`cat ../other.txt`:                           false,
		`cat t../other/f`:                            false,
		`cat ../another/f`:                           false,
	} {
		if got := Leads(command, top, stands); got != want {
			t.Errorf("%s: %t", command, got)
		}
	}

	for _, tt := range []struct {
		top, command string
		want         bool
	}{
		{"elsewhere/other", "cat ../other/f", false}, // whatever is beside the project, it is not this one
		{"elsewhere/other", "cd lib && cat ../../other/f", false},
		{"elsewhere/other", "cat ../../elsewhere/other/f", true},
		{"elsewhere/other", "cd lib && cat ../../../elsewhere/other/f", true},
		{"other", "cd lib && cat ../other/f", false},
		{"other", "cd lib && cat ../../../other/f", true},
		{"work/.x/other", "cd lib && cat ../../.x/other/f", true},
		{"work/my other", `cd ../my\ other && touch red`, true},
		{"work/my other", `cd "../my other"`, true},
		{"work/my other", `cd ../other`, false},
		{"my work/other", `cd '../../my work/other'`, true},
		{"my work/other", `cd "` + dir + `/my work/other"`, true},
		{"my work/other", `make -C"` + dir + `/my work/other"`, true},
		{"my work/other", `cd "../my work/other"`, false},
		{"my work/other", `cd "/x` + dir + `/my work/other"`, false},
		{"a=b,c/other", "touch ../../a=b,c/other/red", true},
		{"a=b,c/other", "touch " + dir + "/a=b,c/other/red", true},
		{"a=b,c/other", "touch /x" + dir + "/a=b,c/other/red", false},

		// The project is in it, as a worktree may be.
		{"work", "touch ../../work/red", true},
		{"work", "touch " + dir + "/work/red", true},
		{"work", "touch " + dir + "/work/project/red", false},
		{"work", "cat " + dir + "/work/project", false},
		{"work", "cat " + dir + "/work/project-2/f", true},
	} {
		if got := Leads(tt.command, dir+"/"+tt.top, stands); got != tt.want {
			t.Errorf("%s of %s: %t", tt.command, tt.top, got)
		}
	}

	if linked := []string{dir + "/link"}; !Leads("cd lib && touch ../other/red", top, linked) {
		t.Error("from where a link leads to")
	}

	for _, command := range []string{"cd /other", `cd "/other"`, "make\n/other/run"} {
		if !Leads(command, "/other", stands) {
			t.Errorf("%s, in the root", command)
		}
	}
}
