package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"chaoslab/cmd/internal/cli"
)

// printFeedback prints the four lines of a finding; each goes on below itself, as
// far in as it begins, where it is too long for the terminal.
func printFeedback(four string, out io.Writer) {
	for line := range strings.Lines(four) {
		head, text := splitFeedback(strings.TrimSuffix(line, "\n"))
		fmt.Fprintln(out, cli.Paragraph(head, breakWords(text, cli.Width-utf8.RuneCountInString(head))))
	}
}

// splitFeedback splits a line behind its label and the blanks that follow.
func splitFeedback(line string) (head, text string) {
	label := strings.TrimLeft(line, " ")
	_, rest, _ := strings.Cut(label, " ")
	text = strings.TrimLeft(rest, " ")
	if strings.HasPrefix(label, "look at:") {
		text = strings.TrimLeft(strings.TrimPrefix(label, "look at:"), " ")
	}
	return line[:len(line)-len(text)], text
}

// breakWords breaks words that are longer than a line, such as a program's JSON.
func breakWords(text string, width int) string {
	var b strings.Builder
	for i, word := range strings.Split(text, " ") {
		if i > 0 {
			b.WriteByte(' ')
		}
		for n, r := range []rune(word) {
			if n > 0 && n%width == 0 {
				b.WriteByte(' ')
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}
