package conformance

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// phrase is something that users must not have to read.
type phrase struct {
	pattern string // whole words, in any case; a space stands for any white space
	unless  string // what the found text may be after all
	instead string
	why     string
	sample  string
}

// phrases are the worst offenders of "Write like a native engineer", and words for which there is another
// one in the glossary. One word per thing; name the one who acts; say it the usual way.
var phrases = []phrase{
	{
		pattern: `nobody|somebody|whoever|no one`,
		instead: "name the actor: the hook, the daemon, the user, another process", why: "hides who acts",
		sample: "nobody answered",
	},
	{
		pattern: `mend(?:s|ed|ing)?`,
		instead: "fix", why: "archaic",
		sample: "lint was mended",
	},
	{
		pattern: `(?:\S+ )?(?:is|are|was|were) no(?: \w+)?`, unless: `^there\b|\bno\s+longer$`,
		instead: `"is not a X" or "invalid X"`, why: "reads like a translation",
		sample: "%q is no duration",
	},
	{
		pattern: `of which`,
		instead: "whose, that, or two sentences", why: "makes a sentence a riddle",
		sample: "a session of which the hook knows nothing",
	},
	{
		pattern: `will do`,
		instead: `"is enough", or the verb that says what happens`, why: "an idiom",
		sample: "the beginning of an id will do",
	},
	{
		pattern: `sees? to|looks? after`,
		instead: "runs, does, handles, manages", why: "does not say what is done",
		sample: "a daemon sees to them",
	},
	{
		pattern: `stands? aside`,
		instead: "does nothing, allows the stop", why: "a picture, not a fact",
		sample: "stopgate stands aside",
	},
	{
		pattern: `broke down`,
		instead: "internal error, crashed", why: "a picture, not a fact",
		sample: "stopgate broke down",
	},
	{
		pattern: `in the way`,
		instead: "exists and is not a X", why: "does not say what is wrong",
		sample: "a file is in the way",
	},
	{
		pattern: `what (?:became|has become|had become) of`,
		instead: "the result of, the status of", why: "a riddle",
		sample: "what became of the command",
	},
	{
		pattern: `lets? (?:it|them|the agent|an agent|the session) go|let go`,
		instead: "a stop is allowed; lets the agent stop", why: "a stop is blocked or allowed",
		sample: "lets the agent go",
	},
	{
		pattern: `time(?: \S+){0,5} (?:is|was) over`,
		instead: "timed out, timeout", why: "the usual word",
		sample: "the time for this hook was over",
	},
	{
		pattern: `the clients?`,
		instead: "Claude Code", why: "our API has clients, too",
		sample: "the client's settings",
	},
	{
		pattern: `there (?:is|are) to choose from`,
		instead: "list the …", why: "help is imperative",
		sample: "what there are to choose from",
	},
	{
		pattern: `how they stand|who there is`,
		instead: "list … and their status", why: "help is imperative",
		sample: "who there is, and how they stand",
	},
	{
		pattern: `words of your own`,
		instead: "free text", why: "the usual word",
		sample: "words of your own",
	},
	{
		pattern: `anew|afresh`,
		instead: "again, or reset", why: "archaic",
		sample: "counts anew",
	},
	{
		pattern: `whether it be|be it`,
		instead: "whether it is; a, b or c", why: "archaic",
		sample: "every hook, be it ours or not",
	},
	{
		pattern: `tak(?:e|es|en|ing) (?:it |them |this |that |these |those |(?:a|an|the) \w+ )?for (?:a|an|one|the)`,
		instead: "treats … as", why: "the usual word",
		sample: "is taken for one that allowed",
	},
	{
		pattern: `as though`,
		instead: "as if", why: "the usual word",
		sample: "as though it had passed",
	},
	{
		pattern: `hear(?:s|d)? (?:of|from)`,
		instead: "has called, has reported, is known", why: "a process is not a friend",
		sample: "no hook was heard from",
	},
	{
		pattern: `put(?:s|ting)? (?:\S+ ){0,3}away`,
		instead: "archive", why: "the command is called archive",
		sample: "puts old pipelines away",
	},
	{
		pattern: `exclude each other`,
		instead: `"A and B cannot be combined"`, why: "the usual words",
		sample: "--user and --local exclude each other",
	},
	{
		pattern: `any more`,
		instead: "no longer", why: "reads like a translation",
		sample: "the link is not valid any more",
	},
	{
		pattern: `red (?:gates?|checks?|reviews?)`,
		instead: "failed", why: "the glossary has passed and failed",
		sample: "red gates block no stop",
	},
	{
		pattern: `(?:it|what|project|session)s? stands? (?:here|there)`,
		instead: "is shown, is listed, appears", why: "reads like a translation",
		sample: "what stands here may be old",
	},
	{
		pattern: `(?:comes?|goes?|grows?|ends?|starts?|closes?|removed|finds?|reloads?|catch(?:es)? up)(?: (?:on|it|them|the \w+))? by (?:itself|themselves)`,
		instead: "automatically; appears, continues, is updated", why: "reads like a translation",
		sample: "what is missing comes by itself",
	},
	{
		pattern: `(?:runs?|tries|retries|verif(?:y|ies)) (?:\S+ ){1,3}by (?:itself|themselves)`,
		instead: "automatically; reruns, retries", why: "reads like a translation",
		sample: "this hook runs the gates again by itself",
	},
	{
		pattern: `of (?:a|an|the|what|these|which) (?:\S+ ){1,6}(?:you are|is|are) told`,
		instead: "you are told of …, … is reported", why: "says first what the sentence is not about",
		sample: "Of a new ignore rule you are told",
	},
	{
		pattern: `told no more|waits? no longer for`,
		instead: "no longer gets, stops waiting", why: "reads like a translation",
		sample: "this device is told no more",
	},
	{
		pattern: `what (?:still )?runs for it`,
		instead: "name what runs: its pipeline, its agents", why: "hides what runs",
		sample: "what runs for it asks you something",
	},
}

func TestUsersReadPlainEnglish(t *testing.T) {
	for _, text := range userTexts(t) {
		for _, offence := range offences(text.text) {
			t.Errorf("%s:%d: %q: write: %s (%s)", text.file, text.line+offence.line, offence.found, offence.instead, offence.why)
		}
	}
}

// A list that finds nothing would hold everything for clean.
func TestUnwantedPhrasesAreFound(t *testing.T) {
	for _, p := range phrases {
		source := "package p\n\nvar text = \"It says: \" + name + " + `"` + p.sample + `."` + "\n"
		page := "# Title\n\nIt says that " + strings.ReplaceAll(p.sample, " ", "\n") + ".\n"
		script := "say 'It says: " + p.sample + "'\n"
		browser := "toast(\"It says: " + p.sample + ".\"); // why\n"

		for form, texts := range map[string][]userText{
			"Go": goTexts(t, "p.go", source), "Markdown": {markdownText("p.md", page)}, "shell": scriptTexts("p", script), "JavaScript": scriptedTexts("p.js", browser),
		} {
			if !slices.ContainsFunc(texts, func(text userText) bool {
				return slices.ContainsFunc(offences(text.text), func(o offence) bool { return o.pattern == p.pattern })
			}) {
				t.Errorf("%s: %q is not found", form, p.sample)
			}
		}
	}
}

// What is not meant for users, or is usual English, is left alone.
func TestUsualPhrasesAreNotFound(t *testing.T) {
	source := "package p\n\n" + `// Nobody reads this.
import "nobody knows"

var pattern = regexp.MustCompile("nobody knows")

type t struct {
	A int ` + "`json:\"a\" doc:\"nobody knows\"`" + `
}

var word = "nobody"
var text = "There is no config. It is no longer read, and it recommends to amend it. Sees today: default, newer."
`
	page := "Use `nobody knows` or ``nobody ` knows``.\n\n```\nnobody knows\n```\n\n~~~sh\nnobody knows\n~~~\n"
	script := "# nobody knows\nnobody knows\n"

	texts := append(goTexts(t, "p.go", source), scriptTexts("p", script)...)
	for _, text := range append(texts, markdownText("p.md", page)) {
		for _, offence := range offences(text.text) {
			t.Errorf("%s:%d: %q", text.file, text.line+offence.line, offence.found)
		}
	}
}

// offence is a phrase in a text, lines below its first one.
type offence struct {
	phrase
	found string
	line  int
}

func offences(text string) (all []offence) {
	for at, p := range phrases {
		for _, place := range compiled[at].FindAllStringIndex(text, -1) {
			found := text[place[0]:place[1]]
			if p.unless != "" && regexp.MustCompile(`(?i)`+p.unless).MatchString(found) {
				continue
			}
			all = append(all, offence{p, strings.Join(strings.Fields(found), " "), strings.Count(text[:place[0]], "\n")})
		}
	}
	return all
}

// compiled are the patterns of phrases, in their order.
var compiled = func() (all []*regexp.Regexp) {
	for _, p := range phrases {
		all = append(all, regexp.MustCompile(`(?i)\b(?:`+strings.ReplaceAll(p.pattern, " ", `\s+`)+`)\b`))
	}
	return all
}()
