package launcher

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/harness/endpoint"
)

// answersOf are the answers in what comes in two pieces.
func answersOf(first, second []byte) (answers []endpoint.Answer, rest int) {
	w := &answerLines{take: func(a endpoint.Answer) { answers = append(answers, a) }}
	_, _ = w.Write(first)
	_, _ = w.Write(second)
	return answers, len(w.rest)
}

// It makes no difference to answers where the pipe cuts them.
func FuzzAnswerLines(f *testing.F) {
	f.Add([]byte(`{"name":"a","verdict":"valid"}`+"\nnoise\n"+`{"name":"b","verdict":"rejected","status":401}`+"\n{"), uint16(20))
	f.Add([]byte("\n\n"), uint16(1))
	f.Fuzz(func(t *testing.T, text []byte, at uint16) {
		cut := min(int(at), len(text))
		whole, _ := answersOf(text, nil)
		pieces, rest := answersOf(text[:cut], text[cut:])
		if diff := cmp.Diff(whole, pieces); diff != "" && len(text) <= longestAnswer {
			t.Error(diff)
		}
		if rest > longestAnswer {
			t.Errorf("%d bytes are kept", rest)
		}
	})
}

func TestAnswerLinesKeepsLittle(t *testing.T) {
	half := bytes.Repeat([]byte("x"), 10<<20)
	if answers, rest := answersOf(half, half); len(answers) > 0 || rest > longestAnswer {
		t.Errorf("%d answers, and %d bytes are kept", len(answers), rest)
	}
}
