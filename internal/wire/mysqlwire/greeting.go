package mysqlwire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/dbcanary/dbcanary/internal/wire"
)

// Capability flags (group__group__cs__capabilities__flags).
const (
	clientMySQL           = 1 << 0 // CLIENT_LONG_PASSWORD; MariaDB leaves it out to offer flags of its own
	clientLongFlag        = 1 << 2
	clientConnectWithDB   = 1 << 3
	clientLocalFiles      = 1 << 7
	clientProtocol41      = 1 << 9
	clientSSL             = 1 << 11
	clientTransactions    = 1 << 13
	clientSecureConn      = 1 << 15
	clientPluginAuth      = 1 << 19
	clientDeprecateEOF    = 1 << 24
	clientMust            = clientProtocol41 | clientSecureConn | clientPluginAuth
	mariaDBCacheMetadata  = 1 << 4 // bit 36 of the whole
	utf8mb4               = 45     // utf8mb4_general_ci, which every server has
	maxServerPacket       = 1 << 30
	protocolVersion       = 10
	scrambleSize          = 20
	firstScramble         = 8
	mariaDBVersionPrefix  = "5.5.5-" // put before versions from 10 on
	reservedBeforeMariaDB = 6
)

// capabilities are MySQL's flags and MariaDB's own.
type capabilities struct {
	base    uint32
	mariaDB uint32
}

// greeting is what a server says first (page_protocol_connection_phase_packets_protocol_handshake_v10).
type greeting struct {
	version  string
	caps     capabilities
	scramble []byte
	plugin   string
}

func parseGreeting(payload []byte) (greeting, error) {
	var g greeting
	if payload[0] == errPacket {
		return g, serverError(payload)
	}
	if payload[0] != protocolVersion {
		return g, protocolError("a greeting of protocol %d, not %d", payload[0], protocolVersion)
	}
	version, rest, found := bytes.Cut(payload[1:], []byte{0})
	// thread id 4, scramble 8, filler 1, flags 2, collation 1, status 2, flags 2,
	// length of the scramble 1, reserved 6, MariaDB's flags 4
	const fixed = 31
	if !found || len(rest) < fixed {
		return g, protocolError("a short greeting")
	}
	g.version = strings.TrimPrefix(string(version), mariaDBVersionPrefix)
	g.scramble = append(g.scramble, rest[4:4+firstScramble]...)
	g.caps.base = uint32(binary.LittleEndian.Uint16(rest[13:])) | uint32(binary.LittleEndian.Uint16(rest[18:]))<<16
	if g.caps.base&clientMust != clientMust {
		return g, fmt.Errorf("server %s is too old: it lacks the 4.1 protocol or pluggable authentication", wire.OneLine(g.version))
	}
	if g.caps.base&clientMySQL == 0 {
		g.caps.mariaDB = binary.LittleEndian.Uint32(rest[27:])
	}
	second := max(13, int(rest[20])-firstScramble)
	rest = rest[fixed:]
	if len(rest) < second {
		return g, protocolError("a short greeting")
	}
	g.scramble = append(g.scramble, rest[:scrambleSize-firstScramble]...)
	plugin, _, _ := bytes.Cut(rest[second:], []byte{0})
	g.plugin = string(plugin)
	return g, nil
}

// clientCapabilities are the flags that we ask for.
func clientCapabilities(server greeting, address wire.Address) capabilities {
	want := capabilities{base: clientMust | clientLongFlag | clientTransactions}
	want.base |= server.caps.base & (clientMySQL | clientDeprecateEOF | clientLocalFiles)
	if address.Database != "" {
		want.base |= clientConnectWithDB
	}
	if address.TLS != nil {
		want.base |= clientSSL
	}
	if want.base&clientDeprecateEOF != 0 {
		want.mariaDB = server.caps.mariaDB & mariaDBCacheMetadata
	}
	return want
}

// appendResponseHead appends the part of the login that is also the request for
// TLS (page_protocol_connection_phase_packets_protocol_ssl_request).
func appendResponseHead(out []byte, want capabilities) []byte {
	out = binary.LittleEndian.AppendUint32(out, want.base)
	out = binary.LittleEndian.AppendUint32(out, maxServerPacket)
	out = append(out, utf8mb4)
	out = append(out, make([]byte, 19)...)
	return binary.LittleEndian.AppendUint32(out, want.mariaDB)
}
