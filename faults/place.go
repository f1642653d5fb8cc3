package faults

import (
	"fmt"
	"strconv"
	"strings"
)

// Place is a point on the wire at which a fault strikes.
type Place struct {
	Word string // accept, request, head, body or chunk
	Byte int64  // for body: after how many bytes of it
}

// String returns the place as it is written: head, body:50.
func (p Place) String() string {
	if p.Word == "body" {
		return "body:" + strconv.FormatInt(p.Byte, 10)
	}
	return p.Word
}

// parsePlace reads a place word; allowed are those of words, where body:N
// stands for any number of bytes.
func parsePlace(text string, words []string) (Place, error) {
	word, number, isBody := strings.Cut(text, ":")
	for _, w := range words {
		switch {
		case w == "body:N" && word == "body" && isBody:
			n, err := strconv.ParseInt(number, 10, 64)
			if err != nil || n < 0 || n > MaxBytes {
				return Place{}, fmt.Errorf("%q: the byte after body: is a number from 0 to %d", text, MaxBytes)
			}
			return Place{Word: "body", Byte: n}, nil
		case w == text && w != "body:N":
			return Place{Word: text}, nil
		}
	}
	return Place{}, fmt.Errorf("%q is not a place here: one of %s", text, strings.Join(words, ", "))
}
