package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
)

func (w *writer) disconnect() {
	for _, s := range w.stmt {
		_ = s.Close()
	}
	_ = w.conn.Close()
	w.s.log.close()
}

// change executes a statement that writes: what the transaction does has to be synced.
func (w *writer) change(query string, args ...any) error {
	w.wrote = true
	return w.exec(query, args...)
}

// exec executes a statement, which is prepared once.
func (w *writer) exec(query string, args ...any) error {
	s, err := w.prepared(query)
	if err != nil {
		return err
	}
	_, err = s.(driver.StmtExecContext).ExecContext(context.Background(), w.named(args))
	return err
}

// row returns the first row of a query, io.EOF when there is none.
func (w *writer) row(query string, args ...any) ([]driver.Value, error) {
	var first []driver.Value
	err := w.each(query, args, func(row []driver.Value) error {
		if first == nil {
			first = append(first, row...)
		}
		return nil
	})
	if err == nil && first == nil {
		err = io.EOF
	}
	return first, err
}

// each calls do with every row of a query.
func (w *writer) each(query string, args []any, do func(row []driver.Value) error) error {
	s, err := w.prepared(query)
	if err != nil {
		return err
	}
	rows, err := s.(driver.StmtQueryContext).QueryContext(context.Background(), w.named(args))
	if err != nil {
		return err
	}
	defer rows.Close()
	row := make([]driver.Value, len(rows.Columns()))
	for {
		if err := rows.Next(row); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := do(row); err != nil {
			return err
		}
	}
}

func (w *writer) prepared(query string) (driver.Stmt, error) {
	if s, ok := w.stmt[query]; ok {
		return s, nil
	}
	s, err := w.conn.Prepare(query)
	if err == nil {
		w.stmt[query] = s
	}
	return s, err
}

func (w *writer) named(args []any) []driver.NamedValue {
	w.args = w.args[:0]
	for i, a := range args {
		w.args = append(w.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return w.args
}
