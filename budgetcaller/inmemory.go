package budgetcaller

import (
	"bytes"
	"io"
	"net/http"
	"reflect"
	"strings"
)

// smallBody reports whether req has a body that goes out with its head in one
// piece: one that fits the buffer of a connection, and so the partner's window,
// and that is in memory, so that nothing waits for it. It needs no sending
// beside the reading of the answer.
func smallBody(req *http.Request) bool {
	return req.ContentLength > 0 && req.ContentLength <= bufferSize && inMemory(req.Body)
}

// inMemory reports whether reading r cannot wait. It knows the types that
// net/http does in the same place.
func inMemory(r io.Reader) bool {
	switch r.(type) {
	case *bytes.Buffer, *bytes.Reader, *strings.Reader:
		return true
	}
	switch reflect.TypeOf(r) {
	case reflect.TypeOf(io.NopCloser(nil)), reflect.TypeOf(io.NopCloser((*bytes.Reader)(nil))):
		inner, ok := reflect.ValueOf(r).Field(0).Interface().(io.Reader)
		return ok && inMemory(inner)
	}
	return false
}
