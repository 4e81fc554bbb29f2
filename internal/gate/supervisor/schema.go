package supervisor

// Schema is what the client has the reviewer answer.
const Schema = `{"type":"object","properties":{"completed":{"type":"boolean"},"feedback":{"type":"string"}},"required":["completed","feedback"]}`
