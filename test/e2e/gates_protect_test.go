//go:build unix

package e2e

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/test/claudeapi"
)

// guarded protects the tests of a project whose gate is green.
const guarded = "protect: ['**/*_test.go']\n"

// skipATest makes a red test green.
var skipATest = bash(`echo 'func TestA(t *testing.T) { t.Skip() }' >> a_test.go`)

func TestE20AProtectedFileIsToldOrBlocks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		config string
		agent  []claudeapi.Answer
		want   []string
	}{
		"ask": {guarded, []claudeapi.Answer{skipATest, claudeapi.Text("Finished.")}, []string{"allow gates:passed protect:asks"}},
		"block, and the agent insists": {
			guarded + "protect_mode: block\n",
			[]claudeapi.Answer{skipATest, claudeapi.Text("Finished."), claudeapi.Text("It has to be.")},
			[]string{"block gates:passed protect:touched", "allow gates:unchanged protect:needs_person"},
		},
		"block, and the agent reverts": {
			guarded + "protect_mode: block\n",
			[]claudeapi.Answer{skipATest, claudeapi.Text("Finished."), bash("git checkout -q a_test.go"), claudeapi.Text("Reverted.")},
			[]string{"block gates:passed protect:touched", "allow gates:passed protect:untouched"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Write("a_test.go", "package a\n")
			b.Gates(oneCheck("true", verifying, tt.config))
			b.API.Script(tt.agent...)
			b.Run("make the tests green")
			b.wantAnswers("Stop", tt.want...)
			if told := b.feedback(); len(told) != len(tt.want)-1 || len(told) > 0 && !strings.Contains(told[0], "a_test.go") {
				t.Errorf("the agent was told %q", told)
			}
		})
	}
}

// In a pipeline a person decides, whatever the mode: complete does not complete the step.
func TestE20APipelineAsksAboutProtectedFiles(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"ask", "block"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			m := newManaged(t, pipeline(""))
			m.Allow("Bash")
			m.Write("a_test.go", "package a\n")
			m.Write(".gauntlet/config.yml", oneCheck("true", verifying, guarded+"protect_mode: "+mode+"\n"))
			m.Stopgate("trust", "--yes").mustPass(t)
			m.Commit()
			m.API.Script(skipATest, bash("stopgate emit agent:signal --agent $STOPGATE_AGENT_ID complete"), claudeapi.Always(claudeapi.Text("I am finished.")))
			o := m.Go()
			d := m.asks(o.ID, "signal")
			if !strings.Contains(d.Context, "a_test.go") || !strings.Contains(d.Context, "skip") {
				t.Errorf("asked: %s", d.Context)
			}
			m.answers(d, "done")
			m.done(o.ID)
		})
	}
}
