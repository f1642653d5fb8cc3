package cli

import (
	"strings"
	"unicode/utf8"
)

// Wrap breaks text between words so that no line is longer than width, but for
// a word that is longer by itself. Line breaks in text are kept.
func Wrap(text string, width int) string {
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		column := 0
		for _, word := range strings.Fields(line) {
			n := utf8.RuneCountInString(word)
			switch {
			case column == 0:
			case column+1+n > width:
				b.WriteByte('\n')
				column = 0
			default:
				b.WriteByte(' ')
				column++
			}
			b.WriteString(word)
			column += n
		}
	}
	return b.String()
}

// Paragraph returns text behind head, wrapped at Width with its further lines
// as far in as the first.
func Paragraph(head, text string) string {
	indent := utf8.RuneCountInString(head)
	return head + strings.ReplaceAll(Wrap(text, Width-indent), "\n", "\n"+strings.Repeat(" ", indent))
}
