package faults

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
)

// handshake makes the TLS handshake, once.
func (c *conn) handshake() bool {
	if c.tls.ConnectionState().HandshakeComplete {
		return true
	}
	c.deadline(c.tcp.SetDeadline, c.p.cfg.ReadTimeout)
	err := c.tls.Handshake()
	if err != nil {
		c.tellPlain(err)
		if c.p.isStopping() || clientEnded(err) {
			c.closeFor(err)
		} else {
			c.close(tlsFailed, isAlert(err))
		}
		return false
	}
	c.deadline(c.tcp.SetDeadline, 0)
	return true
}

// clientEnded says whether a handshake broke off because the client ended the
// connection.
func clientEnded(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// isAlert says whether it was the client that did not want to go on: it sent an
// alert, which crypto/tls tells by this name alone.
func isAlert(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

// plain is what a client gets that speaks HTTP to a TLS port.
const plain = "this port speaks TLS: call it with https://\n"

// tellPlain answers a client that speaks HTTP to a TLS port.
func (c *conn) tellPlain(err error) {
	var wrong tls.RecordHeaderError
	if !errors.As(err, &wrong) || wrong.Conn == nil {
		return
	}
	switch string(wrong.RecordHeader[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "DELET", "OPTIO", "PATCH":
		fmt.Fprintf(rawSide{c}, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(plain), plain)
	}
}
