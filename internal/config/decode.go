package config

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/dbcanary/dbcanary"
)

// Bounds of a document: aliases and nesting can make little text very large.
const (
	mostNodes = 100_000
	mostDepth = 50
)

// Map is a mapping whose order counts.
type Map[T any] []Entry[T]

// Entry is a key of a Map with its value.
type Entry[T any] struct {
	Key   string
	Value T
}

// ordered tells the decoder that a slice is written as a mapping.
func (Map[T]) ordered() {}

var (
	orderedType  = reflect.TypeFor[interface{ ordered() }]()
	textType     = reflect.TypeFor[encoding.TextUnmarshaler]()
	durationType = reflect.TypeFor[time.Duration]()
)

func (f *File) decodeInto(root *yaml.Node, into any) {
	f.decode(root, reflect.ValueOf(into).Elem(), "", 0)
}

// decode sets value from node. path is where the node lies in the document.
func (f *File) decode(node *yaml.Node, value reflect.Value, path string, depth int) {
	where := at(node) // of an alias, not of what it stands for
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if f.tooLarge {
		return
	}
	if f.nodes++; f.nodes > mostNodes || depth > mostDepth {
		f.tooLarge = true
		f.add(where, "the document is nested too deeply or is too large")
		return
	}
	f.places[path] = where
	if isNull(node) {
		f.add(where, named(path)+" has no value; leave its key out for the default")
		return
	}
	if node.Style&yaml.TaggedStyle != 0 {
		f.add(where, fmt.Sprintf("%s has the tag %s; tags mean nothing here", named(path), short(node.Tag)))
		return
	}
	if value.Kind() == reflect.Pointer {
		problems, unset := len(f.problems), value.IsNil()
		if unset {
			value.Set(reflect.New(value.Type().Elem()))
		}
		f.decode(node, value.Elem(), path, depth+1)
		if unset && len(f.problems) > problems && value.Elem().IsZero() {
			value.SetZero() // what could not be read is not given
		}
		return
	}
	if node.Kind == yaml.ScalarNode && reflect.PointerTo(value.Type()).Implements(textType) {
		if err := value.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(node.Value)); err != nil {
			f.add(where, err.Error())
		}
		return
	}
	switch value.Kind() {
	case reflect.Struct:
		f.decodeStruct(node, value, path, depth)
	case reflect.Slice:
		if value.Type().Implements(orderedType) {
			f.decodeOrdered(node, value, path, depth)
		} else {
			f.decodeList(node, value, path, depth)
		}
	case reflect.Map:
		f.decodeMap(node, value, path, depth)
	default:
		f.decodeScalar(node, value, path, where)
	}
}

func isNull(node *yaml.Node) bool { return node.Kind == yaml.ScalarNode && node.Tag == "!!null" }

// named is a path as an error shows it.
func named(path string) string {
	if path == "" {
		return "the file"
	}
	return path
}

// kindOf says what a node is.
func kindOf(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	return short(node.Value)
}

// pairs calls each with the keys and values of a mapping, and tells of keys that
// are no words or repeated.
func (f *File) pairs(node *yaml.Node, path string, each func(key string, at place, value *yaml.Node, path string)) {
	if node.Kind != yaml.MappingNode {
		f.add(at(node), fmt.Sprintf("%s must be a mapping of keys to values, not %s", named(path), kindOf(node)))
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" || isNull(key) {
			f.add(at(node.Content[i]), "a key must be a word; \"<<\" and mappings are none")
			continue
		}
		if line, ok := seen[key.Value]; ok {
			f.add(at(key), fmt.Sprintf("key %s is already on line %d", short(key.Value), line))
			continue
		}
		seen[key.Value] = key.Line
		below := key.Value
		if path != "" {
			below = path + "." + key.Value
		}
		f.keys[below] = at(key)
		each(key.Value, at(key), value, below)
	}
}

func (f *File) decodeStruct(node *yaml.Node, value reflect.Value, path string, depth int) {
	fields := map[string]int{}
	var names []string
	for i := range value.NumField() {
		if name, _, _ := strings.Cut(value.Type().Field(i).Tag.Get("yaml"), ","); name != "" && name != "-" {
			fields[name] = i
			names = append(names, name)
		}
	}
	f.pairs(node, path, func(key string, where place, child *yaml.Node, below string) {
		i, ok := fields[key]
		if !ok {
			f.add(where, fmt.Sprintf("unknown key %s%s", short(key), dbcanary.DidYouMean(key, names)))
			return
		}
		f.decode(child, value.Field(i), below, depth+1)
	})
}

func (f *File) decodeOrdered(node *yaml.Node, value reflect.Value, path string, depth int) {
	value.SetLen(0)
	f.pairs(node, path, func(key string, _ place, child *yaml.Node, below string) {
		entry := reflect.New(value.Type().Elem()).Elem()
		entry.Field(0).SetString(key)
		f.decode(child, entry.Field(1), below, depth+1)
		value.Set(reflect.Append(value, entry))
	})
}

func (f *File) decodeMap(node *yaml.Node, value reflect.Value, path string, depth int) {
	value.Set(reflect.MakeMap(value.Type()))
	f.pairs(node, path, func(key string, _ place, child *yaml.Node, below string) {
		element := reflect.New(value.Type().Elem()).Elem()
		f.decode(child, element, below, depth+1)
		value.SetMapIndex(reflect.ValueOf(key).Convert(value.Type().Key()), element)
	})
}

func (f *File) decodeList(node *yaml.Node, value reflect.Value, path string, depth int) {
	nodes := node.Content
	switch kind := value.Type().Elem().Kind(); {
	case node.Kind == yaml.MappingNode && kind != reflect.Struct && kind != reflect.Map && kind != reflect.Pointer:
		f.add(at(node), named(path)+" must be a list, not a mapping")
		return
	case node.Kind != yaml.SequenceNode:
		nodes = []*yaml.Node{node}
	}
	list := reflect.MakeSlice(value.Type(), len(nodes), len(nodes))
	for i, child := range nodes {
		f.decode(child, list.Index(i), fmt.Sprintf("%s[%d]", path, i), depth+1)
	}
	value.Set(list)
}

func (f *File) decodeScalar(node *yaml.Node, value reflect.Value, path string, where place) {
	wrong := func(what string) {
		f.add(where, fmt.Sprintf("%s must be %s, not %s", named(path), what, kindOf(node)))
	}
	isScalar := node.Kind == yaml.ScalarNode
	text := node.Value
	if value.Type() == durationType {
		duration, err := time.ParseDuration(text)
		if !isScalar || err != nil {
			wrong("a time with its unit, such as 90s or 10m")
			return
		}
		value.SetInt(int64(duration))
		return
	}
	digits := strings.ReplaceAll(text, "_", "")
	switch value.Kind() {
	case reflect.String:
		// Whatever was written counts: 9.10 is a version, not a number.
		if !isScalar {
			wrong("a word")
			return
		}
		value.SetString(text)
	case reflect.Bool:
		if !isScalar || node.Tag != "!!bool" {
			wrong("true or false")
			return
		}
		value.SetBool(strings.EqualFold(text, "true"))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		number, err := strconv.ParseInt(digits, 10, value.Type().Bits())
		if errors.Is(err, strconv.ErrRange) {
			wrong("a smaller number")
			return
		}
		if !isScalar || node.Tag != "!!int" || err != nil {
			wrong("a whole number")
			return
		}
		value.SetInt(number)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		number, err := strconv.ParseUint(digits, 10, value.Type().Bits())
		if !isScalar || node.Tag != "!!int" || err != nil {
			wrong("a whole number of at least 0")
			return
		}
		value.SetUint(number)
	case reflect.Float32, reflect.Float64:
		number, err := strconv.ParseFloat(digits, value.Type().Bits())
		if !isScalar || (node.Tag != "!!int" && node.Tag != "!!float") || err != nil || math.IsNaN(number) || math.IsInf(number, 0) {
			wrong("a number")
			return
		}
		value.SetFloat(number)
	default:
		panic(fmt.Sprintf("config: a field of kind %s can't be read from YAML", value.Kind()))
	}
}
