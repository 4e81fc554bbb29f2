package hook

// FieldType tells what JSON a field holds.
type FieldType struct {
	Name     string
	Required bool
	NonBlank bool
	Value    any // a zero value of the Go type it decodes to; nil means any JSON
}

// Describe lists the fields of an event's payload. The schema generator reads
// it, so that schema and decoder cannot disagree.
func Describe(e Event) []FieldType {
	var out []FieldType
	for _, f := range fieldsOf(newPayload(e)) {
		t := FieldType{Name: f.name, Required: f.need != optional, NonBlank: f.need == nonBlank}
		if kindOf(f.dst) != anyKind {
			t.Value = f.dst
		}
		out = append(out, t)
	}
	return out
}
