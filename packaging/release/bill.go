package main

import (
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// bill is what a platform's programs are made of, in the format CycloneDX.
type bill struct {
	Format      string      `json:"bomFormat"`
	SpecVersion string      `json:"specVersion"`
	Version     int         `json:"version"`
	Metadata    metadata    `json:"metadata"`
	Components  []component `json:"components"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	URL     string `json:"purl,omitempty"`
}

// writeBill lists the modules that the programs in a directory say they were linked of.
func writeBill(path string, e edition, programs string) error {
	entries, err := os.ReadDir(programs)
	if err != nil {
		return err
	}
	found := map[component]bool{}
	for _, entry := range entries {
		info, err := buildinfo.ReadFile(filepath.Join(programs, entry.Name()))
		if err != nil {
			return err
		}
		found[library("std", info.GoVersion)] = true
		for _, module := range info.Deps {
			if module.Replace != nil {
				module = module.Replace
			}
			found[library(module.Path, module.Version)] = true
		}
	}

	b := bill{Format: "CycloneDX", SpecVersion: "1.5", Version: 1}
	b.Metadata.Timestamp = e.date.Format(time.RFC3339)
	b.Metadata.Component = component{"application", "stopgate", e.version, "pkg:golang/github.com/stopgate/stopgate@v" + e.version}
	for c := range found {
		b.Components = append(b.Components, c)
	}
	slices.SortFunc(b.Components, func(a, b component) int { return cmp.Compare(a.URL, b.URL) })
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

func library(path, version string) component {
	return component{"library", path, version, "pkg:golang/" + path + "@" + version}
}
