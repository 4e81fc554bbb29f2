package runbook

import "github.com/stopgate/stopgate/internal/project/document"

// maxUSD is more than anybody means to spend.
const maxUSD = 1_000_000

// DefaultAnswers are what a decision can expire to.
func DefaultAnswers() []Default { return []Default{DefaultGoOn, DefaultDone, DefaultCancel} }

func (b *Budget) fields() []field {
	return []field{
		document.Key("usd", &b.USD, document.Amount(false, maxUSD), "US dollars, by the prices of the global config."),
		document.Key("time", &b.Time, duration, "Running time; waiting for a person does not count."),
	}
}

// budget reads what may be spent: money, time or both.
func budget() typeOf[Budget] {
	return document.Then(document.Object((*Budget).fields), func(v value, b Budget) (Budget, bool) {
		if len(nodeOf(v).entries) == 0 {
			wrong(v, "budget is empty", `write { usd = 5.0 }, { time = "2h" } or both`)
		}
		return b, true
	}).As(document.Ref("budget"))
}

// fields are how long a decision waits for a person, and what holds then.
func (e *Expire) fields() []field {
	return []field{
		document.Key("after", &e.After, duration, "How long a decision waits for a person.").Needed(),
		document.Key("answer", &e.Answer, oneOf("answer", DefaultAnswers()...), "The answer then.").Needed(),
	}
}

func expire() typeOf[Expire] { return document.Object((*Expire).fields).As(document.Ref("expire")) }

// notify reads templates of what people are told.
func (d *decoder) notify() typeOf[Notify] {
	return document.Object(d.notifyFields).As(document.Ref("notify"))
}

func (d *decoder) notifyFields(n *Notify) []field {
	return []field{
		document.Key("on_start", &n.OnStart, d.words(), "When it starts."),
		document.Key("on_done", &n.OnDone, d.words(), "When it is done."),
		document.Key("on_fail", &n.OnFail, d.words(), "When it has failed; ${error} is the reason."),
		document.Key("on_cancel", &n.OnCancel, d.words(), "When it was cancelled; ${error} is the reason."),
	}
}
