package people

import (
	"cmp"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// scrubbed is an error without the secrets of an address. Nothing of the error itself is
// left, which would print them.
func scrubbed(err error, address string) error {
	if err == nil {
		return nil
	}
	return errors.New(scrub(err.Error(), address))
}

// scrub takes out of a text what an address holds: whole URLs, and each piece of it that is
// not known to be public. Services write tokens anew, in other forms, but of the same
// letters and digits.
func scrub(text, address string) string {
	all := []string{`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>]*`}
	for _, secret := range secrets(address) {
		all = append(all, regexp.QuoteMeta(valid(secret)))
	}
	secret := regexp.MustCompile(`(?i)` + strings.Join(all, "|"))
	text = valid(text)
	for range 2 { // also what is one only when the text is plain
		text = plain.Line(secret.ReplaceAllString(text, "…"))
	}
	return tidy(text)
}

// valid is a text in which each byte that belongs to no character is one that says so.
func valid(text string) string { return string([]rune(text)) }

// tidy makes one line of an error, of a length that people read.
func tidy(text string) string { return plain.Fit(plain.Line(text), 300) }

// shortest is the length from which on a piece of an address may be a secret. Shorter ones
// are in every text.
const shortest = 4

// secrets are the pieces of an address that nobody is to see, the longest first.
func secrets(address string) []string {
	public := map[string]bool{}
	between := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	shown := strings.ToLower(label(address))
	_, host, _ := strings.Cut(shown, "://")
	for _, word := range append(strings.FieldsFunc("http https json "+shown, between), host) {
		public[word] = true
	}
	var found []string
	for _, part := range parts(address) {
		pieces := append(strings.FieldsFunc(part, between), part)
		for _, piece := range pieces {
			if len(piece) >= shortest && !public[strings.ToLower(piece)] {
				found = append(found, piece)
			}
		}
	}
	slices.SortFunc(found, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return slices.Compact(found)
}

// parts are what an address says, as it is written and as it is meant. The names of its
// parameters are no secret.
func parts(address string) []string {
	_, rest, _ := strings.Cut(address, "://")
	before, query, _ := strings.Cut(rest, "?")
	all := strings.FieldsFunc(before, func(r rune) bool { return strings.ContainsRune("/@:", r) })
	for parameter := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
		name, value, _ := strings.Cut(parameter, "=")
		all = append(all, value)
		if strings.HasPrefix(name, "@") || strings.HasPrefix(name, "$") { // headers and data of generic
			all = append(all, name)
		}
	}
	for _, part := range slices.Clone(all) {
		if plain, err := url.PathUnescape(part); err == nil {
			all = append(all, plain)
		}
		if plain, err := url.QueryUnescape(part); err == nil {
			all = append(all, plain)
		}
	}
	return all
}
