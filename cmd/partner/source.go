package main

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"

	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
	"chaoslab/faults"
	"chaoslab/internal/chainhop"
)

// source is where the faults come from: modes and their parameters on the
// command line, or a file.
type source struct {
	modes   []string
	params  map[string]string
	file    string
	listen  string
	seed    uint64
	hasSeed bool
	remote  bool     // addresses that others can reach are allowed
	notes   []string // what --mode all leaves out, and why
	hint    string   // what to type where no mode is given
}

const defaultListen = "127.0.0.1:8080"

func (o *source) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&o.modes, "mode", nil, "what to do: all, or one `MODE` of those that partner modes lists")
	f.StringVar(&o.file, "config", "", "several listeners, their faults in order and schedules, from a YAML `file`")
	f.Uint64Var(&o.seed, "seed", 0, "makes the row of outcomes; without it one is drawn, and printed")
	addParamFlags(cmd)
}

// read takes from the flags what they do not store by themselves.
func (o *source) read(cmd *cobra.Command) error {
	o.params = changedParams(cmd)
	o.hasSeed = cmd.Flags().Changed("seed")
	if err := cli.RefuseEmpty(cmd, "config"); err != nil || o.file == "" {
		return err
	}
	if len(o.modes) > 0 || len(o.params) > 0 || cmd.Flags().Changed("listen") {
		return cli.Usagef("--config says which faults are where: leave out --mode, --listen and the parameters of modes")
	}
	return nil
}

// load makes a partner's configuration.
func (o *source) load() (configFile, error) {
	var f configFile
	var err error
	if o.file != "" {
		f, err = readConfig(o.file, o.remote)
	} else {
		f.Listeners, err = o.listeners()
		f.tls = make([]bool, len(f.Listeners))
		if circle := chainhop.CheckCircle(f.Listeners); err == nil && circle != nil {
			err = cli.Usagef("--next: %w", circle)
		}
	}
	if err != nil {
		return f, err
	}
	f.Modes = modes()
	switch {
	case o.hasSeed:
		f.Seed = o.seed
	case !f.hasSeed:
		f.Seed = drawSeed()
	}
	return f, nil
}

// tellSeed says what makes the row of outcomes, and how to have it again if the
// user did not choose it.
func (o *source) tellSeed(w io.Writer, f configFile) {
	again := ""
	if !o.hasSeed && !f.hasSeed {
		again = fmt.Sprintf(" (drawn: --seed %d gives the same row of outcomes again)", f.Seed)
	}
	fmt.Fprintf(w, "seed %d%s\n", f.Seed, again)
}

// drawSeed draws a seed that is short enough to be typed.
func drawSeed() uint64 {
	var b [4]byte
	_, _ = rand.Read(b[:]) // it never fails
	return uint64(binary.NativeEndian.Uint32(b[:]))
}

// listeners makes the configuration from the flags.
func (o *source) listeners() ([]faults.ListenerConfig, error) {
	switch {
	case len(o.modes) == 0:
		return nil, cli.Usagef("no mode given: type %s, %q for what there is", o.hint, "partner modes")
	case len(o.modes) == 1 && o.modes[0] == "all":
		return o.everything()
	}
	specs, err := parseModes(o.modes, o.params)
	if err != nil {
		return nil, err
	}
	return []faults.ListenerConfig{{Listen: o.listen, Faults: specs}}, nil
}

// everything gives each fault a port: the one of --listen and those after it, or
// free ones.
func (o *source) everything() ([]faults.ListenerConfig, error) {
	host, first, err := splitListen(o.listen)
	var names []string
	for _, f := range modes().All() {
		if unsupported := f.Supported(); unsupported != nil {
			o.notes = append(o.notes, unsupported.Error())
			continue
		}
		names = append(names, f.Name)
	}
	if err != nil || first > 0 && first+len(names)-1 > 65535 {
		return nil, cli.Usagef("--listen %q: write HOST:PORT; %d ports from there on are needed, or port 0 for free ones", o.listen, len(names))
	}
	for _, key := range []string{"when", "for"} {
		if _, ok := o.params[key]; ok {
			return nil, cli.Usagef("--%s does not go with --mode all: choose one mode", key)
		}
	}
	specs, err := parseModes(names, o.params)
	if err != nil {
		return nil, err
	}
	all := make([]faults.ListenerConfig, len(specs))
	for i, s := range specs {
		p := 0
		if first > 0 {
			p = first + i
		}
		all[i] = faults.ListenerConfig{Listen: net.JoinHostPort(host, strconv.Itoa(p)), Faults: []faults.Spec{s}}
	}
	return all, nil
}

func splitListen(listen string) (host string, port int, err error) {
	if listen == "" {
		listen = defaultListen
	}
	host, text, err := net.SplitHostPort(listen)
	if err != nil {
		return "", 0, err
	}
	port, err = strconv.Atoi(text)
	if err == nil && (port < 0 || port > 65535) {
		err = errors.New("no such port")
	}
	return host, port, err
}
