package main

import (
	"fmt"
	"slices"
	"strings"
)

// target is a platform that programs are built for, by Go's names.
type target struct{ os, arch string }

var targets = []target{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

// chooseTargets reads a list of platforms; an empty one means all.
func chooseTargets(list string) ([]target, error) {
	if list == "" {
		return targets, nil
	}
	var chosen []target
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(targets, func(t target) bool { return t.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("unknown platform %q; known are: %v", name, targets)
		}
		chosen = append(chosen, targets[i])
	}
	return chosen, nil
}

func (t target) String() string { return t.os + "/" + t.arch }

// stem is how the names of a platform's files begin.
func (t target) stem(e edition) string { return "stopgate_" + e.version + "_" + t.os + "_" + t.arch }

func (t target) archive(e edition) string {
	if t.os == "windows" {
		return t.stem(e) + ".zip"
	}
	return t.stem(e) + ".tar.gz"
}

// programs are the packages to build: stopgated needs Unix.
func (t target) programs() []string {
	if t.os == "windows" {
		return []string{"./cmd/stopgate"}
	}
	return []string{"./cmd/stopgate", "./cmd/stopgated"}
}

// npmOS and npmCPU are node's names of a platform.
func (t target) npmOS() string {
	if t.os == "windows" {
		return "win32"
	}
	return t.os
}

func (t target) npmCPU() string {
	if t.arch == "amd64" {
		return "x64"
	}
	return t.arch
}
