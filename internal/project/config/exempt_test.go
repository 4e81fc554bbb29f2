package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each exemption names the file, or the variable, that a person has to change.
func TestExemptionsNameTheirPlace(t *testing.T) {
	on, off := new(true), new(false)
	observed := func(file string) Exemption {
		return Exemption{"mode: observe", "stops are checked but never blocked", file}
	}
	stopped := func(setting, file string) Exemption { return Exemption{setting, "no gate runs at a stop", file} }
	for _, test := range []struct {
		name      string
		project   Project
		global    Global
		variables []string
		want      []Exemption
	}{
		{"none", Project{}, Global{}, nil, nil},
		{"observed in the project", Project{Mode: Observe}, Global{}, nil, []Exemption{observed("project")}},
		{"observed everywhere", Project{}, Global{Mode: Observe}, nil, []Exemption{observed("global")}},
		{"observed in both", Project{Mode: Observe}, Global{Mode: Observe}, nil, []Exemption{observed("global")}},
		{"off in the project", Project{Gauntlet: Gauntlet{StopHook: StopHook{Enabled: off}}}, Global{StopHook: StopHook{Enabled: on}}, nil, []Exemption{stopped("stop_hook.enabled: false", "project")}},
		{"off in general", Project{}, Global{StopHook: StopHook{Enabled: off}}, nil, []Exemption{stopped("stop_hook.enabled: false", "global")}},
		{"on in the project", Project{Gauntlet: Gauntlet{StopHook: StopHook{Enabled: on}}}, Global{StopHook: StopHook{Enabled: off}}, nil, nil},
		{"off by a variable", Project{}, Global{StopHook: StopHook{Enabled: off}}, []string{"GAUNTLET_STOP_HOOK_ENABLED=0"}, []Exemption{stopped("GAUNTLET_STOP_HOOK_ENABLED: 0", "")}},
	} {
		test.project.Gauntlet.MaxRetries = 1
		got := test.global.Exemptions(&test.project, test.variables, "project", "global")
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", test.name, diff)
		}
	}
}
