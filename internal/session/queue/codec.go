package queue

import (
	"encoding/json"
	"fmt"

	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// Parse reads the text of a queue's file.
func Parse(text []byte) (q Queue, err error) {
	if err = json.Unmarshal(text, &q); err == nil {
		err = q.check()
	}
	if err != nil {
		return Queue{}, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return q, nil
}

func (q *Queue) encode() ([]byte, error) { return rawjson.Lines(q) }
