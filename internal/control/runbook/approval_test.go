package runbook

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestApprovals(t *testing.T) {
	const head = "[command.c]\nrun = { pipeline = \"p\" }\n[pipeline.p]\n[[pipeline.p.step]]\nname = \"ok\"\n"
	book, faults := Parse("x.toml", []byte(head+"approval = { title = \"Go on?\" }\n"), noFile)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	want := &Approval{Title: "Go on?", Options: []ApprovalOption{{Name: "approve"}, {Name: "reject", Fail: true}}}
	if d := cmp.Diff(want, book.Pipelines["p"].Steps[0].Approval); d != "" {
		t.Error(d)
	}
	_, faults = Parse("x.hcl", []byte("command \"c\" {\n  run = { pipeline = \"p\" }\n}\npipeline \"p\" {\n  step \"ok\" {\n    approval = { title = \"Go on?\", options = [{ name = \"yes\" }] }\n  }\n}\n"), noFile)
	if len(faults) > 0 {
		t.Error(faults)
	}
	for text, want := range map[string]string{
		"": "a step needs run, uses, parallel or approval",
		"run = \"x\"\napproval = { title = \"t\" }": "run and approval cannot be combined",
		"approval = {}":         "title is missing",
		"approval = \"Go on?\"": "approval must be a table",
		"approval = { title = \"t\", options = [{ name = \"a\", step = \"b\" }] }":               "there is no step \"b\"",
		"approval = { title = \"t\", options = [{ name = \"a\", step = \"ok\", fail = true }] }": "only one is possible",
		"approval = { title = \"t\", options = [{ name = \"a\" }, { name = \"a\" }] }":           "duplicate option \"a\"",
		"approval = { title = \"t\", options = [{ name = \"cancel\" }] }":                        "cannot be called \"cancel\"",
		"approval = { title = \"t\", options = [{ nam = \"a\" }] }":                              "unknown field \"nam\"",
		"approval = { title = \"t\", expire = { after = \"1h\", answer = \"yes\" } }":            "there is no option \"yes\"",
		"approval = { title = \"t\", expire = { after = \"1h\" } }":                              "answer is missing",
		"approval = { title = \"${steps.none.error}\" }":                                         "there is no step \"none\"",
		"approval = { title = \"${var.none}\" }":                                                 "has no value",
	} {
		_, faults := Parse("x.toml", []byte(head+text+"\n"), noFile)
		if len(faults) == 0 || !strings.Contains(faults.Error(), want) {
			t.Errorf("%s\ngot %v\nwant %s", text, faults, want)
		}
	}
}
