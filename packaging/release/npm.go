package main

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// manifest is a package.json.
type manifest struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	License     string            `json:"license"`
	Homepage    string            `json:"homepage"`
	Repository  string            `json:"repository"`
	OS          []string          `json:"os,omitempty"`
	CPU         []string          `json:"cpu,omitempty"`
	Engines     map[string]string `json:"engines,omitempty"`
	Bin         map[string]string `json:"bin,omitempty"`
	Optional    map[string]string `json:"optionalDependencies,omitempty"`
}

func newManifest(e edition, name, description string) manifest {
	const home = "https://github.com/stopgate/stopgate"
	return manifest{Name: name, Version: e.version, Description: description, License: "Apache-2.0", Homepage: home, Repository: "git+" + home + ".git"}
}

// npmName is the package that has a platform's programs.
func npmName(t target) string { return "stopgate-" + t.npmOS() + "-" + t.npmCPU() }

// writeNPMPlatform packs a platform's programs for npm, which installs only those that fit the machine.
func writeNPMPlatform(e edition, t target, programs []file, dir string) error {
	m := newManifest(e, npmName(t), "The programs of stopgate for "+t.npmOS()+" on "+t.npmCPU())
	m.OS, m.CPU = []string{t.npmOS()}, []string{t.npmCPU()}
	return writeNPM(e, m, programs, dir)
}

// writeNPMLauncher packs what users name: a command that runs the program of the platform's package. No script
// runs when it is installed.
func writeNPMLauncher(e edition, targets []target, dir string) error {
	m := newManifest(e, "stopgate", "Decides whether a coding agent may stop")
	m.Engines = map[string]string{"node": ">=18"}
	m.Bin = map[string]string{"stopgate": "launcher.js"}
	m.Optional = map[string]string{}
	for _, t := range targets {
		m.Optional[npmName(t)] = e.version
	}

	files := []file{{path: "README.md", mode: 0o644}, {path: "launcher.js", mode: 0o755}}
	for i := range files {
		var err error
		if files[i].content, err = os.ReadFile("packaging/npm/" + files[i].path); err != nil {
			return err
		}
	}
	return writeNPM(e, m, files, dir)
}

func writeNPM(e edition, m manifest, files []file, dir string) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	license, err := os.ReadFile("LICENSE")
	if err != nil {
		return err
	}
	all := append([]file{{"package.json", 0o644, append(text, '\n')}, {"LICENSE", 0o644, license}}, files...)
	content, err := packTar("package/", all, e.date)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "npm-"+m.Name+"-"+e.version+".tgz"), content, 0o644)
}
