package config

// into reads a setting to where it belongs.
func into[T any](to *T, read func(value, *T) bool) func(value) {
	return func(v value) { read(v, to) }
}

// optional reads a setting that is nil where nobody said anything.
func optional[T any](to **T, read func(value, *T) bool) func(value) {
	return func(v value) {
		var setting T
		if read(v, &setting) {
			*to = &setting
		}
	}
}

// listOf reads a list, each entry of it with read.
func listOf[T any](to *[]T, read func(value, *T) bool) func(value) {
	return func(v value) {
		items, _ := v.list()
		readAll(items, to, read)
	}
}

// someOf is listOf for a list that must not be empty.
func someOf[T any](to *[]T, read func(value, *T) bool) func(value) {
	return func(v value) {
		items, ok := v.list()
		if ok && len(items) == 0 {
			v.fault("must have at least one entry", "")
		}
		readAll(items, to, read)
	}
}

// readAll keeps the entries that are valid.
func readAll[T any](items []value, to *[]T, read func(value, *T) bool) {
	if len(items) == 0 {
		return
	}
	*to = nil // a default is replaced, not added to
	for _, item := range items {
		var setting T
		if read(item, &setting) {
			*to = append(*to, setting)
		}
	}
}
