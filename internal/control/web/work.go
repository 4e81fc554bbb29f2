package web

// retryWork has a work item tried again that is dead.
func retryWork(r *Request) (next string, err error) {
	id, err := r.ID()
	if err != nil {
		return "", err
	}
	_, err = r.RetryWork(r.Context(), id)
	return "/", err
}

// dropWork removes a work item from its queue.
func dropWork(r *Request) (next string, err error) {
	id, err := r.ID()
	if err != nil {
		return "", err
	}
	_, err = r.DropWork(r.Context(), id)
	return "/", err
}
