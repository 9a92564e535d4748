package mysqlwire

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/dbcanary/dbcanary/internal/wire"
)

// Authentication plugins, by the name of their client's side.
const (
	nativePassword = "mysql_native_password"
	cachingSHA2    = "caching_sha2_password"
	ed25519        = "client_ed25519"
)

// Payloads of caching_sha2_password (page_caching_sha2_authentication_exchanges).
const (
	authMoreData     = 0x01
	requestPublicKey = 0x02
	fastAuthDone     = 0x03
	fullAuthNeeded   = 0x04
)

// maxAuthRounds is more than any login takes.
const maxAuthRounds = 8

// authenticate sends the login (page_protocol_connection_phase_packets_protocol_handshake_response)
// and answers until the server is content.
func (l *login) authenticate(want capabilities) error {
	plugin, scramble := l.server.plugin, l.server.scramble
	if !knownPlugin(plugin) {
		plugin = nativePassword // the server asks again if the account wants another
	}
	if strings.ContainsRune(l.address.User+l.address.Database, 0) {
		return fmt.Errorf("a NUL in the user or the database")
	}
	proof, err := prove(plugin, scramble, l.address.Password)
	if err != nil {
		return err
	}
	out := appendResponseHead(make([]byte, headerSize), want)
	out = append(append(out, l.address.User...), 0)
	out = append(append(out, byte(len(proof))), proof...)
	if l.address.Database != "" {
		out = append(append(out, l.address.Database...), 0)
	}
	out = append(append(out, plugin...), 0)
	if err := l.write(out); err != nil {
		return err
	}
	for range maxAuthRounds {
		payload, err := l.read()
		if err != nil {
			return err
		}
		switch payload[0] {
		case okPacket:
			return nil
		case errPacket:
			return serverError(payload)
		case eofPacket:
			plugin, scramble, err = l.switchPlugin(payload)
		case authMoreData:
			err = l.moreData(plugin, scramble, payload[1:])
		default:
			err = protocolError("%#x in the login", payload[0])
		}
		if err != nil {
			return err
		}
	}
	return protocolError("a login without end")
}

// switchPlugin answers a request for another plugin
// (page_protocol_connection_phase_packets_protocol_auth_switch_request).
func (l *login) switchPlugin(payload []byte) (plugin string, scramble []byte, err error) {
	name, data, found := bytes.Cut(payload[1:], []byte{0})
	if !found {
		return "", nil, fmt.Errorf("the account has a password from before MySQL 4.1, which is not supported")
	}
	plugin = string(name)
	if !knownPlugin(plugin) {
		return "", nil, fmt.Errorf("the account uses the authentication plugin %q; supported are %s, %s and %s",
			wire.OneLine(plugin), nativePassword, cachingSHA2, ed25519)
	}
	scramble = bytes.Clone(data)
	if plugin != ed25519 && len(scramble) > scrambleSize {
		scramble = scramble[:scrambleSize] // a NUL follows
	}
	proof, err := prove(plugin, scramble, l.address.Password)
	if err != nil {
		return "", nil, err
	}
	return plugin, scramble, l.write(append(make([]byte, headerSize), proof...))
}

// moreData goes on with caching_sha2_password: the server either knows the
// account's hash, or needs the password itself, in the clear where nobody can
// listen and else encrypted with its public key.
func (l *login) moreData(plugin string, scramble, data []byte) error {
	switch {
	case plugin != cachingSHA2 || len(data) == 0:
		return protocolError("more data for %s", plugin)
	case len(data) == 1 && data[0] == fastAuthDone:
		return nil
	case len(data) == 1 && data[0] == fullAuthNeeded && l.secure:
		out := append(make([]byte, headerSize), l.address.Password...)
		return l.write(append(out, 0))
	case len(data) == 1 && data[0] == fullAuthNeeded:
		return l.write(append(make([]byte, headerSize), requestPublicKey))
	}
	key, err := parsePublicKey(data)
	if err != nil {
		return err
	}
	sealed, err := mysql.EncryptPassword(l.address.Password, scramble, key)
	if err != nil {
		return fmt.Errorf("encrypt the password with the server's public key: %w", err)
	}
	return l.write(append(make([]byte, headerSize), sealed...))
}

func parsePublicKey(data []byte) (*rsa.PublicKey, error) {
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, protocolError("a public key that is not PEM")
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, protocolError("the server's public key: %v", err)
	}
	public, ok := key.(*rsa.PublicKey)
	if !ok {
		return nil, protocolError("a public key of type %T", key)
	}
	return public, nil
}

func knownPlugin(name string) bool {
	return name == nativePassword || name == cachingSHA2 || name == ed25519
}

// prove gives the proof that we know the password.
func prove(plugin string, scramble []byte, password string) ([]byte, error) {
	size := scrambleSize
	if plugin == ed25519 {
		size = 32
	}
	if len(scramble) < size {
		return nil, protocolError("%d random bytes for %s", len(scramble), plugin)
	}
	scramble = scramble[:size]
	switch plugin {
	case cachingSHA2:
		return mysql.CalcCachingSha2Password(scramble, password), nil
	case ed25519:
		return mysql.CalcEd25519Password(scramble, password)
	}
	return mysql.CalcPassword(scramble, []byte(password)), nil
}
