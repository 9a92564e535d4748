package dbcanary

import (
	"sort"
	"strings"
)

// Nearest gives up to three of names that are most like text, nearest first:
// those within an edit distance of a third of its length, or that contain it.
func Nearest(text string, names []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	limit := max(2, len(text)/3)
	var near []candidate
	for _, name := range names {
		distance := editDistance(strings.ToLower(text), strings.ToLower(name))
		if distance > limit && text != "" && strings.Contains(strings.ToLower(name), strings.ToLower(text)) {
			distance = limit
		}
		if distance <= limit {
			near = append(near, candidate{name, distance})
		}
	}
	sort.SliceStable(near, func(i, j int) bool { return near[i].distance < near[j].distance })
	var nearest []string
	for _, c := range near[:min(3, len(near))] {
		nearest = append(nearest, c.name)
	}
	return nearest
}

// mostListed is how many names an error may list.
const mostListed = 12

// DidYouMean ends an error about an unknown name: "; did you mean scan?", or the
// whole list if nothing is near and the list is short, else "".
func DidYouMean(text string, names []string) string {
	nearest := Nearest(text, names)
	if len(nearest) == 0 {
		if len(names) == 0 || len(names) > mostListed {
			return ""
		}
		return "; there are " + strings.Join(names, ", ")
	}
	return "; did you mean " + strings.Join(nearest, " or ") + "?"
}

// editDistance is the Levenshtein distance between a and b in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
