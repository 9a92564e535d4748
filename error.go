package dbcanary

import (
	"errors"
	"fmt"
)

// Code says what kind of failure an error is, so that a caller can decide.
type Code string

// The codes. CodeFailed is also the code of any error that carries none.
const (
	CodeFailed       Code = "failed"       // the work could not be done
	CodeUsage        Code = "usage"        // the request is wrong: unknown name, bad flag, bad file
	CodeUnavailable  Code = "unavailable"  // something outside is missing: a package, a permission, disk, memory
	CodeRegression   Code = "regression"   // a gate found a slower target
	CodeInconclusive Code = "inconclusive" // a gate could not tell
	CodeInterrupted  Code = "interrupted"  // the user stopped the work
)

// Error is an error that a caller or a user can act on: what was being done,
// what went wrong, and what to do about it.
type Error struct {
	Code Code
	Op   string // what was being done, with what: "start mariadb@10.11"; may be empty
	Hint string // what the user can do; may be empty
	Err  error  // the cause; may be nil
}

// Error gives "op: cause (hint)".
func (e *Error) Error() string {
	text := e.Op
	if e.Err != nil {
		if text != "" {
			text += ": "
		}
		text += e.Err.Error()
	}
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error of the given code; the format is that of fmt.Errorf.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Err: fmt.Errorf(format, args...)}
}

// ErrorCode gives the code of the outermost Error in err's chain, CodeFailed
// for any other error and "" for nil.
func ErrorCode(err error) Code {
	if err == nil {
		return ""
	}
	var typed *Error
	if errors.As(err, &typed) {
		return typed.Code
	}
	return CodeFailed
}

// ExitCode gives the process exit code for err: 0 done, 1 failed, 2 usage or
// config, 3 regression and 4 inconclusive (with --gate), 130 interrupted.
func ExitCode(err error) int {
	switch ErrorCode(err) {
	case "":
		return 0
	case CodeUsage:
		return 2
	case CodeRegression:
		return 3
	case CodeInconclusive:
		return 4
	case CodeInterrupted:
		return 130
	default:
		return 1
	}
}
