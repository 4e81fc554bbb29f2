package engine

import (
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// keptLines is how much of what a command printed other steps can see.
const keptLines = 20

// lastLines are the last lines that a command printed.
func lastLines(text string) string {
	return plain.LastLines(strings.TrimRight(text, "\n"), keptLines)
}

// keepOutput keeps what a step that is left leaves behind beside what its command wrote: why it
// failed, and the words of its agent.
func (o *Owner) keepOutput(step, failure string) {
	output := o.Outputs[step]
	if o.Agent != nil {
		output = Output{}
		if s := o.Agent.Signal; s != nil {
			output.Signal, output.Values = s.Message, o.Agent.Values
		}
	}
	output.Error = failure
	o.Outputs = with(o.Outputs, step, output)
}

// outputs adds what steps left behind to what templates can name.
func (o *Owner) outputs(values map[string]string) {
	for step, output := range o.Outputs {
		name := "steps." + step + "."
		values[name+runbook.ValueLogTail] = output.Tail
		values[name+runbook.ValueSignal] = output.Signal
		values[name+runbook.ValueError] = output.Error
		for key, value := range output.Values {
			values[name+runbook.ValueOutput+"."+key] = value
		}
	}
}

// failure is why the last step failed, with the end of what it printed.
func (o *Owner) failure() string {
	tail := o.Outputs[o.Failed].Tail
	if o.Failed == "" || !strings.Contains(tail, "\n") {
		return o.Error
	}
	return o.Error + "\n" + tail
}

// absent says which template of a step has no value, or "".
func (d *draft) absent(texts ...string) string {
	values := d.values()
	for _, text := range texts {
		for _, name := range runbook.Names(text) {
			v, ok := runbook.ParseStepValue(name)
			if _, known := values[name]; !ok || known {
				continue
			}
			if _, ended := d.Outputs[v.Step]; !ended {
				return fmt.Sprintf("${%s} has no value: step %q has not ended", name, v.Step)
			}
			return fmt.Sprintf("${%s} has no value: step %q did not write it to $STOPGATE_OUTPUT", name, v.Step)
		}
	}
	return ""
}

// soundOutput is what a command wrote as it is when it comes back from the store.
func soundOutput(output map[string]string) map[string]string {
	var all map[string]string
	for name, value := range output {
		all = with(all, name, sound(value))
	}
	return all
}
