package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"chaoslab/cmd/internal/cli"
	"chaoslab/cmd/internal/strictyaml"
	"chaoslab/faults"
	"chaoslab/faults/admin"
	"chaoslab/internal/chainhop"
)

// configFile is what a configuration file says; see the command's help. What it does not
// say is zero.
type configFile struct {
	faults.Config
	hasSeed bool
	admin   string // address of the admin port
	tls     []bool // for each listener, whether TLS is to be spoken

	// Where the file says it; flags have no place.
	lines   [][]strictyaml.Node // each fault of each listener
	adminAt strictyaml.Node
	at      []strictyaml.Node // each listener's address, or the listener where it has none
}

// place gives an error of the partner the place in the file of the listener that
// it is about.
func (f *configFile) place(err error) error {
	var wrong *faults.ListenerError
	if errors.As(err, &wrong) && wrong.Index < len(f.at) {
		return f.at[wrong.Index].Errorf("%w", err)
	}
	return err
}

// permit adds to an error about an address that others can reach how to allow it.
func permit(err error) error {
	if errors.Is(err, faults.ErrNotLoopback) {
		return fmt.Errorf("%w: give --allow-remote", err)
	}
	return err
}

// permitHere is permit for an address in a file.
func permitHere(err error) error {
	if errors.Is(err, faults.ErrNotLoopback) {
		return fmt.Errorf("%w, or write %s: true", permit(err), keyRemote)
	}
	return err
}

// keyRemote is the key for --allow-remote.
const keyRemote = "allow_remote"

// The bounds of a file.
const (
	maxCount     = 10_000_000 // ledger_size, max_connections
	maxListeners = 1000
)

func readConfig(path string, allowRemote bool) (configFile, error) {
	root, err := strictyaml.Read(path)
	var missing *fs.PathError
	switch {
	case errors.As(err, &missing):
		return configFile{}, fmt.Errorf("--config: %w", err)
	case err != nil:
		return configFile{}, cli.Usagef("%w", err)
	}
	f, err := parseConfig(root, allowRemote)
	if err != nil {
		return f, cli.Usagef("%w", err)
	}
	return f, nil
}

func parseConfig(root strictyaml.Node, allowRemote bool) (configFile, error) {
	var f configFile
	remote := func(n strictyaml.Node) error { return boolean(n, keyRemote, &f.AllowRemote) }
	// Wherever it stands, the addresses are judged by it.
	if n, ok := root.Value(keyRemote); ok {
		if err := remote(n); err != nil {
			return f, err
		}
	}
	allowRemote = allowRemote || f.AllowRemote
	err := root.Mapping(
		"the file",
		strictyaml.Key{Name: "seed", Read: func(n strictyaml.Node) error { f.hasSeed = true; return unsigned(n, "seed", &f.Seed) }},
		strictyaml.Key{Name: "admin", Read: func(n strictyaml.Node) error {
			f.adminAt = n
			return checked(n, "admin", &f.admin, func(s string) error { return permitHere(admin.CheckListen(s, allowRemote)) })
		}},
		strictyaml.Key{Name: "ledger_size", Read: func(n strictyaml.Node) error { return n.Count("ledger_size", &f.LedgerSize, 1, maxCount) }},
		strictyaml.Key{Name: "max_connections", Read: func(n strictyaml.Node) error { return n.Count("max_connections", &f.MaxConns, 1, maxCount) }},
		strictyaml.Key{Name: "per_request", Read: func(n strictyaml.Node) error {
			on := true
			err := boolean(n, "per_request", &on)
			f.NoPerRequest = !on
			return err
		}},
		strictyaml.Key{Name: keyRemote, Read: remote},
		strictyaml.Key{Name: "listeners", Read: func(n strictyaml.Node) error { return f.readListeners(n, allowRemote) }},
	)
	if err == nil && len(f.Listeners) == 0 {
		return f, root.Errorf("no listener: write listeners: and under it at least one, such as - listen: %s", defaultListen)
	}
	if err != nil {
		return f, err
	}
	return f, f.checkCircle()
}

// checkCircle refuses hops of chains that lead round in a circle, with the line of
// one that does.
func (f *configFile) checkCircle() error {
	err := chainhop.CheckCircle(f.Listeners)
	var circle *chainhop.CircleError
	if errors.As(err, &circle) {
		return f.lines[circle.Listener][circle.Fault].Errorf("%w", err)
	}
	return err
}

func unsigned(n strictyaml.Node, what string, to *uint64) error {
	var text string
	if err := n.Text(what, &text); err != nil {
		return err
	}
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return n.Errorf("%s: %q is not a whole number from 0", what, text)
	}
	*to = v
	return nil
}

func boolean(n strictyaml.Node, what string, to *bool) error {
	var text string
	if err := n.Word(what, &text, "true", "false"); err != nil {
		return err
	}
	*to = text == "true"
	return nil
}

// checked reads a text and lets check judge it, so that an error has its line.
func checked(n strictyaml.Node, what string, to *string, check func(string) error) error {
	if err := n.Text(what, to); err != nil {
		return err
	}
	if err := check(*to); err != nil {
		return n.Errorf("%w", err)
	}
	return nil
}

func (f *configFile) readListeners(n strictyaml.Node, allowRemote bool) error {
	entries, err := n.List("listeners", maxListeners)
	if err != nil {
		return err
	}
	names, ports := map[string]bool{}, map[string]bool{}
	for _, entry := range entries {
		var l faults.ListenerConfig
		tls, at := false, entry
		var lines []strictyaml.Node
		err := entry.Mapping(
			"a listener",
			strictyaml.Key{Name: "name", Read: func(n strictyaml.Node) error { return checked(n, "name", &l.Name, faults.CheckName) }},
			strictyaml.Key{Name: "listen", Read: func(n strictyaml.Node) error {
				at = n
				return checked(n, "listen", &l.Listen, func(s string) error {
					if err := faults.CheckListen(s, allowRemote); err != nil {
						return permitHere(err)
					}
					if ports[s] && !strings.HasSuffix(s, ":0") {
						return fmt.Errorf("listen address %s is given twice", s)
					}
					ports[s] = true
					return nil
				})
			}},
			strictyaml.Key{Name: "tls", Read: func(n strictyaml.Node) error { return boolean(n, "tls", &tls) }},
			strictyaml.Key{Name: "faults", Read: func(n strictyaml.Node) (err error) { l.Faults, lines, err = readFaults(n); return err }},
		)
		if err != nil {
			return err
		}
		name := l.Name
		if name == "" {
			name = faults.DefaultName(l.Faults)
		}
		if names[name] {
			return entry.Errorf("the name %s is given twice: give each a name of its own; without one it is named after its modes", name)
		}
		names[name] = true
		f.Listeners = append(f.Listeners, l)
		f.tls = append(f.tls, tls)
		f.lines = append(f.lines, lines)
		f.at = append(f.at, at)
	}
	return nil
}

// readFaults reads a list of faults, each as text or as keys and values, and
// returns them and where they are written.
func readFaults(n strictyaml.Node) ([]faults.Spec, []strictyaml.Node, error) {
	entries, err := n.List("faults", faults.MaxFaults)
	if err != nil {
		return nil, nil, err
	}
	specs := make([]faults.Spec, len(entries))
	for i, entry := range entries {
		if specs[i], err = readFault(entry); err != nil {
			return nil, nil, err
		}
	}
	if err := modes().CheckRow(specs); err != nil {
		return nil, nil, n.Errorf("%w", err)
	}
	return specs, entries, nil
}

func readFault(n strictyaml.Node) (faults.Spec, error) {
	if !n.IsMapping() {
		var text string
		if err := n.Text("a fault", &text); err != nil {
			return faults.Spec{}, err
		}
		s, err := modes().Parse(text)
		if err != nil {
			return s, n.Errorf("%w", err)
		}
		return s, nil
	}
	mode, params, at := "", map[string]string{}, n
	lines := map[string]strictyaml.Node{}
	err := n.Entries("a fault", func(key string, value strictyaml.Node) error {
		var text string
		if err := value.Text(key, &text); err != nil {
			return err
		}
		if key == "mode" {
			mode, at = text, value
			return nil
		}
		params[key], lines[key] = text, value
		return nil
	})
	if err != nil {
		return faults.Spec{}, err
	}
	if _, err := modes().ParseWith(mode, nil); err != nil {
		return faults.Spec{}, at.Errorf("%w", err)
	}
	s, err := modes().ParseWith(mode, params)
	if err == nil {
		return s, nil
	}
	// What is wrong with one value alone has its line; what only shows together has
	// the mode's.
	for key, text := range params {
		if _, alone := modes().ParseWith(mode, map[string]string{key: text}); alone != nil && alone.Error() == err.Error() {
			at = lines[key]
		}
	}
	return s, at.Errorf("%w", err)
}
