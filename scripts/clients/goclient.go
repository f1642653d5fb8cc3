// Command goclient makes one GET with the timeout settings of Go's own client, for
// compare-clients.sh: goclient total|phases URL.
package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	begun := time.Now()
	err := get(os.Args[1], os.Args[2])
	fmt.Printf("took %.3f\n", time.Since(begun).Seconds())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func get(kind, url string) error {
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // a partner on loopback, without a name
	client := &http.Client{Transport: transport}
	if kind == "total" {
		client.Timeout = seconds("TOTAL")
	} else {
		transport.DialContext = (&net.Dialer{Timeout: seconds("CONNECT")}).DialContext
		transport.TLSHandshakeTimeout = 1500 * time.Millisecond
		transport.ResponseHeaderTimeout = seconds("READ")
	}
	resp, err := client.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

func seconds(name string) time.Duration {
	d, err := time.ParseDuration(os.Getenv(name) + "s")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return d
}
