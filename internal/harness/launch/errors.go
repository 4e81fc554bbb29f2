package launch

// ConfigError is a launch that cannot be as things stand: the command line, ccc.json
// or a settings file must change first.
type ConfigError struct {
	error
	Hint string // what to do about it; may be ""
}

// Unwrap implements errors.Unwrap.
func (e ConfigError) Unwrap() error { return e.error }

// StartError is a Claude Code that cannot be found or started.
type StartError struct {
	error
	Hint string // likewise
}

// Unwrap implements errors.Unwrap.
func (e StartError) Unwrap() error { return e.error }
