package pictures

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// maxSize keeps the README fast.
const maxSize = 300_000

// Pictures are well-formed, load nothing, and show no path of the machine that recorded them.
func TestPicturesAreSelfContained(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.svg"))
	check(t, err)
	if len(paths) < 5 {
		t.Fatalf("only %d pictures", len(paths))
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		check(t, err)
		if len(text) > maxSize {
			t.Errorf("%s has %d bytes", path, len(text))
		}
		picture, err := Read(string(text))
		if err != nil || picture.Title == "" || len(picture.Links) > 0 {
			t.Errorf("%s: title %q, links %q, %v", path, picture.Title, picture.Links, err)
		}
		foreign := strings.ReplaceAll(string(text), "http://www.w3.org/2000/svg", "")
		for _, word := range []string{"://", "@import", "<script", "/tmp/", "/root", "127.0.0.1"} {
			if strings.Contains(foreign, word) {
				t.Errorf("%s contains %q", path, word)
			}
		}
	}
}

// Pictures of the web page are small enough for a page that shows several.
func TestPicturesOfTheWebPage(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.png"))
	check(t, err)
	if len(paths) < 3 {
		t.Fatalf("only %d pictures", len(paths))
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		check(t, err)
		c, err := png.DecodeConfig(bytes.NewReader(text))
		if err != nil || c.Width < 390 || len(text) > maxSize {
			t.Errorf("%s: %d bytes, %d wide, %v", path, len(text), c.Width, err)
		}
	}
}

func TestParse(t *testing.T) {
	screen := Parse("plain \x1b[1mbold\x1b[0m\n\n\x1b[38;5;196mred\x1b[39m \x1b[7mback\x1b[0m\n\n")
	if got, want := screen.String(), "plain bold\n\nred back"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	last := screen[2][len(screen[2])-1]
	if !screen[0][1].Style.Bold || screen[2][0].Style.Color != "#ff0000" || last.Style.Background != foreground {
		t.Errorf("%+v", screen)
	}
}

// What is drawn can be read back.
func TestReadReadsWhatSVGDraws(t *testing.T) {
	frames := []Frame{
		{Screen: Parse("a < b\n\n  \x1b[31mred\x1b[0m & \x1b[2mdim\x1b[0m"), For: 1, Caption: "first"},
		{Screen: Parse("a < b\n\x1b[41m  \x1b[0m\nlast"), For: 2},
	}
	picture, err := Read(SVG("A <title>", 40, frames))
	if err != nil || picture.Title != "A <title>" || len(picture.Screens) != 2 {
		t.Fatalf("%+v, %v", picture, err)
	}
	for i, f := range frames {
		if got, want := picture.Screens[i], f.Screen.String(); got != want {
			t.Errorf("frame %d: %q, want %q", i, got, want)
		}
	}
}
