package config

// ParseProject reads the content of a config.yml, or finds fault with it.
func ParseProject(name string, data []byte) (*Project, error) { return sound(parseProject(name, data)) }

// ParseGlobal reads the content of a global configuration, or finds fault with it.
func ParseGlobal(name string, data []byte) (*Global, error) { return sound(parseGlobal(name, data)) }

func sound[T any](parsed *T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return parsed, nil
}
