package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/dbcanary/dbcanary"
)

// ErrProtocol is in the chain of every error about an answer that the protocol
// does not allow: the peer is another kind of server, or one of us is wrong.
var ErrProtocol = errors.New("unexpected answer")

// ConnectError turns the failure of a login at address into one line with the
// protocol ("MySQL", "PostgreSQL"), user and address, never the password, and a
// hint for the usual causes. A *ServerError, ErrProtocol or ctx's error in the
// chain of cause stays there.
func ConnectError(ctx context.Context, protocol string, address Address, cause error) error {
	// A deadline that ctx put on the socket shows up as a failed read.
	if ctx.Err() != nil && (errors.Is(cause, os.ErrDeadlineExceeded) || errors.Is(cause, ctx.Err())) {
		cause = context.Cause(ctx)
	}
	failure := &dbcanary.Error{
		Code: dbcanary.CodeUnavailable,
		Op:   fmt.Sprintf("connect to %s at %s", protocol, address),
		Err:  cause,
	}
	var refused *ServerError
	switch {
	case errors.As(cause, &refused):
		failure.Hint = loginHint(refused.Code)
	case errors.Is(cause, context.DeadlineExceeded):
		failure.Err = fmt.Errorf("no complete login within the connect timeout: %w", cause)
		failure.Hint = "does a " + protocol + " server listen there, and is it not overloaded?"
	case errors.Is(cause, ErrProtocol):
		failure.Hint = "does a " + protocol + " server listen there?"
	case errors.Is(cause, syscall.ECONNREFUSED), errors.Is(cause, syscall.ENOENT):
		failure.Hint = "is the server started, and is this where it listens?"
	case errors.Is(cause, io.EOF), errors.Is(cause, io.ErrUnexpectedEOF), errors.Is(cause, syscall.ECONNRESET), errors.Is(cause, syscall.EPIPE):
		failure.Err = fmt.Errorf("the server closed the connection during the login: %w", cause)
		failure.Hint = "does a " + protocol + " server listen there? its log may say why"
	}
	return failure
}

// loginHint says what to do about a server's refusal.
func loginHint(code string) string {
	switch code {
	case "1045", "1698", "28P01", "28000":
		return "check the user and the password"
	case "1049", "1044", "3D000":
		return "check the name of the database and the user's rights on it"
	case "1040", "1203", "53300":
		return "use fewer connections or raise the server's max_connections"
	case "1129", "1130":
		return "the server accepts no login from this host"
	}
	return ""
}

// OneLine makes text that a server or a library wrote fit into a one-line message.
func OneLine(text string) string {
	return strings.Join(strings.Fields(text), " ")
}

// ClientTLS gives the configuration for a TLS handshake with address, which
// checks the certificate against Host unless the configuration says otherwise;
// nil for none.
func (a Address) ClientTLS() *tls.Config {
	if a.TLS == nil || a.TLS.ServerName != "" || a.TLS.InsecureSkipVerify {
		return a.TLS
	}
	config := a.TLS.Clone()
	config.ServerName = a.Host
	return config
}
