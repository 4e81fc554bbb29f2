package journal

import "context"

// Report is what was found in the whole journal.
type Report struct {
	Records int       `json:"records"`
	Newer   int       `json:"newer"` // of a newer stopgate, which we cannot read
	End     string    `json:"end"`   // the position of the last record
	Damage  []Finding `json:"damage"`
	// Cut are lines that were not yet on the disk when the machine lost power. What was durable is
	// not among them: it is synced together with all that comes before it.
	Cut []Finding `json:"cut"`
}

// Finding is a place in the journal that is damaged.
type Finding struct {
	Position string `json:"position"`
	Bytes    int64  `json:"bytes"`
	What     string `json:"what"`
}

// Verify reads the whole journal. An error means that it could not be read.
func (j *Journal) Verify(ctx context.Context) (Report, error) {
	v := verifier{Report: Report{Damage: []Finding{}, Cut: []Finding{}}}
	for entry, err := range j.Read(Position{}) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return v.Report, err
		}
		v.add(entry)
	}
	v.settle(boot())
	return v.Report, nil
}

// verifier goes through the journal.
type verifier struct {
	Report
	boot string    // of the machine, when it wrote the last record; empty before the first
	torn []*Damage // lines since then: what comes after them tells why
}

func (v *verifier) add(entry Entry) {
	v.End = entry.Position.String()
	switch {
	case entry.Damage != nil && entry.Damage.torn():
		v.torn = append(v.torn, entry.Damage)
	case entry.Damage != nil:
		v.Damage = append(v.Damage, finding(entry.Damage))
	case entry.Newer > 0:
		v.Newer++
	default:
		v.Records++
		// A record that may be lost itself says nothing about those before it.
		if r := entry.Record; r.Boot != v.boot || r.Durable() {
			v.settle(r.Boot)
			v.boot = r.Boot
		}
	}
}

// settle judges the torn lines by when the machine, which was booted as v.boot before them, went on.
func (v *verifier) settle(boot string) {
	for _, d := range v.torn {
		// Without a record before it, a line that has its content was cut off by its writer.
		if boot != v.boot && boot != "" && (v.boot != "" || d.Why == unwritten) {
			v.Cut = append(v.Cut, finding(d))
		} else {
			v.Damage = append(v.Damage, finding(d))
		}
	}
	v.torn = nil
}

func finding(d *Damage) Finding { return Finding{d.Start.String(), d.Length, d.String()} }

// torn reports whether the line is one that was never written whole.
func (d *Damage) torn() bool { return d.Why == unwritten || d.Why == unfinished }
