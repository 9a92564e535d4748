package workload

import (
	"encoding/binary"
	"math/bits"
	"strconv"

	"github.com/dbcanary/dbcanary/internal/workload/draw"
)

const (
	groupDigits = 11 // digits of a group of c and pad
	cGroups     = 10
	padGroups   = 5
	cSize       = cGroups*(groupDigits+1) - 1   // 119
	padSize     = padGroups*(groupDigits+1) - 1 // 59
)

// rowSource gives the words that a row is made of. They depend on seed, table
// and id alone, so a row is the same whoever loads it, where and in what order.
type rowSource struct{ state uint64 }

func newRowSource(seed uint64, table, id int) rowSource {
	return rowSource{draw.Mix(draw.Mix(seed+uint64(table)*draw.Golden) + uint64(id)*draw.Golden)}
}

func (s *rowSource) next() uint64 {
	s.state += draw.Golden
	return draw.Mix(s.state)
}

// k is the first word of a row: uniform in 1..tableSize.
func (s *rowSource) k(tableSize int) int64 {
	high, _ := bits.Mul64(s.next(), uint64(tableSize))
	return int64(high) + 1
}

// appendRow appends "(id,k,'c','pad')" of a table numbered from 1.
func appendRow(buf []byte, data *Data, table, id int) []byte {
	return appendValues(buf, data, table, id, "(", ",'", "','", "')")
}

// appendLine appends the same as a line of values with tabs between them.
func appendLine(buf []byte, data *Data, table, id int) []byte {
	return appendValues(buf, data, table, id, "", "\t", "\t", "\n")
}

func appendValues(buf []byte, data *Data, table, id int, head, quote, between, tail string) []byte {
	source := newRowSource(data.Seed, table, id)
	buf = append(buf, head...)
	buf = strconv.AppendInt(buf, int64(id), 10)
	buf = append(buf, quote[0])
	buf = strconv.AppendInt(buf, source.k(data.TableSize), 10)
	buf = append(buf, quote...)
	for group := range cGroups {
		buf = appendGroup(buf, group, source.next())
	}
	buf = append(buf, between...)
	for group := range padGroups {
		buf = appendGroup(buf, group, source.next())
	}
	return append(buf, tail...)
}

// appendGroup appends 11 digits made of a uniform word, after a '-' if the group is not the first.
func appendGroup(buf []byte, group int, word uint64) []byte {
	if group > 0 {
		buf = append(buf, '-')
	}
	at := len(buf)
	buf = append(buf, "00000000000"...)
	putDigits(buf[at:], word)
	return buf
}

// putDigits writes 11 digits made of a uniform word to the start of buf.
func putDigits(buf []byte, word uint64) {
	buf = buf[:groupDigits]
	value, _ := bits.Mul64(word, 1e11)
	high, low := uint32(value/1e8), uint32(value%1e8)
	buf[0] = byte('0' + high/100)
	putPair(buf[1:], high%100)
	binary.LittleEndian.PutUint64(buf[3:], eightDigits(low))
}

// eightDigits gives the digits of a number below 10^8, the highest in the lowest byte.
// It halves the number into parts side by side in one word: two of four digits, four
// of two, eight of one. Dividing a part by 100 or 10 is multiplying by 10486/2^20 or
// 103/2^10, which is exact for parts so small.
func eightDigits(number uint32) uint64 {
	parts := uint64(number/10000) | uint64(number%10000)<<32
	hundreds := parts * 10486 >> 20 & 0x0000007f_0000007f
	parts = hundreds | (parts-100*hundreds)<<16
	tens := parts * 103 >> 10 & 0x000f_000f_000f_000f
	parts = tens | (parts-10*tens)<<8
	return parts + 0x30303030_30303030
}

// putPair writes the two digits of a number below 100.
func putPair(buf []byte, number uint32) {
	const pairs = "00010203040506070809" + "10111213141516171819" + "20212223242526272829" +
		"30313233343536373839" + "40414243444546474849" + "50515253545556575859" +
		"60616263646566676869" + "70717273747576777879" + "80818283848586878889" + "90919293949596979899"
	buf[0], buf[1] = pairs[number*2], pairs[number*2+1]
}

// putText fills buf with groups of 11 digits joined by '-'.
func putText(buf []byte, r *draw.Source) {
	for at := 0; at < len(buf); at += groupDigits + 1 {
		if at > 0 {
			buf[at-1] = '-'
		}
		putDigits(buf[at:], r.Uint64())
	}
}
