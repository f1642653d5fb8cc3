// Package jsonobject reads one JSON object key by key, in order and with keys
// that stand twice, which encoding/json cannot tell.
package jsonobject
