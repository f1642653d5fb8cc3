package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/referee/folder"
	"chaoslab/labs/referee/handin"
	page "chaoslab/labs/referee/report"
)

func newLabReport(s cli.Streams, o *labOptions) *cobra.Command {
	c := &cobra.Command{
		Use:   "report N",
		Short: "the last run as one HTML page that needs nothing else",
		RunE: func(_ *cobra.Command, args []string) error {
			lab, err := labOf("report", args)
			if err != nil {
				return err
			}
			f, err := o.open(lab)
			if err != nil {
				return err
			}
			g, err := f.Last()
			if err != nil {
				return err
			}
			var html bytes.Buffer
			if err := page.Write(&html, g); err != nil {
				return err
			}
			path := o.output
			if path == "" {
				path, err = filepath.Join(f.Dir, folder.ReportFile), handin.Write(f.Dir, folder.ReportFile, html.Bytes())
			} else {
				err = os.WriteFile(path, html.Bytes(), 0o644)
			}
			if err != nil {
				return err
			}
			fmt.Fprintln(s.Out, path)
			return nil
		},
	}
	c.Flags().StringVarP(&o.output, "output", "o", "", "where to write the `page` (default: report.html in the folder)")
	return c
}
