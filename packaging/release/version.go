package main

import (
	"regexp"
	"strconv"
)

var (
	tagged         = regexp.MustCompile(`^v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.]+)?)$`)
	afterVersion   = regexp.MustCompile(`^v(\d+\.\d+\.)(\d+)-(\d+)-(g[0-9a-f]+(?:-dirty)?)$`)
	afterCandidate = regexp.MustCompile(`^v(\d+\.\d+\.\d+-[0-9A-Za-z.]+)-(\d+)-(g[0-9a-f]+(?:-dirty)?)$`)
)

// version makes a semantic version of what git describe says: that of the tag, or one between the last tag and
// the next one.
func version(described string) string {
	if m := afterVersion.FindStringSubmatch(described); m != nil {
		patch, _ := strconv.Atoi(m[2])
		return m[1] + strconv.Itoa(patch+1) + "-snapshot." + m[3] + "." + m[4]
	}
	if m := afterCandidate.FindStringSubmatch(described); m != nil {
		return m[1] + ".snapshot." + m[2] + "." + m[3]
	}
	if m := tagged.FindStringSubmatch(described); m != nil {
		return m[1]
	}
	return "0.0.0-snapshot.g" + described
}
