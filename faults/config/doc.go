// Package config reads a partner's configuration file.
//
//	seed: 7
//	admin: 127.0.0.1:8079
//	ledger_size: 100000
//	per_request: false
//	listeners:
//	  - name: pay
//	    listen: 127.0.0.1:8080
//	    faults:
//	      - slow:delay=300ms,when=first=3
//	      - mode: status
//	        status: 429
//	        retry-after: 1
//	        for: 10s
//	  - name: ship
//	    listen: localhost:8081
//	    tls: true
//
// It is strict: an unknown key or a bad value is an error that names the file,
// the line and what is allowed.
//
// It leaves out YAML's anchors, aliases, tags and several documents in one file:
// none is needed here, and each is a way to write one thing and mean another.
package config
