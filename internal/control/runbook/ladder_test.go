package runbook

import (
	"fmt"
	"strings"
	"testing"
)

// A runbook in which each thing leads to two that meet again has more ways through it than can be
// walked. It is checked all the same.
func TestLaddersAreChecked(t *testing.T) {
	const rungs = 60
	var needs, uses strings.Builder
	needs.WriteString("[command.all]\nrun = { pipeline = \"all\" }\n[pipeline.all]\n")
	step := func(name, needed, run string) {
		fmt.Fprintf(&needs, "[[pipeline.all.step]]\nname = %q\nrun = '%s'\n", name, run)
		if needed != "" {
			fmt.Fprintf(&needs, "needs = [%s]\n", needed)
		}
	}
	step("l0", "", "true")
	step("r0", "", "true")
	for i := 1; i < rungs; i++ {
		below := fmt.Sprintf(`"l%d", "r%d"`, i-1, i-1)
		step(fmt.Sprintf("l%d", i), below, "true")
		step(fmt.Sprintf("r%d", i), below, "true")
	}
	step("beside", `"l0"`, "true")
	step("top", fmt.Sprintf(`"l%d", "r%d"`, rungs-1, rungs-1), `echo "${steps.beside.output.x}"`)

	uses.WriteString("[command.all]\nrun = { pipeline = \"p0\" }\n")
	for i := range rungs {
		for _, name := range []string{"a", "b"} {
			fmt.Fprintf(&uses, "[[pipeline.p%d.step]]\nname = %q\nuses = \"p%d\"\n", i, name, i+1)
			if name == "a" {
				uses.WriteString("on_done = \"b\"\n")
			}
		}
	}
	fmt.Fprintf(&uses, "[[pipeline.p%d.step]]\nname = \"a\"\nrun = \"true\"\n", rungs)

	_, faults := Parse("book.toml", []byte(needs.String()), noFile)
	if len(faults) != 1 || !strings.Contains(faults[0].Message, `branch "beside" runs at the same time`) {
		t.Errorf("%v", faults)
	}
	if _, faults := Parse("book.toml", []byte(uses.String()), noFile); len(faults) != 0 {
		t.Errorf("%v", faults)
	}
}
