package referee

import (
	"errors"
	"strings"
)

// splitWords splits a command line at its blanks; quotes keep them. A line that
// begins with # has no words. There is no shell: nothing else is special.
func splitWords(line string) ([]string, error) {
	if strings.HasPrefix(line, "#") {
		return nil, nil
	}
	var words []string
	var word strings.Builder
	open, inWord := rune(0), false
	for _, r := range line {
		switch {
		case open != 0 && r == open:
			open = 0
		case open != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			open, inWord = r, true
		case r == ' ' || r == '\t':
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if open != 0 {
		return nil, errors.New("a quote is not closed")
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}
