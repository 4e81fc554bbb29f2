package journal

import "context"

// Report is what was found in the whole journal.
type Report struct {
	Records int       `json:"records"`
	Newer   int       `json:"newer"` // of a newer stopgate, which we cannot read
	End     string    `json:"end"`   // the position of the last record
	Damage  []Finding `json:"damage"`
}

// Finding is a place in the journal that is damaged.
type Finding struct {
	Position string `json:"position"`
	Bytes    int64  `json:"bytes"`
	What     string `json:"what"`
}

// Verify reads the whole journal. An error means that it could not be read.
func (j *Journal) Verify(ctx context.Context) (Report, error) {
	r := Report{Damage: []Finding{}}
	for entry, err := range j.Read(Position{}) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return r, err
		}
		r.End = entry.Position.String()
		switch {
		case entry.Damage != nil:
			r.Damage = append(r.Damage, Finding{entry.Damage.Start.String(), entry.Damage.Length, entry.Damage.String()})
		case entry.Newer > 0:
			r.Newer++
		default:
			r.Records++
		}
	}
	return r, nil
}
