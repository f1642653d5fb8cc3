package cli

import (
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Width is the number of columns that every table fits in.
const Width = 80

// NewTable returns a table in the house style, to be rendered to w: no box, a
// line under the head, two spaces between columns, plain ASCII, so that it can
// be pasted anywhere and no locale shows. Keeping within Width is up to whoever
// fills it.
func NewTable(w io.Writer, head ...string) table.Writer {
	box := table.StyleBoxDefault
	box.PaddingLeft, box.PaddingRight = "", ""
	box.MiddleVertical, box.MiddleSeparator, box.TopSeparator, box.BottomSeparator = "  ", "--", "--", "--"
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(table.Style{
		Name:   "plain",
		Box:    box,
		Format: table.FormatOptions{Header: text.FormatDefault},
		Options: table.Options{
			SeparateColumns:               true,
			SeparateHeader:                true,
			DoNotRenderSeparatorWhenEmpty: true,
		},
	})
	t.SuppressTrailingSpaces()
	row := make(table.Row, len(head))
	for i, h := range head {
		row[i] = h
	}
	t.AppendHeader(row)
	return t
}
