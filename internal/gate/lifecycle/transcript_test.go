package lifecycle

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

var check = checktest.OK

// The lines are the client's, shortened.
const (
	faultLine  = `{"type":"assistant","isSidechain":false,"message":{"model":"<synthetic>","role":"assistant","content":[{"type":"text","text":"You've hit your session limit · resets 7:26pm (UTC)"}]},"error":"rate_limit","isApiErrorMessage":true,"apiErrorStatus":429}` + "\n"
	useLine    = `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"make"}}]}}` + "\n"
	resultLine = `{"type":"user","message":{"content":[{"tool_use_id":"toolu_1","type":"tool_result","content":"ok"}]}}` + "\n"
)

func TestLastError(t *testing.T) {
	fault, found := lastError([]byte(useLine + resultLine + faultLine))
	if want := (apiFault{"rate_limit", "You've hit your session limit · resets 7:26pm (UTC)"}); !found || fault != want {
		t.Errorf("%+v, %t", fault, found)
	}
	for text, word := range map[string]string{
		strings.Replace(faultLine, `"rate_limit"`, `{"type":"x"}`, 1):    "unknown",
		strings.Replace(faultLine, `"error":"rate_limit",`, "", 1):       "unknown",
		strings.Replace(faultLine, `"rate_limit"`, `"a b; rm -rf /"`, 1): "unknown",
		strings.Replace(faultLine, `"rate_limit"`, `"server_error"`, 1):  "server_error",
	} {
		if fault, found := lastError([]byte(text)); !found || fault.word != word {
			t.Errorf("%s: %+v, %t", text, fault, found)
		}
	}
}

func FuzzLastError(f *testing.F) {
	f.Add([]byte(faultLine))
	f.Add([]byte(useLine + "\n{\n" + faultLine + `{"type":"user`))
	f.Fuzz(func(t *testing.T, text []byte) {
		fault, found := lastError(text)
		if found && (fault.word == "" || len(fault.word) > 64 || !bytes.Contains(text, []byte("assistant"))) {
			t.Errorf("%q is %+v", text, fault)
		}
		if c := plain.Cut(fault.text, 500); len(c) > 500 || utf8.ValidString(fault.text) && !utf8.ValidString(c) {
			t.Errorf("%q is cut to %q", fault.text, c)
		}
	})
}
