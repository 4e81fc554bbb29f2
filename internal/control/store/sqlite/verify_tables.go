package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/stopgate/stopgate/internal/control/store"
)

// types finds the rows with a value that is not of the type that it was written as. SQLite
// keeps any type in any column, and who expects a blob reads nothing from a text.
const types = `
SELECT 'batches' FROM batches WHERE typeof(body) <> 'blob'
UNION ALL SELECT 'heads' FROM heads WHERE typeof(subject) <> 'text' OR typeof(position) <> 'integer' OR typeof(hash) <> 'blob'
UNION ALL SELECT 'ids' FROM ids WHERE typeof(prints) <> 'blob'
UNION ALL SELECT 'snapshots' FROM snapshots WHERE typeof(hash) <> 'blob' OR typeof(data) <> 'blob'`

func (v *verifier) checkTypes(ctx context.Context) error {
	err := v.each(ctx, types, func(rows *sql.Rows) error {
		var table string
		err := rows.Scan(&table)
		v.report.Add(0, "", "the table %s has a value of the wrong type", table)
		return err
	})
	return v.damage(err, "the types of the values cannot be read")
}

// readRecords reads what the store has written down about itself, before the events that
// it is about.
func (v *verifier) readRecords(ctx context.Context) error {
	return v.scan(ctx, func(b batch) {
		for _, e := range b.entries {
			// One that is not sound is found with all others.
			if store.Own(e.Subject) && e.Sound() && v.record(e.Event) != nil {
				v.report.Add(e.Position, e.Subject, "it cannot be understood")
			}
		}
	}, func(store.Position, error) {})
}

// checkHeads compares the table of heads with the records: both have the same heads, and
// the table has that of the records besides.
func (v *verifier) checkHeads(ctx context.Context) error {
	table := map[string]store.Head{}
	err := v.each(ctx, "SELECT subject, position, hash FROM heads", func(rows *sql.Rows) error {
		var subject string
		var head store.Head
		var hash []byte
		err := rows.Scan(&subject, &head.Position, &hash)
		copy(head.Hash[:], hash)
		table[subject] = head
		return err
	})
	if err != nil {
		return v.damage(err, "the table of heads cannot be read")
	}

	for _, subject := range slices.Sorted(maps.Keys(v.heads)) {
		recorded := v.heads[subject]
		if head, ok := table[subject]; !ok {
			v.report.Add(0, subject, "it is missing from the table of heads; the records say that it ends at event %d", recorded.Position)
		} else if head != recorded {
			v.report.Add(0, subject, "the table of heads says that it ends at event %d, the records at %d", head.Position, recorded.Position)
		}
		delete(table, subject)
	}
	maps.Copy(v.heads, table)
	v.indexed = v.heads[headsSubject].Position
	return nil
}

// checkIDs reads the table of ids. Each of its rows belongs to a record of heads, or to a
// trim.
func (v *verifier) checkIDs(ctx context.Context) error {
	err := v.each(ctx, "SELECT last, prints FROM ids", func(rows *sql.Rows) error {
		var last store.Position
		var prints sql.RawBytes
		if err := rows.Scan(&last, &prints); err != nil {
			return err
		}
		if last > v.trim.to && !v.records[last] {
			v.report.Add(0, "", "the table of ids ends at event %d, which is not a record of heads", last)
		}
		v.prints = slices.AppendSeq(v.prints, unpack(prints))
		return nil
	})
	slices.Sort(v.prints)
	return v.damage(err, "the table of ids cannot be read")
}

// each calls do with every row of a query. A row that do fails with is damaged.
func (v *verifier) each(ctx context.Context, query string, do func(*sql.Rows) error) error {
	rows, err := v.conn.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			return fmt.Errorf("%w: %w", store.ErrDamaged, err)
		}
	}
	return rows.Err()
}

func (v *verifier) record(e store.Event) error {
	if e.Subject == trimsSubject {
		return v.trim.add(e.Data)
	}
	v.records[e.Position] = true
	var r headsRecord
	if err := json.Unmarshal(e.Data, &r); err != nil {
		return err
	}
	for subject, head := range r.Heads {
		v.heads[subject] = store.Head(head)
	}
	if r.Lost != 0 {
		v.report.Notes = append(v.report.Notes, fmt.Sprintf(
			"before event %d the database was put back to an older copy of itself: event %d was once known", e.Position, r.Lost))
	}
	return nil
}
