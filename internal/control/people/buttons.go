package people

import (
	"net/url"
	"strings"

	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// mostButtons is how many ntfy shows.
const mostButtons = 3

// addButtons has ntfy open the page when a person touches the message, and show a button for each of the
// first answers. What the person's own address says about that stays.
func (m Message) addButtons(address string, params types.Params) {
	u, err := url.Parse(address)
	if err != nil {
		return
	}
	if m.Link != "" && !u.Query().Has("click") {
		params["click"] = m.Link
	}
	var buttons []string
	for _, a := range m.Answers {
		if plain.IsName(a.Option, 40) && len(buttons) < mostButtons { // a comma would end the label
			buttons = append(buttons, "http, "+a.Option+", "+a.URL+", method=POST, clear=true")
		}
	}
	if len(buttons) > 0 && !u.Query().Has("actions") {
		params["actions"] = strings.Join(buttons, ";")
	}
}
