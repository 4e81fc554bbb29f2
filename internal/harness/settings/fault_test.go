package settings

import (
	"strings"
	"testing"
)

// Each defect was put to the client (2.1.197), alone, in a file with one good
// hook: with a fault here, that hook did not run; without, it did.
func TestFaultsAreWhatTheClientDropsAFileFor(t *testing.T) {
	const good = `"SessionStart":[{"hooks":[{"type":"command","command":"x","timeout":60}]}]`
	top := func(member string) string { return "{" + member + `,"hooks":{` + good + "}}" }
	event := func(member string) string { return `{"hooks":{` + member + "," + good + "}}" }
	hook := func(members string) string { return event(`"Stop":[{"hooks":[{` + members + "}]}]") }
	command := func(member string) string { return hook(`"type":"command","command":"x",` + member) }
	const at = "hooks.Stop[0].hooks[0]"

	tests := []struct{ text, fault string }{
		{top(`"zzz":1`), ""},
		{top(`"$schema":5`), "$schema must be a string, is a number"},
		{top(`"env":{"A":5,"B":null}`), ""},
		{top(`"env":[]`), "env must be an object, is an array"},
		{top(`"env":null`), "env must be an object, is null"},
		{top(`"permissions":"x"`), "permissions must be an object, is a string"},
		{top(`"permissions":{"allow":[1,""],"ask":[1],"zz":1}`), ""},
		{top(`"permissions":{"allow":"Bash"}`), "permissions.allow must be an array, is a string"},
		{top(`"permissions":{"deny":"Bash"}`), "permissions.deny must be an array, is a string"},
		{top(`"permissions":{"allow":null}`), "permissions.allow must be an array, is null"},
		{top(`"permissions":{"additionalDirectories":[1]}`), "permissions.additionalDirectories[0] must be a string, is a number"},
		{top(`"permissions":{"defaultMode":1}`), "permissions.defaultMode must be a string, is a number"},
		{top(`"disableAllHooks":"true"`), "disableAllHooks must be a boolean, is a string"},
		{top(`"disableAllHooks":false`), ""},
		{top(`"model":null`), "model must be a string, is null"},
		{top(`"includeCoAuthoredBy":"x"`), "includeCoAuthoredBy must be a boolean, is a string"},
		{top(`"cleanupPeriodDays":"30"`), "cleanupPeriodDays must be a number, is a string"},
		{top(`"cleanupPeriodDays":0`), "cleanupPeriodDays must be a whole number above 0"},
		{top(`"cleanupPeriodDays":1.5`), "cleanupPeriodDays must be a whole number above 0"},
		{top(`"cleanupPeriodDays":1`), ""},
		{top(`"apiKeyHelper":5`), "apiKeyHelper must be a string, is a number"},
		{top(`"statusLine":"x"`), "statusLine must be an object, is a string"},
		{top(`"statusLine":{}`), "statusLine.type is missing"},
		{top(`"statusLine":{"type":"zz","command":"x"}`), "statusLine.type must be one of command"},
		{top(`"statusLine":{"type":"command","command":"x","padding":"1"}`), "statusLine.padding must be a number, is a string"},
		{top(`"effortLevel":"zz"`), ""},

		{`{"hooks":[]}`, ""},
		{event(`"Stopp":["x"]`), ""},
		{event(`"Stop":"x"`), ""},
		{event(`"Stop":["x"]`), "hooks.Stop[0] must be an object, is a string"},
		{event(`"Stop":[null]`), "hooks.Stop[0] must be an object, is null"},
		{event(`"WorktreeRemove":["x"]`), "hooks.WorktreeRemove[0] must be an object, is a string"},
		{event(`"Stop":[{}]`), "hooks.Stop[0].hooks is missing"},
		{event(`"Stop":[{"hooks":{}}]`), "hooks.Stop[0].hooks must be an array, is an object"},
		{event(`"Stop":[{"hooks":[],"zz":1}]`), ""},
		{event(`"Stop":[{"matcher":5,"hooks":[]}]`), "hooks.Stop[0].matcher must be a string, is a number"},
		{event(`"Stop":[{"hooks":["x"]}]`), at + " must be an object, is a string"},

		{hook(`"command":"x"`), at + ".type is missing"},
		{hook(`"type":"zzz"`), at + ".type must be one of command, http, prompt, agent, mcp_tool"},
		{hook(`"type":1`), at + ".type must be a string, is a number"},
		{hook(`"type":"command"`), at + ".command is missing"},
		{hook(`"type":"command","command":5`), at + ".command must be a string, is a number"},
		{hook(`"type":"command","command":""`), ""},
		{command(`"zz":1`), ""},
		{command(`"timeout":"5"`), at + ".timeout must be a number, is a string"},
		{command(`"timeout":0`), at + ".timeout must be above 0"},
		{command(`"timeout":-1`), at + ".timeout must be above 0"},
		{command(`"timeout":1e999`), at + ".timeout must be above 0"},
		{command(`"timeout":null`), at + ".timeout must be a number, is null"},
		{command(`"timeout":0.5`), ""},
		{command(`"timeout":1e9`), ""},
		{command(`"args":"x"`), at + ".args must be an array, is a string"},
		{command(`"args":[1]`), at + ".args[0] must be a string, is a number"},
		{command(`"async":"true"`), at + ".async must be a boolean, is a string"},
		{command(`"asyncRewake":"true"`), at + ".asyncRewake must be a boolean, is a string"},
		{command(`"once":"true"`), at + ".once must be a boolean, is a string"},
		{command(`"if":5`), at + ".if must be a string, is a number"},
		{command(`"statusMessage":5`), at + ".statusMessage must be a string, is a number"},
		{command(`"shell":5`), at + ".shell must be a string, is a number"},
		{command(`"shell":"zsh"`), at + ".shell must be one of bash, powershell"},
		{command(`"shell":"powershell"`), ""},
		{hook(`"type":"http"`), at + ".url is missing"},
		{hook(`"type":"http","url":"zz"`), at + ".url must be a URL"},
		{hook(`"type":"http","url":"http://127.0.0.1:9/","headers":{"a":1}`), at + ".headers.a must be a string, is a number"},
		{hook(`"type":"http","url":"http://127.0.0.1:9/","allowedEnvVars":"x"`), at + ".allowedEnvVars must be an array, is a string"},
		{hook(`"type":"http","url":"http://127.0.0.1:9/","timeout":0`), at + ".timeout must be above 0"},
		{hook(`"type":"http","url":"http://127.0.0.1:9/"`), ""},
		{hook(`"type":"prompt"`), at + ".prompt is missing"},
		{hook(`"type":"prompt","prompt":"x","model":5`), at + ".model must be a string, is a number"},
		{hook(`"type":"agent"`), at + ".prompt is missing"},
		{hook(`"type":"mcp_tool","tool":"b"`), at + ".server is missing"},
		{hook(`"type":"mcp_tool","server":"a","tool":"b","input":"x"`), at + ".input must be an object, is a string"},
		{hook(`"type":"mcp_tool","server":"a","tool":"b"`), ""},
	}
	for _, tt := range tests {
		d, err := parse("f", []byte(tt.text))
		check(t, err)
		var got []string
		for _, f := range d.faults(Project) {
			got = append(got, f.Path+" "+f.Text)
		}
		if tt.fault == "" && len(got) > 0 || tt.fault != "" && (len(got) == 0 || got[0] != tt.fault) {
			t.Errorf("%s\n got %q\nwant %q", tt.text, strings.Join(got, "; "), tt.fault)
		}
	}
}

func TestFaultsHavePositionsInOrder(t *testing.T) {
	d, err := parse("f", []byte("\ufeff{\n  \"ö\": 1, \"model\": 5,\n\t\"hooks\": {\"Stop\": [{\"hooks\": [\n{\"type\":\"zz\"}, 5]}]}\n}"))
	check(t, err)
	var got []string
	for _, f := range d.faults(User) {
		got = append(got, f.String())
	}
	want := `2:20: model must be a string, is a number
4:9: hooks.Stop[0].hooks[0].type must be one of command, http, prompt, agent, mcp_tool
4:16: hooks.Stop[0].hooks[1] must be an object, is a number`
	same(t, "faults", strings.Join(got, "\n"), want)
	if n := len(d.faults(Managed)); n != 2 {
		t.Errorf("in a managed file there are %d, want only those of the hooks", n)
	}
}
