package environ

import "strings"

// Language is the language that the environment's locale names, such as "zh" or "en"; empty where
// it names none: C, POSIX, or no locale at all.
func Language(environ []string) string {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if locale := Get(environ, name); locale != "" {
			return languageOf(locale)
		}
	}
	return ""
}

// languageOf is the language of a locale: "zh" of "zh_CN.UTF-8", "de" of "de@euro".
func languageOf(locale string) string {
	language := strings.ToLower(locale)
	if end := strings.IndexAny(language, "_-.@"); end >= 0 {
		language = language[:end]
	}
	if language == "c" || language == "posix" {
		return ""
	}
	return language
}

// BothLanguages reports whether the Chinese lines of the specification of ccc are printed, each
// with its English beside it. A reader whose locale names another language gets the English alone.
func BothLanguages(environ []string) bool {
	language := Language(environ)
	return language == "" || language == "zh"
}
