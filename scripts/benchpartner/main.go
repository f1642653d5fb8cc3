// Command benchpartner measures the partner beside a bare net/http server,
// go-httpbin and toxiproxy, in one run. scripts/bench-partner starts it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// bench is one run.
type bench struct {
	ctx     context.Context
	partner string // path of the program
	self    string // path of this program, which is also the other servers
	quick   bool
	out     *tabwriter.Writer
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == "serve" {
		exitOn(serve(os.Args[2]))
		return
	}
	partner := flag.String("partner", "", "path of the partner program")
	quick := flag.Bool("quick", false, "fewer and shorter rounds")
	only := flag.String("only", "delay,ok,memory,drip", "which sections")
	flag.Parse()
	self, err := os.Executable()
	exitOn(err)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	b := &bench{ctx, *partner, self, *quick, tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)}
	fmt.Printf("%s, %s/%s, %d processors\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	for _, s := range []struct {
		name, title string
		run         func(*bench) error
	}{
		{"delay", "Delay 100 ms, concurrency 4: overshoot in ms", (*bench).delay},
		{"ok", "Answers at once: requests per second, keep-alive, concurrency 16, medians of rotated rounds", (*bench).ok},
		{"memory", "10,000 that hang: resident kB each over the idle process", (*bench).memory},
		{"drip", "Drips of 100 bytes, one per 20 ms: ms", (*bench).drip},
	} {
		if !strings.Contains(*only, s.name) {
			continue
		}
		fmt.Printf("\n%s\n", s.title)
		exitOn(s.run(b))
		exitOn(b.out.Flush())
	}
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-partner:", err)
		os.Exit(1)
	}
}

func (b *bench) row(cells ...any) {
	for i, c := range cells {
		if i > 0 {
			fmt.Fprint(b.out, "\t")
		}
		if f, ok := c.(float64); ok {
			fmt.Fprintf(b.out, "%.2f", f)
			continue
		}
		fmt.Fprint(b.out, c)
	}
	fmt.Fprintln(b.out)
}

func (b *bench) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-b.ctx.Done():
	}
}
