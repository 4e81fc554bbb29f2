package hook

// DecodeStop reads the payload of a stop hook that needs little of it: the
// directory and whether a block led here. Everything else may be missing, or not
// what it should be.
func DecodeStop(data []byte) (*StopPayload, error) {
	members, err := split(data)
	if err != nil {
		return nil, &PayloadError{Event: Stop, Faults: []string{err.Error()}}
	}
	d := newDecoder(members)
	d.faults = nil // of two fields with one name the last counts
	payload := &StopPayload{}
	payload.members = members
	for _, f := range fieldsOf(payload) {
		before := d.faults
		f.need = optional
		d.field(f)
		if f.name != "cwd" && f.name != "stop_hook_active" {
			d.faults = before
		}
	}
	if len(d.faults) > 0 {
		return nil, &PayloadError{Event: Stop, Faults: d.faults}
	}
	payload.HookEventName = string(Stop)
	return payload, nil
}
