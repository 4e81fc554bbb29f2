package pictures

import (
	"encoding/xml"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Sizes in pixels. Every text has its length beside it, so the grid holds whatever font is there.
const (
	cellWidth  = 8.4
	cellHeight = 18
	fontSize   = 14
	margin     = 16
	titleBar   = 30
)

// Frame is a screen of a film, how long it is shown, and what the window's title says meanwhile.
type Frame struct {
	Screen  Screen
	For     time.Duration
	Caption string
}

// SVG draws a film, or a still if there is only one frame. It repeats for ever.
func SVG(title string, columns int, frames []Frame) string {
	lines := 0
	for _, f := range frames {
		lines = max(lines, len(f.Screen))
	}
	d := &drawing{
		width:  float64(columns)*cellWidth + 2*margin,
		height: float64(lines*cellHeight + titleBar + margin),
		rows:   map[string]int{}, classes: map[Style]string{},
	}
	film := d.film(frames)

	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img">`+"\n", d.width, d.height, d.width, d.height)
	fmt.Fprintf(&b, "<title>%s</title>\n<style>\n%s%s</style>\n", escape(title), d.styles(), animation(d.width, frames))
	fmt.Fprintf(&b, "<defs>\n%s</defs>\n", d.defs.String())
	fmt.Fprintf(&b, `<rect x="0.5" y="0.5" width="%.0f" height="%.0f" rx="8" fill="%s" stroke="%s"/>`+"\n", d.width-1, d.height-1, background, frame)
	for i, color := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="15" r="5" fill="%s"/>`, 20+i*18, color)
	}
	// The inner svg is the window that the film moves behind.
	fmt.Fprintf(&b, "\n<svg width=\"%.0f\" height=\"%.0f\">\n<g transform=\"translate(0 %d)\"><g id=\"film\">\n%s</g></g>\n</svg>\n</svg>\n", d.width, d.height, titleBar, film)
	return b.String()
}

type drawing struct {
	width, height float64
	defs          strings.Builder
	rows          map[string]int // a row's elements, by which it is drawn once and used often
	classes       map[Style]string
	css           strings.Builder
}

// film draws the frames side by side.
func (d *drawing) film(frames []Frame) string {
	var b strings.Builder
	for i, f := range frames {
		fmt.Fprintf(&b, `<g class="frame" transform="translate(%.0f)">`, float64(i)*d.width)
		for y, row := range f.Screen {
			if len(row) > 0 {
				fmt.Fprintf(&b, `<use href="#r%d" y="%d"/>`, d.row(row), y*cellHeight)
			}
		}
		if f.Caption != "" {
			fmt.Fprintf(&b, `<use href="#r%d"/>`, d.caption(f.Caption))
		}
		b.WriteString("</g>\n")
	}
	return b.String()
}

// caption draws a line in the middle of the window's title.
func (d *drawing) caption(text string) int {
	return d.define(fmt.Sprintf(`<text class="caption" x="%.0f" y="-10">%s</text>`, d.width/2, escape(text)))
}

func (d *drawing) row(row []Run) int {
	var b strings.Builder
	for _, run := range row {
		x, width := margin+float64(run.Column)*cellWidth, float64(utf8.RuneCountInString(run.Text))*cellWidth
		if run.Style.Background != "" {
			fmt.Fprintf(&b, `<rect x="%.1f" width="%.1f" height="%d" fill="%s"/>`, x, width, cellHeight, run.Style.Background)
		}
		if strings.TrimSpace(run.Text) != "" || run.Style.Underlined {
			fmt.Fprintf(&b, `<text x="%.1f" y="13.5" textLength="%.1f"%s>%s</text>`, x, width, d.class(run.Style), escape(run.Text))
		}
	}
	return d.define(b.String())
}

// define draws something once, and gives the number by which it is used.
func (d *drawing) define(drawn string) int {
	n, known := d.rows[drawn]
	if !known {
		n = len(d.rows)
		d.rows[drawn] = n
		fmt.Fprintf(&d.defs, "<g id=\"r%d\">%s</g>\n", n, drawn)
	}
	return n
}

func (d *drawing) class(s Style) string {
	s.Background = ""
	if s == (Style{}) {
		return ""
	}
	name, known := d.classes[s]
	if !known {
		name = fmt.Sprintf("s%d", len(d.classes))
		d.classes[s] = name
		fmt.Fprintf(&d.css, ".%s {%s}\n", name, declarations(s))
	}
	return ` class="` + name + `"`
}

func declarations(s Style) string {
	var css strings.Builder
	for _, part := range []struct {
		set  bool
		text string
	}{
		{s.Color != "", " fill: " + s.Color + ";"},
		{s.Bold, " font-weight: bold;"},
		{s.Dim, " opacity: 0.6;"},
		{s.Italic, " font-style: italic;"},
		{s.Underlined, " text-decoration: underline;"},
	} {
		if part.set {
			css.WriteString(part.text)
		}
	}
	return css.String() + " "
}

func (d *drawing) styles() string {
	return fmt.Sprintf("text { font: %dpx ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: %s; white-space: pre; }\n.caption { text-anchor: middle; font-family: system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; font-weight: bold; }\n", fontSize, foreground) + d.css.String()
}

// animation moves the film from frame to frame. People who want no motion see the last frame.
func animation(width float64, frames []Frame) string {
	var total, shown time.Duration
	for _, f := range frames {
		total += f.For
	}
	if len(frames) < 2 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "#film { animation: film %.2fs step-end infinite; }\n@keyframes film {\n", total.Seconds())
	for i, f := range frames {
		fmt.Fprintf(&b, "%.3f%% { transform: translateX(%.0fpx); }\n", 100*shown.Seconds()/total.Seconds(), -float64(i)*width)
		shown += f.For
	}
	fmt.Fprintf(&b, "}\n@media (prefers-reduced-motion: reduce) { #film { animation: none; transform: translateX(%.0fpx); } }\n", -float64(len(frames)-1)*width)
	return b.String()
}

func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a strings.Builder does not fail
	return b.String()
}
