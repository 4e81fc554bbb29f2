package web

// readNow reads what is happening.
func readNow(*Request) (any, error) { return struct{}{}, nil }
