package launch

// ConfigError is a launch that cannot be as things stand: the command line, ccc.json
// or a settings file must change first.
type ConfigError struct {
	error
	Hint string // what to do about it; may be ""
}

// Unwrap implements errors.Unwrap.
func (e ConfigError) Unwrap() error { return e.error }

// ClientError is a client that cannot be found or started.
type ClientError struct {
	error
	Hint string // likewise
}

// Unwrap implements errors.Unwrap.
func (e ClientError) Unwrap() error { return e.error }
