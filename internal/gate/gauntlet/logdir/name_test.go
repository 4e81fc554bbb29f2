package logdir

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNames(t *testing.T) {
	d := At("logs")
	for got, want := range map[string]string{
		d.CheckLog("check:.:ok", 1):                                       "check_._ok.1.log",
		d.CheckLog("check:packages/api:unit_tests", 12):                   "check_packages_api_unit_tests.12.log",
		d.CheckLog("check:a b\nc:é\xff", 1):                               "check_a_b_c___.1.log",
		d.CheckLog("check:../../etc:x", 1):                                "check_.._.._etc_x.1.log",
		d.ReviewFile("review:.:quality", "github-copilot", 2, 3, "json"):  "review_._quality_github-copilot@2.3.json",
		d.ReviewFile("review:.:quality", "claude", 1, 3, "log"):           "review_._quality_claude@1.3.log",
		d.ReviewFile("review:.:quality", "../../../bin/sh", 1, 3, "json"): "review_._quality_.._.._.._bin_sh@1.3.json",
	} {
		if got != filepath.Join("logs", want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestApart(t *testing.T) {
	jobs := []string{"check:web:api_test", "check:web/api:test", "check:.:ok", "check:.:OK", "check:.:other", "check:.:other"}
	d := At("logs").Apart(jobs)
	want := []string{
		`^check_web_api_test-[0-9a-f]{8}\.1\.log$`, `^check_web_api_test-[0-9a-f]{8}\.1\.log$`,
		`^check_\._ok-[0-9a-f]{8}\.1\.log$`, `^check_\._OK-[0-9a-f]{8}\.1\.log$`,
		`^check_\._other\.1\.log$`, `^check_\._other\.1\.log$`,
	}
	for i, job := range jobs {
		if got := filepath.Base(d.CheckLog(job, 1)); !regexp.MustCompile(want[i]).MatchString(got) {
			t.Errorf("%s: got %s", job, got)
		}
	}
	if got := filepath.Base(At("logs").CheckLog(jobs[0], 1)); got != "check_web_api_test.1.log" {
		t.Errorf("alone in its run it has %s", got)
	}
}

// jobID draws ids that are likely to collapse.
func jobID(t *rapid.T) string {
	part := rapid.StringOfN(rapid.SampledFrom([]rune("aA/_:. \n\u00e9\ufffd")), 0, 4, -1)
	long := rapid.SampledFrom([]string{"", "", strings.Repeat("x", 300), "\xff"})
	return rapid.SampledFrom([]string{"check:", "review:"}).Draw(t, "kind") + long.Draw(t, "long") + part.Draw(t, "rest")
}

func TestFilesOfOneRunAreApartAndOurs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := rapid.SliceOfN(rapid.Custom(jobID), 1, 12).Draw(t, "jobs")
		d := At("logs").Apart(jobs)
		owner := map[string]string{}
		for _, job := range jobs {
			path := d.CheckLog(job, 7)
			if strings.HasPrefix(job, "review:") {
				path = d.ReviewFile(job, "claude", 1, 7, "json")
			}
			dir, name := filepath.Split(path)
			if dir != "logs/" && dir != `logs\` || len(name) > 240 || strings.Trim(name, safe) != "" {
				t.Fatalf("%q: unfit name %q", job, path)
			}
			if !isGateLog(name) {
				t.Fatalf("%q is not taken for ours", name)
			}
			key := strings.ToLower(name)
			if other, taken := owner[key]; taken && other != job {
				t.Fatalf("%q and %q share %s", job, other, name)
			}
			owner[key] = job
		}
	})
}

const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@"

func FuzzParseLog(f *testing.F) {
	for _, name := range []string{"console.1.log", "check_._a.2.log", ".3.json", "a.b.log", "x.99999999999999999999.log", "x.-1.log", "x.+1.log", ".log"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		log, ok := parseLog(name)
		if !ok {
			return
		}
		if log.run < 0 || log.run > 999_999_999 || log.ext != "log" && log.ext != "json" {
			t.Errorf("%q gives %+v", name, log)
		}
		if !strings.HasPrefix(name, log.stem+".") || !strings.HasSuffix(name, "."+log.ext) {
			t.Errorf("%q gives %+v", name, log)
		}
	})
}
