package docs

import (
	"regexp"
	"strings"
	"unicode"
)

// Link is where a page leads.
type Link struct {
	Line   int
	Target string
}

var (
	inline    = regexp.MustCompile(`\]\(([^()\s]+(?:\([^()\s]*\))?)(?: "[^"]*")?\)`)
	reference = regexp.MustCompile(`^\[[^\]]+\]: (\S+)`)
	attribute = regexp.MustCompile(`(?:src|href)="([^"]+)"`)
	code      = regexp.MustCompile("``.*?``|`[^`]*`")
)

// Links are the targets of links and pictures.
func (p Page) Links() (links []Link) {
	for i, line := range p.Prose() {
		line = code.ReplaceAllString(line, "")
		for _, form := range []*regexp.Regexp{inline, reference, attribute} {
			for _, match := range form.FindAllStringSubmatch(line, -1) {
				links = append(links, Link{i + 1, match[1]})
			}
		}
	}
	return links
}

var heading = regexp.MustCompile(`^#{1,6} +(.*?) *#*$`)

// Anchors are the names of the headings, as GitHub makes them.
func (p Page) Anchors() map[string]bool {
	anchors := map[string]bool{}
	for _, line := range p.Prose() {
		match := heading.FindStringSubmatch(line)
		if match == nil {
			continue
		}
		name := anchor(match[1])
		for n, unique := 1, name; ; n++ {
			if !anchors[unique] {
				anchors[unique] = true
				break
			}
			unique = name + "-" + string(rune('0'+n))
		}
	}
	return anchors
}

var linkText = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

func anchor(title string) string {
	title = linkText.ReplaceAllString(title, "$1")
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, title)
}
