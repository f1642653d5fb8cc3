package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// raw is a keep-alive client that costs as little as one can.
type raw struct {
	nc      net.Conn
	br      *bufio.Reader
	request []byte
}

func dial(addr, path string) (*raw, error) {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &raw{nc, bufio.NewReader(nc), []byte("GET " + path + " HTTP/1.1\r\nHost: h\r\n\r\n")}, nil
}

func (r *raw) send() error {
	_, err := r.nc.Write(r.request)
	return err
}

// skip reads one answer with a Content-Length and throws it away.
func (r *raw) skip() error {
	length := 0
	for {
		line, err := r.br.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) <= 2 {
			break
		}
		if rest, ok := strings.CutPrefix(string(line), "Content-Length: "); ok {
			if length, err = strconv.Atoi(strings.TrimSpace(rest)); err != nil {
				return err
			}
		}
	}
	_, err := r.br.Discard(length)
	return err
}

// timed makes a request and returns the time to the first byte of its answer.
func (r *raw) timed() (time.Duration, error) {
	began := time.Now()
	if err := r.send(); err != nil {
		return 0, err
	}
	if _, err := r.br.Peek(1); err != nil {
		return 0, err
	}
	took := time.Since(began)
	resp, err := http.ReadResponse(r.br, nil)
	if err != nil {
		return 0, err
	}
	return took, resp.Body.Close()
}

// each runs f for n clients at once and returns the first error.
func each(n int, addr, path string, f func(*raw) error) error {
	errs := make(chan error, n)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			r, err := dial(addr, path)
			if err == nil {
				err = f(r)
				r.nc.Close()
			}
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return fmt.Errorf("%s%s: %w", addr, path, err)
		}
	}
	return nil
}

// percentile returns the p-th percentile of v in milliseconds.
func percentile(v []time.Duration, p float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	return float64(v[min(len(v)-1, int(p/100*float64(len(v))))].Microseconds()) / 1000
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}
