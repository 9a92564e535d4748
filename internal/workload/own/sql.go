package own

import (
	"slices"
	"strings"
)

// piece is a part of a statement: text, or the name of a variable.
type piece struct {
	text     string
	variable string
	inside   bool // of quotes or a comment
	offset   int  // of the piece in the statement
}

// lexer walks over SQL and tells quoted text and comments from the rest.
type lexer struct {
	sql string
	at  int
}

// next passes over one character, or over a whole quoted text or comment, and tells
// which it was.
func (l *lexer) next() (quoted bool) {
	rest := l.sql[l.at:]
	switch {
	case strings.HasPrefix(rest, "--"):
		l.pass(2, "\n")
	case strings.HasPrefix(rest, "/*"):
		l.pass(2, "*/")
	case rest[0] == '\'' || rest[0] == '"' || rest[0] == '`':
		l.pass(1, rest[:1])
	case rest[0] == '$':
		tag, ok := dollarTag(rest)
		if !ok {
			l.at++
			return false
		}
		l.pass(len(tag), tag)
	default:
		l.at++
		return false
	}
	return true
}

// pass moves behind the end of what begins with so many characters.
func (l *lexer) pass(head int, end string) {
	found := strings.Index(l.sql[l.at+head:], end)
	if found < 0 {
		l.at = len(l.sql)
		return
	}
	l.at += head + found + len(end)
}

// dollarTag gives the $tag$ that PostgreSQL's other quotes begin with.
func dollarTag(sql string) (string, bool) {
	end := strings.IndexByte(sql[1:], '$')
	if end < 0 || end > 0 && !isName(sql[1:1+end]) {
		return "", false
	}
	return sql[:end+2], true
}

func isName(text string) bool {
	for i := range len(text) {
		if !isNameByte(text[i], i == 0) {
			return false
		}
	}
	return text != ""
}

func isNameByte(c byte, first bool) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80 || !first && c >= '0' && c <= '9'
}

// pieces takes the variables, :name, out of a statement. "::" is PostgreSQL's cast.
func pieces(sql string) []piece {
	var list []piece
	l := &lexer{sql: sql}
	from := 0
	for l.at < len(sql) {
		start := l.at
		if l.next() {
			for _, found := range variablesIn(sql[start:l.at]) {
				list = append(list, piece{text: sql[from : start+found[0]], offset: from},
					piece{variable: sql[start+found[0]+1 : start+found[1]], inside: true, offset: start + found[0]})
				from = start + found[1]
			}
			continue
		}
		if sql[start] != ':' {
			continue
		}
		if strings.HasPrefix(sql[l.at:], ":") {
			l.at++
			continue
		}
		end := nameEnd(sql, l.at)
		if end == l.at {
			continue
		}
		list = append(list, piece{text: sql[from:start], offset: from}, piece{variable: sql[l.at:end], offset: start})
		from, l.at = end, end
	}
	return append(list, piece{text: sql[from:], offset: from})
}

// nameEnd is where the name that begins at an offset ends.
func nameEnd(sql string, at int) int {
	end := at
	for end < len(sql) && isNameByte(sql[end], end == at) {
		end++
	}
	return end
}

// variablesIn finds :name in quoted text, from colon to end.
func variablesIn(quoted string) [][2]int {
	var found [][2]int
	for at := 0; at < len(quoted); at++ {
		if quoted[at] != ':' {
			continue
		}
		if strings.HasPrefix(quoted[at+1:], ":") {
			at++
			continue
		}
		if end := nameEnd(quoted, at+1); end > at+1 {
			found = append(found, [2]int{at, end})
			at = end - 1
		}
	}
	return found
}

// statementText is a statement with its place in what it was cut out of.
type statementText struct {
	sql    string
	offset int
}

// splitStatements cuts SQL at a delimiter outside of quotes and comments.
func splitStatements(sql, delimiter string) []statementText {
	var list []statementText
	l := &lexer{sql: sql}
	from := 0
	for l.at < len(sql) {
		if strings.HasPrefix(sql[l.at:], delimiter) {
			list = appendStatement(list, sql, from, l.at)
			l.at += len(delimiter)
			from = l.at
			continue
		}
		l.next()
	}
	return appendStatement(list, sql, from, len(sql))
}

// appendStatement adds a statement without the blanks and comments before it, if there is one.
func appendStatement(list []statementText, sql string, from, to int) []statementText {
	from += blanks(sql[from:to])
	text := strings.TrimRight(sql[from:to], " \t\r\n")
	if text == "" {
		return list
	}
	return append(list, statementText{text, from})
}

// blanks is the length of the spaces and comments that SQL begins with.
func blanks(sql string) int {
	l := &lexer{sql: sql}
	for l.at < len(sql) {
		switch {
		case strings.HasPrefix(sql[l.at:], "--") || strings.HasPrefix(sql[l.at:], "/*") && !strings.HasPrefix(sql[l.at:], "/*+") && !strings.HasPrefix(sql[l.at:], "/*!"):
			l.next()
		case strings.IndexByte(" \t\r\n", sql[l.at]) >= 0:
			l.at++
		default:
			return l.at
		}
	}
	return l.at
}

// firstWord is the word that a statement begins with, in capitals.
func firstWord(sql string) string {
	sql = strings.TrimLeft(sql[blanks(sql):], "( \t\r\n")
	end := nameEnd(sql, 0)
	return strings.ToUpper(sql[:end])
}

// changes tells whether a statement may change something, by its words.
func changes(sql string) bool {
	switch firstWord(sql) {
	case "SELECT", "WITH", "VALUES", "TABLE":
		words := strings.FieldsFunc(strings.ToUpper(sql), func(r rune) bool { return r < 'A' || r > 'Z' })
		return slices.ContainsFunc(words, func(word string) bool {
			return slices.Contains([]string{"INSERT", "UPDATE", "DELETE", "MERGE", "INTO", "NEXTVAL"}, word)
		})
	case "SHOW", "EXPLAIN", "DESCRIBE", "DESC", "BEGIN", "START", "COMMIT", "END", "ROLLBACK", "SET", "SAVEPOINT", "RELEASE":
		return false
	}
	return true
}

// opens and closes tell a statement that begins or ends a transaction.
func opens(sql string) bool { return slices.Contains([]string{"BEGIN", "START"}, firstWord(sql)) }

func closes(sql string) bool {
	word := firstWord(sql)
	return word == "COMMIT" || word == "END" || word == "ROLLBACK" && !strings.Contains(strings.ToUpper(sql), " TO ")
}

// place is a line and a column of a text, both from 1, where an offset lies.
func place(text string, offset int) (line, column int) {
	before := text[:min(offset, len(text))]
	line = strings.Count(before, "\n") + 1
	return line, offset - strings.LastIndexByte(before, '\n')
}
