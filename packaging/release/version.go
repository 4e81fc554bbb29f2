package main

import (
	"regexp"
	"strconv"
	"time"
)

var (
	tagged         = regexp.MustCompile(`^v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.]+)?)$`)
	afterVersion   = regexp.MustCompile(`^v(\d+\.\d+\.)(\d+)-(\d+)-(g[0-9a-f]+(?:-dirty)?)$`)
	afterCandidate = regexp.MustCompile(`^v(\d+\.\d+\.\d+-[0-9A-Za-z.]+)-(\d+)-(g[0-9a-f]+(?:-dirty)?)$`)
)

// version makes a semantic version of what git describe says: that of the tag, or one between the last tag and
// the next one. Without a tag it is the time of the commit that says which one is newer.
func version(described string, date time.Time) string {
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
	return "0.0.0-snapshot." + date.UTC().Format("20060102150405") + ".g" + described
}
