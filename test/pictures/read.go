package pictures

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Picture is what there is to know of an SVG of this package.
type Picture struct {
	Title   string
	Screens []string // the text of each frame
	Links   []string // what it refers to, other than its own parts
}

// Read reads an SVG that this package has drawn.
func Read(svg string) (Picture, error) {
	r := reader{decoder: xml.NewDecoder(strings.NewReader(svg)), rows: map[string][]Run{}}
	for {
		token, err := r.decoder.Token()
		if errors.Is(err, io.EOF) {
			return r.Picture, r.finish()
		}
		if err != nil {
			return r.Picture, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			r.start(t)
		case xml.CharData:
			r.text(string(t))
		case xml.EndElement:
			r.element = ""
		}
	}
}

type reader struct {
	Picture
	decoder *xml.Decoder
	element string
	id      string           // of the row that is being read
	rows    map[string][]Run // by their ids
	frames  []map[int]string // the ids of rows, by their lines
}

func (r *reader) start(e xml.StartElement) {
	r.element = e.Name.Local
	attributes := map[string]string{}
	for _, a := range e.Attr {
		attributes[a.Name.Local] = a.Value
		if a.Name.Local == "href" || a.Name.Local == "src" {
			if !strings.HasPrefix(a.Value, "#") {
				r.Links = append(r.Links, a.Value)
			}
		}
	}
	switch {
	case r.element == "g" && attributes["class"] == "frame":
		r.frames = append(r.frames, map[int]string{})
	case r.element == "g":
		r.id = attributes["id"]
		r.rows[r.id] = []Run{}
	case r.element == "text":
		x, _ := strconv.ParseFloat(attributes["x"], 64)
		r.rows[r.id] = append(r.rows[r.id], Run{Column: int(math.Round((x - margin) / cellWidth))})
	case r.element == "use" && len(r.frames) > 0:
		y, _ := strconv.Atoi(attributes["y"])
		if _, isLine := attributes["y"]; !isLine {
			return // a caption
		}
		r.frames[len(r.frames)-1][y/cellHeight] = strings.TrimPrefix(attributes["href"], "#")
	}
}

func (r *reader) text(text string) {
	switch row := r.rows[r.id]; {
	case r.element == "title":
		r.Title = text
	case r.element == "text" && len(row) > 0:
		row[len(row)-1].Text += text
	case r.element == "style" && strings.Contains(text, "url("):
		r.Links = append(r.Links, "url(")
	}
}

func (r *reader) finish() error {
	if len(r.frames) == 0 {
		return errors.New("the picture has no frame")
	}
	for i, lines := range r.frames {
		var screen Screen
		for line, id := range lines {
			for len(screen) <= line {
				screen = append(screen, nil)
			}
			if r.rows[id] == nil {
				return fmt.Errorf("frame %d uses %s, which is not there", i, id)
			}
			screen[line] = r.rows[id]
		}
		r.Screens = append(r.Screens, screen.String())
	}
	return nil
}
