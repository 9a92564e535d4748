package workload

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// Digest sums up the content of the tables. It is the same on every family.
type Digest struct {
	Tables []TableDigest
}

// TableDigest sums up one table. All sums but the first two are of values below
// digestModulus, so that no family overflows.
type TableDigest struct {
	Rows   int64
	IDs    int64 // sum of id
	K      int64 // sum of a product of k and id
	C      int64 // sum of products of the first and last digits of c and id
	Pad    int64 // the same of pad
	Length int64 // sum of the lengths of c and pad
}

const (
	digestModulus = 1000003 // prime
	digestDigits  = 9       // of c and pad at either end
)

// Expect computes the digest of data as Load writes it.
func Expect(data Data) Digest {
	var digest Digest
	for n := 1; n <= data.Tables; n++ {
		var t TableDigest
		var row []byte
		for id := 1; id <= data.TableSize; id++ {
			row = appendRow(row[:0], &data, n, id)
			t.add(row, int64(id))
		}
		digest.Tables = append(digest.Tables, t)
	}
	return digest
}

// add counts a row "(id,k,'c','pad')" in.
func (t *TableDigest) add(row []byte, id int64) {
	pad := row[len(row)-2-padSize : len(row)-2]
	c := row[len(row)-2-padSize-3-cSize : len(row)-2-padSize-3]
	var k int64
	for _, digit := range row[strings.IndexByte(string(row), ',')+1 : len(row)-2-padSize-3-cSize-2] {
		k = k*10 + int64(digit-'0')
	}
	weight := id%digestModulus + 1
	t.Rows++
	t.IDs += id
	t.K += k % digestModulus * weight % digestModulus
	t.C += ends(c) % digestModulus * weight % digestModulus
	t.Pad += ends(pad) % digestModulus * weight % digestModulus
	t.Length += cSize + padSize
}

// ends adds the numbers that the first and the last digits of text are.
func ends(text []byte) int64 {
	var first, last int64
	for i := range digestDigits {
		first = first*10 + int64(text[i]-'0')
		last = last*10 + int64(text[len(text)-digestDigits+i]-'0')
	}
	return first + last
}

// digestQuery computes a TableDigest on the server.
func digestQuery(family dbcanary.Family, n int) string {
	integer := "BIGINT"
	switch family {
	case dbcanary.MySQL, dbcanary.MariaDB:
		integer = "SIGNED"
	case dbcanary.SQLite:
		integer = "INTEGER"
	}
	number := func(expression string) string { return "CAST(" + expression + " AS " + integer + ")" }
	weighted := func(expression string) string {
		return fmt.Sprintf("SUM((%s) %% %d * (id %% %d + 1) %% %d)", expression, digestModulus, digestModulus, digestModulus)
	}
	endsOf := func(column string, size int) string {
		return number(fmt.Sprintf("SUBSTR(%s, 1, %d)", column, digestDigits)) + " + " +
			number(fmt.Sprintf("SUBSTR(%s, %d, %d)", column, size-digestDigits+1, digestDigits))
	}
	sums := []string{
		"COUNT(*)", "SUM(id)", weighted(number("k")),
		weighted(endsOf("c", cSize)), weighted(endsOf("pad", padSize)), "SUM(LENGTH(c) + LENGTH(pad))",
	}
	for i, sum := range sums {
		sums[i] = "COALESCE(" + sum + ", 0)"
	}
	return "SELECT " + strings.Join(sums, ", ") + " FROM " + tableName(n)
}

// Verify reads the digest of freshly loaded tables and gives it, with an error if
// it is not that of data: rows were lost, or their content is another.
func Verify(ctx context.Context, admin *sql.DB, family dbcanary.Family, data Data) (Digest, error) {
	digest, err := readDigest(ctx, admin, family, data)
	if err != nil {
		return digest, fmt.Errorf("verify %w", err)
	}
	for i, expected := range Expect(data).Tables {
		if found := digest.Tables[i]; found != expected {
			return digest, fmt.Errorf("verify %s: the table holds %+v, loaded was %+v", tableName(i+1), found, expected)
		}
	}
	return digest, nil
}

// readDigest reads the digest of the tables as they are; an error begins with the
// name of one.
func readDigest(ctx context.Context, admin *sql.DB, family dbcanary.Family, data Data) (Digest, error) {
	var digest Digest
	for n := 1; n <= data.Tables; n++ {
		var texts [6]string
		row := admin.QueryRowContext(ctx, digestQuery(family, n))
		if err := row.Scan(&texts[0], &texts[1], &texts[2], &texts[3], &texts[4], &texts[5]); err != nil {
			return digest, fmt.Errorf("%s: %w", tableName(n), err)
		}
		var t TableDigest
		for i, into := range []*int64{&t.Rows, &t.IDs, &t.K, &t.C, &t.Pad, &t.Length} {
			value, err := strconv.ParseInt(texts[i], 10, 64)
			if err != nil {
				return digest, fmt.Errorf("%s: %w", tableName(n), err)
			}
			*into = value
		}
		digest.Tables = append(digest.Tables, t)
	}
	return digest, nil
}
