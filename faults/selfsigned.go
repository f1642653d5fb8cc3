package faults

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/netip"
	"time"
)

// certificateLife is how long a certificate made at start is good.
const certificateLife = 30 * 24 * time.Hour

// SelfSigned makes an authority and a certificate of it for localhost, the
// loopback addresses and the addresses given. It returns the setup for
// ListenerConfig.TLS, which speaks HTTP/1.1 alone, and the authority's
// certificate in PEM for clients to trust. The keys are new at every call and
// are written nowhere.
func SelfSigned(addrs ...netip.Addr) (setup *tls.Config, authorityPEM []byte, err error) {
	now := time.Now()
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "partner: made at start, for tests only"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateLife),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("certificate: %w", err)
	}
	authorityDER, err := x509.CreateCertificate(rand.Reader, authority, authority, authorityKey.Public(), authorityKey)
	if err != nil {
		return nil, nil, fmt.Errorf("certificate: %w", err)
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "partner"},
		NotBefore: authority.NotBefore, NotAfter: authority.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: []string{"localhost"},
	}
	addrs = append(addrs, netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback())
	for _, a := range addrs {
		leaf.IPAddresses = append(leaf.IPAddresses, a.AsSlice())
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("certificate: %w", err)
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, authority, key.Public(), authorityKey)
	if err != nil {
		return nil, nil, fmt.Errorf("certificate: %w", err)
	}
	setup = &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der, authorityDER}, PrivateKey: key}},
		NextProtos:   []string{"http/1.1"}, // what HTTP/2 clients fall back to
		MinVersion:   tls.VersionTLS12,
	}
	return setup, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authorityDER}), nil
}
