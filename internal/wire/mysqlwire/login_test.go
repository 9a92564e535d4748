package mysqlwire

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/wire/wiretest"
)

func TestBadLogins(t *testing.T) { wiretest.BadLogins(t, Dial) }

// switchTo asks for a plugin and gives the client's proof.
func (p *peer) switchTo(plugin, scramble string) []byte {
	p.send(append(append([]byte{eofPacket}, plugin...), append([]byte{0}, scramble...)...))
	length, err := p.header()
	if err != nil || length == 0 {
		return nil
	}
	proof, err := p.payload(length)
	if err != nil {
		return nil
	}
	return bytes.Clone(proof)
}

// verdict ends a login.
func (p *peer) verdict(good bool) {
	if good {
		p.send(okPayload(okPacket, 0, 2))
	} else {
		p.send(errPayload(1045, "Access denied for user 'ann'"))
	}
}

func TestAuthentication(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	publicKey := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	sha2Proof := mysql.CalcCachingSha2Password([]byte(testScramble), wiretest.Password)
	long := strings.Repeat("z", 32)
	edProof, err := mysql.CalcEd25519Password([]byte(long), wiretest.Password)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		plugin string // of the greeting
		tcp    bool   // else by a unix socket, where the password may go in the clear
		auth   func(p *peer)
		want   string // in the error; "" for a login that works
	}{
		{name: "switch to native", plugin: cachingSHA2, auth: func(p *peer) {
			got := p.switchTo(nativePassword, testScramble+"\x00")
			p.verdict(bytes.Equal(got, mysql.CalcPassword([]byte(testScramble), []byte(wiretest.Password))))
		}},
		{name: "unknown default", plugin: "sha256_password", auth: func(p *peer) {
			p.verdict(bytes.Equal(p.switchTo(cachingSHA2, testScramble+"\x00"), sha2Proof))
		}},
		{name: "ed25519", plugin: nativePassword, auth: func(p *peer) {
			p.verdict(bytes.Equal(p.switchTo(ed25519, long), edProof))
		}},
		{name: "caching_sha2 fast", plugin: cachingSHA2, auth: func(p *peer) {
			p.send([]byte{authMoreData, fastAuthDone})
			p.verdict(true)
		}},
		{name: "caching_sha2 full by socket", plugin: cachingSHA2, auth: func(p *peer) {
			p.send([]byte{authMoreData, fullAuthNeeded})
			got, _ := p.read()
			p.verdict(string(got) == wiretest.Password+"\x00")
		}},
		{name: "caching_sha2 full by TCP", plugin: cachingSHA2, tcp: true, auth: func(p *peer) {
			p.send([]byte{authMoreData, fullAuthNeeded})
			if got, _ := p.read(); !bytes.Equal(got, []byte{requestPublicKey}) {
				p.verdict(false)
				return
			}
			p.send(append([]byte{authMoreData}, publicKey...))
			sealed, _ := p.read()
			plain, _ := rsa.DecryptOAEP(sha1.New(), nil, key, sealed, nil)
			for i := range plain {
				plain[i] ^= testScramble[i%scrambleSize]
			}
			p.verdict(string(plain) == wiretest.Password+"\x00")
		}},
		{name: "not a key", plugin: cachingSHA2, tcp: true, auth: func(p *peer) {
			p.send([]byte{authMoreData, 'x'})
		}, want: "public key"},
		{name: "refused", plugin: nativePassword, auth: func(p *peer) { p.verdict(false) }, want: "check the user and the password"},
		{name: "no such database", plugin: nativePassword, auth: func(p *peer) {
			p.send(errPayload(1049, "Unknown database 'shop'"))
		}, want: "check the name of the database"},
		{name: "unknown plugin", plugin: nativePassword, auth: func(p *peer) { p.switchTo("dialog", "x") }, want: `"dialog"`},
		{name: "short scramble", plugin: nativePassword, auth: func(p *peer) { p.switchTo(cachingSHA2, "short") }, want: "random bytes"},
		{name: "before 4.1", plugin: nativePassword, auth: func(p *peer) { p.send([]byte{eofPacket}) }, want: "before MySQL 4.1"},
		{name: "endless", plugin: cachingSHA2, auth: func(p *peer) {
			for range maxAuthRounds {
				p.send([]byte{authMoreData, fastAuthDone})
			}
		}, want: "without end"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := &fake{caps: modern, plugin: test.plugin, auth: test.auth, answer: func([]byte) [][]byte { return nil }}
			serve := wiretest.Serve
			if test.tcp {
				serve = wiretest.ServeTCP
			}
			address := serve(t, f.serve)
			c, err := Dial(wiretest.Context(t), address)
			if test.want != "" {
				wiretest.ClearLoginError(t, err, address, test.want)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTLS(t *testing.T) {
	server, client := wiretest.TLS(t)
	f := &fake{caps: modern, plugin: cachingSHA2, tls: server}
	f.auth = func(p *peer) {
		p.send([]byte{authMoreData, fullAuthNeeded})
		got, _ := p.read()
		p.verdict(string(got) == wiretest.Password+"\x00")
	}
	f.answer = func([]byte) [][]byte { return resultSet(true, []byte{0, 1}, make([]byte, 100_000)) }
	address := wiretest.ServeTCP(t, f.serve)
	address.TLS = client
	c, err := Dial(wiretest.Context(t), address)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if got, err := c.Query([]byte("SELECT 1")); err != nil || got.Rows != 2 || got.Bytes != 100_002 {
			t.Errorf("%v, %v", got, err)
		}
	}
	c.Abort()
	if _, err := c.Query([]byte("SELECT 1")); !errors.Is(err, wire.ErrAborted) {
		t.Errorf("error %v, want %v", err, wire.ErrAborted)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	address.TLS = client.Clone()
	address.TLS.ServerName = "elsewhere.example"
	_, err = Dial(wiretest.Context(t), address)
	wiretest.ClearLoginError(t, err, address, "TLS handshake")

	plain := wiretest.ServeTCP(t, (&fake{caps: old, plugin: nativePassword}).serve)
	plain.TLS = client
	_, err = Dial(wiretest.Context(t), plain)
	wiretest.ClearLoginError(t, err, plain, "offers no TLS")
}

func TestGreeting(t *testing.T) {
	caps := capabilities{base: clientMust | clientDeprecateEOF, mariaDB: 0x1c}
	whole := greetingPayload(caps, nativePassword)
	got, err := parseGreeting(whole)
	if err != nil || got.version != "10.11.9-MariaDB" || got.caps != caps || string(got.scramble) != testScramble || got.plugin != nativePassword {
		t.Errorf("%+v, %v", got, err)
	}
	if want := clientCapabilities(got, wire.Address{}); want.mariaDB != mariaDBCacheMetadata {
		t.Errorf("MariaDB's flags are %#x, want %#x", want.mariaDB, mariaDBCacheMetadata)
	}
	tooOld := greetingPayload(capabilities{base: clientProtocol41}, "")
	if _, err := parseGreeting(tooOld); err == nil || !strings.Contains(err.Error(), "too old") {
		t.Errorf("error %v, want one that says too old", err)
	}
	for cut := 1; cut < len(whole)-len(nativePassword)-1; cut++ {
		if _, err := parseGreeting(whole[:cut]); err == nil {
			t.Errorf("a greeting cut to %d bytes is no error", cut)
		}
	}
	// A server that is full answers before it greets.
	full := errPayload(1040, "Too many connections")
	address := wiretest.Serve(t, func(conn net.Conn) { _, _ = conn.Write(frame(0, full)) })
	_, err = Dial(wiretest.Context(t), address)
	wiretest.ClearLoginError(t, err, address, "max_connections")
}
