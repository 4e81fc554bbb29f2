package config

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/racetest"
)

// Files made to be slow, deep or large are refused with one clear fault, and
// in reasonable time.
func TestLimits(t *testing.T) {
	racetest.Skip(t)
	fill := func(s string) string { return strings.Repeat(s, (maxFileSize-1000)/len(s)) }
	for name, c := range map[string]struct{ text, want string }{
		"brackets":         {fill("["), "config.yml:1:101: nested more than 100 deep"},
		"braces":           {fill("{"), "config.yml:1:101: nested more than 100 deep"},
		"dashes":           {fill("- "), "config.yml:1:201: nested more than 100 deep"},
		"indentation":      {staircase(200), "config.yml:101:102: nested more than 100 deep"},
		"keys":             {fill("a:\n"), "config.yml:10001:1: the file is too large: more than 20000 keys, values and other tokens"},
		"entries":          {fill("-\n"), "config.yml:20001:1: the file is too large: more than 20000 keys, values and other tokens"},
		"tags":             {fill("!a\n"), "config.yml:20001:1: the file is too large: more than 20000 keys, values and other tokens"},
		"anchors":          {fill("&a "), "config.yml:1:30001: the file is too large: more than 20000 keys, values and other tokens"},
		"long key":         {"k: " + fill("v") + "\n" + strings.Repeat("a", 129) + ": b\n", "config.yml:2:130: a key is longer than 128 bytes"},
		"blank lines":      {"a: |\n" + fill("\n"), "config.yml:102:1: more than 100 blank lines in a row"},
		"lines of spaces":  {"a: |\n  x\n" + fill("   \n"), "config.yml:103:1: more than 100 blank lines in a row"},
		"blank block ends": {"a: |\n  " + fill("x") + strings.Repeat("\n", 100) + "b: c\n", `config.yml:1:1: unknown key "a"`},
		"tabs":             {"\"" + fill("\ta"), "config.yml:1:1: more than 1000 tabs in a line"},
		"less than":        {"a: " + fill("<"), "config.yml:1:1: more than 100 < in a row"},
		"dashes in flow":   {"[" + fill("- "), "config.yml:1:2: an entry with - is not allowed inside [ ] or { }"},
		"half the keys":    {strings.Repeat("a:\n", maxTokens/2), `config.yml:2:1: duplicate key "a"`},
		"quotes":           {"'" + fill("\n x"), "config.yml:1:1: not valid YAML: could not find end character of single-quoted text"},
		"alias bomb":       {bomb(), "config.yml:4:27: the aliases expand to more than 50000 values"},
		"NUL":              {"hooks:\n  St\x00p:\n", "config.yml:2:5: a NUL byte is not allowed"},
		"not UTF-8":        {"hooks:\n  é\xff:\n", "config.yml:2:4: the text is not UTF-8"},
		"UTF-16":           {"\xff\xfeh\x00", "config.yml:1:4: a NUL byte is not allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := ParseProject("config.yml", []byte(c.text))
			if took := time.Since(start); took > time.Minute {
				t.Errorf("took %v", took)
			}
			if err == nil {
				t.Fatal("no fault")
			}
			first, _, _ := strings.Cut(err.Error(), "\n")
			if first != c.want {
				t.Errorf("got  %s\nwant %s", first, c.want)
			}
		})
	}
}

func TestDepthLimitIsNotInTheWay(t *testing.T) {
	for _, text := range []string{staircase(90), strings.Repeat("[", 99) + strings.Repeat("]", 99)} {
		_, err := ParseProject("config.yml", []byte(text))
		if err == nil || strings.Contains(err.Error(), "nested") {
			t.Errorf("got %v", err)
		}
	}
}

func TestTooManyFaults(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		b.WriteString("k" + strconv.Itoa(i) + ": 1\n")
	}
	_, err := ParseProject("config.yml", []byte(b.String()))
	all := err.(*document.Faults).All
	if len(all) != maxFaults+1 {
		t.Fatalf("%d faults", len(all))
	}
	if last := all[maxFaults].String(); last != "config.yml: more than 100 errors, the rest is not shown" {
		t.Errorf("last fault: %s", last)
	}
}

// staircase nests mappings, each one column further to the right.
func staircase(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// What is not read because of aliases is not said to be at fault.
func TestAfterTooManyAliasesNothingElseIsAtFault(t *testing.T) {
	racetest.Skip(t)
	rules := strings.NewReplacer("hooks:\n  Stop:", "deny:", "run: a", "tools: Write").Replace(bomb())
	_, err := ParseProject("config.yml", []byte(rules+"    - {tools: Bash}\n"))
	if want := "config.yml:3:27: the aliases expand to more than 50000 values"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// bomb is a mapping that merges ten copies of one that merges ten copies, and
// so on.
func bomb() string {
	var b strings.Builder
	b.WriteString("hooks:\n  Stop:\n    - &x0 {run: a}\n")
	for i := range 9 {
		from := "*x" + strconv.Itoa(i)
		b.WriteString("    - &x" + strconv.Itoa(i+1) + " {<<: [" + from + strings.Repeat(", "+from, 9) + "]}\n")
	}
	return b.String()
}
