package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/mccutchen/go-httpbin/v2/httpbin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

// serve runs one of the servers that the partner is measured beside, until it
// is killed.
func serve(name string) error {
	switch name {
	case "nethttp":
		return listen(bare())
	case "httpbin":
		return listen(httpbin.New(httpbin.WithMaxDuration(time.Hour)))
	case "toxiproxy-delay":
		return toxic(`{"type":"latency","attributes":{"latency":100}}`)
	case "toxiproxy-hang":
		return toxic(`{"type":"timeout","attributes":{"timeout":0}}`)
	}
	return fmt.Errorf("no such server: %s", name)
}

// bare is what anyone would write: it answers as long a body as the partner.
func bare() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{\"effect\":1}\n")
	})
	mux.HandleFunc("/delay", func(w http.ResponseWriter, _ *http.Request) {
		<-time.After(100 * time.Millisecond) // as late as time.Sleep would be
		_, _ = io.WriteString(w, "{\"effect\":1}\n")
	})
	mux.HandleFunc("/hang", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	return mux
}

func listen(h http.Handler) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("ready url=http://%s\n", ln.Addr())
	return http.Serve(ln, h)
}

// toxic runs a proxy with one toxic, in front of a bare server of its own.
func toxic(body string) error {
	upstream, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() { _ = http.Serve(upstream, bare()) }()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.New(os.Stderr).Level(zerolog.Disabled))
	proxy := toxiproxy.NewProxy(server, "p", "127.0.0.1:0", upstream.Addr().String())
	if err := proxy.Start(); err != nil {
		return err
	}
	if _, err := proxy.Toxics.AddToxicJson(strings.NewReader(body)); err != nil {
		return err
	}
	fmt.Printf("ready url=http://%s\n", proxy.Listen)
	select {}
}
