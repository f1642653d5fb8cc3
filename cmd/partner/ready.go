package main

import (
	"encoding/json"
	"fmt"
	"io"

	"chaoslab/faults"
)

// ready is a ready line as a JSON object.
type ready struct {
	Schema string `json:"schema"`
	Mode   string `json:"mode,omitempty"`
	Name   string `json:"name,omitempty"`
	Admin  bool   `json:"admin,omitempty"`
	URL    string `json:"url"`
}

const readySchema = "partner.ready/1"

// printReady says which ports are in their state, the admin port last. All goes
// out in one write, so that whoever reads the last line has read all.
func printReady(w io.Writer, asJSON bool, listeners []faults.Listener, adminURL string) error {
	var out []byte
	for _, l := range listeners {
		if !asJSON {
			name := ""
			if l.Name != l.Mode {
				name = " name=" + l.Name
			}
			out = fmt.Appendf(out, "ready mode=%s%s url=%s\n", l.Mode, name, l.URL)
			continue
		}
		line, err := json.Marshal(ready{Schema: readySchema, Mode: l.Mode, Name: l.Name, URL: l.URL})
		if err != nil {
			return err
		}
		out = append(append(out, line...), '\n')
	}
	if asJSON {
		line, err := json.Marshal(ready{Schema: readySchema, Admin: true, URL: adminURL})
		if err != nil {
			return err
		}
		out = append(append(out, line...), '\n')
	} else {
		out = fmt.Appendf(out, "ready admin url=%s\n", adminURL)
	}
	_, err := w.Write(out)
	return err
}
