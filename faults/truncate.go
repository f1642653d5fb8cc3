package faults

import (
	"bytes"
	"fmt"
	"net/http"
)

func truncateFault() Fault {
	return Fault{
		Name: "truncate", Effect: "yes", acts: true, Curl: "18", Class: "truncated",
		Summary: "an orderly end, exactly at the named place",
		Params: []Param{
			atParam("body:50", "where it ends: in the head, after N bytes of a declared length, or after one whole chunk of half the body", "head", "body:N", "chunk"),
			cutBodyParam(),
		},
		build: func(a args) (behavior, error) {
			at, size := a.place("at"), a.int("body")
			if err := at.within(size); err != nil {
				return behavior{}, err
			}
			return behavior{request: func(x *Exchange) {
				x.upTo(at, size)
				x.endFIN(truncated)
			}}, nil
		},
	}
}

// atParam is the place at which a fault strikes.
func atParam(zero, help string, words ...string) Param {
	return Param{Name: "at", Kind: KindPlace, Default: zero, Words: words, Help: help}
}

// within refuses a place at or beyond the end of a body of size bytes.
func (p Place) within(size int64) error {
	if p.Word == "body" && p.Byte >= size {
		return fmt.Errorf("at: %s is beyond the body of %d bytes: nothing would be missing", p, size)
	}
	return nil
}

// upTo sends an answer up to the place.
func (x *Exchange) upTo(at Place, size int64) {
	a := answer{status: http.StatusOK, size: size, chunked: at.Word == "chunk"}
	switch at.Word {
	case "head":
		x.writeHead(a)
		// Inside the first header line, so that no length has been announced:
		// curl takes such a head for a whole one.
		x.buf = x.buf[:bytes.Index(x.buf, []byte("\r\n"))+len("\r\nContent-")]
		x.flush()
	case "body":
		x.partly(a, at.Byte)
	case "chunk":
		a = x.writeHead(a)
		half := max(1, a.size/2)
		x.buf = fmt.Appendf(x.buf, "%x\r\n", half)
		x.bodyPart(0, half, a.size)
		x.buf = append(x.buf, "\r\n"...)
		x.flush()
	}
}
