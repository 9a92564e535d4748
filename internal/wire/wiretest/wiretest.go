// Package wiretest has what the tests of both wire protocols share: a server
// inside the test, answers that arrive in pieces, and servers at which no login
// can succeed.
package wiretest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/wire"
)

// Timeout bounds whatever a test waits for.
const Timeout = 20 * time.Second

// Password is the password of the addresses that Serve gives; no error may show it.
const Password = "hunter2-secret"

// Context gives a context that ends with the test and after Timeout.
func Context(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), Timeout)
	t.Cleanup(cancel)
	return ctx
}

// Serve listens on a unix socket and runs handler for each connection, which is
// closed after it. The test does not end before the handlers have.
func Serve(t testing.TB, handler func(net.Conn)) wire.Address {
	t.Helper()
	directory, err := os.MkdirTemp("", "wire") // t.TempDir can be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(directory) })
	socket := filepath.Join(directory, "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, listener, handler)
	return wire.Address{Socket: socket, User: "ann", Password: Password, Database: "shop"}
}

// ServeTCP is Serve on a TCP port.
func ServeTCP(t testing.TB, handler func(net.Conn)) wire.Address {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serve(t, listener, handler)
	port := listener.Addr().(*net.TCPAddr).Port
	return wire.Address{Host: "127.0.0.1", Port: port, User: "ann", Password: Password, Database: "shop"}
}

func serve(t testing.TB, listener net.Listener, handler func(net.Conn)) {
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer conn.Close()
				_ = conn.SetDeadline(time.Now().Add(Timeout))
				handler(conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		running.Wait()
	})
}

// TLS gives the configurations of a server and of a client that trusts it, for
// 127.0.0.1.
func TLS(t testing.TB) (server, client *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(certificate)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}},
		&tls.Config{RootCAs: roots}
}

// Pieces gives what it reads from Answer in pieces of Size bytes, and takes and
// forgets what is written: a server in memory.
type Pieces struct {
	Answer []byte
	Size   int
}

// Read gives the next piece.
func (p *Pieces) Read(b []byte) (int, error) {
	if len(p.Answer) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.Answer[:min(p.Size, len(p.Answer))])
	p.Answer = p.Answer[n:]
	return n, nil
}

// Write forgets b.
func (p *Pieces) Write(b []byte) (int, error) { return len(b), nil }

// Dialer is the Dial of a protocol.
type Dialer func(context.Context, wire.Address) (wire.Conn, error)

// badLogins are servers of no protocol that we speak, with what the error has
// to say.
var badLogins = []struct {
	name  string
	greet string
	hang  bool
	want  string
}{
	{name: "hangs", hang: true, want: "connect timeout"},
	{name: "closes", want: "closed the connection during the login"},
	{name: "half a header", greet: "J\x00", want: "closed the connection during the login"},
	{name: "ssh", greet: "SSH-2.0-OpenSSH_9.2\r\n", hang: true, want: "server listen there?"},
	{name: "http", greet: "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", want: "server listen there?"},
	{name: "smtp", greet: "220 mail ESMTP\r\n", hang: true, want: "server listen there?"},
	{name: "zeros", greet: strings.Repeat("\x00", 4096), hang: true, want: "server listen there?"},
}

// BadLogins checks that dial fails in time and with one clear line at servers
// that hang, hang up or speak something else.
func BadLogins(t *testing.T, dial Dialer) {
	for _, test := range badLogins {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			done := make(chan struct{})
			address := Serve(t, func(conn net.Conn) {
				_, _ = io.WriteString(conn, test.greet)
				if test.hang {
					<-done
				}
			})
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			_, err := dial(ctx, address)
			close(done)
			ClearLoginError(t, err, address, test.want)
		})
	}
	t.Run("nobody listens", func(t *testing.T) {
		address := wire.Address{Socket: filepath.Join(t.TempDir(), "none"), User: "ann", Password: Password}
		_, err := dial(Context(t), address)
		ClearLoginError(t, err, address, "is the server started")
	})
	t.Run("canceled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		address := Serve(t, func(conn net.Conn) {
			cancel()
			_, _ = io.Copy(io.Discard, conn)
		})
		_, err := dial(ctx, address)
		ClearLoginError(t, err, address, "context canceled")
	})
}

// ClearLoginError checks that err is one line with user, address and want, and
// without the password.
func ClearLoginError(t *testing.T, err error, address wire.Address, want string) {
	t.Helper()
	if err == nil {
		t.Fatal("the login succeeded")
	}
	text := err.Error()
	if !strings.Contains(text, address.String()) || !strings.Contains(text, want) {
		t.Errorf("error %q lacks %q or %q", text, address.String(), want)
	}
	if strings.Contains(text, Password) || strings.ContainsAny(text, "\n\r") {
		t.Errorf("error %q shows the password or has several lines", text)
	}
	if code := dbcanary.ErrorCode(err); code != dbcanary.CodeUnavailable {
		t.Errorf("code %q, want %q", code, dbcanary.CodeUnavailable)
	}
}
