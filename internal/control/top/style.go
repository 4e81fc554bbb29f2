package top

// The looks of a text. Bubble Tea leaves out the colours where NO_COLOR is set or the terminal has none:
// no look is the only sign of anything.
func bold(text string) string     { return look("1", text) }
func faint(text string) string    { return look("2", text) }
func reversed(text string) string { return look("7", text) }
func red(text string) string      { return look("31", text) }
func green(text string) string    { return look("32", text) }
func yellow(text string) string   { return look("33", text) }

func look(code, text string) string {
	if text == "" {
		return ""
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
