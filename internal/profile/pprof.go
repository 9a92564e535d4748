package profile

import (
	"bytes"
	"fmt"

	"github.com/google/pprof/profile"
)

// threadLabel is the label of a pprof sample that names its thread.
const threadLabel = "thread"

// Encode gives the stacks as a gzipped profile.proto whose values are samples.
// `go tool pprof` and speedscope open it.
func Encode(stacks []Stack) ([]byte, error) {
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}}}
	locations, binaries := map[Frame]*profile.Location{}, map[string]*profile.Mapping{}
	for _, stack := range Merge(stacks) {
		sample := &profile.Sample{Value: []int64{stack.Count}}
		if stack.Thread != "" {
			sample.Label = map[string][]string{threadLabel: {stack.Thread}}
		}
		for i := len(stack.Frames) - 1; i >= 0; i-- { // pprof has the leaf first
			frame := stack.Frames[i]
			location := locations[frame]
			if location == nil {
				function := &profile.Function{ID: uint64(len(p.Function) + 1), Name: frame.Function, SystemName: frame.Function}
				location = &profile.Location{ID: function.ID, Line: []profile.Line{{Function: function}}, Mapping: binaries[frame.Binary]}
				if frame.Binary != "" && location.Mapping == nil {
					location.Mapping = &profile.Mapping{ID: uint64(len(p.Mapping) + 1), File: frame.Binary, HasFunctions: true}
					binaries[frame.Binary] = location.Mapping
					p.Mapping = append(p.Mapping, location.Mapping)
				}
				p.Function, p.Location = append(p.Function, function), append(p.Location, location)
				locations[frame] = location
			}
			sample.Location = append(sample.Location, location)
		}
		p.Sample = append(p.Sample, sample)
	}
	if err := p.CheckValid(); err != nil {
		return nil, fmt.Errorf("put stacks together: %w", err)
	}
	var packed bytes.Buffer
	if err := p.Write(&packed); err != nil {
		return nil, fmt.Errorf("pack stacks: %w", err)
	}
	return packed.Bytes(), nil
}

// Decode reads the first value of each sample of a profile.proto, packed or not,
// from whatever program it is. Inlined functions are frames of their own.
func Decode(data []byte) ([]Stack, error) {
	p, err := profile.ParseData(data)
	if err != nil {
		return nil, fmt.Errorf("read a pprof profile: %w", err)
	}
	var stacks []Stack
	for _, sample := range p.Sample {
		if len(sample.Value) == 0 || sample.Value[0] <= 0 || sample.Value[0] > maxCount {
			continue
		}
		stack := Stack{Count: sample.Value[0]}
		if names := sample.Label[threadLabel]; len(names) > 0 {
			stack.Thread = names[0]
		}
		for i := len(sample.Location) - 1; i >= 0; i-- {
			stack.Frames = append(stack.Frames, framesOf(sample.Location[i])...)
		}
		stacks = append(stacks, stack)
	}
	return Merge(stacks), nil
}

// framesOf gives the function of a location and those inlined there, the outermost first.
func framesOf(location *profile.Location) []Frame {
	binary := ""
	if location.Mapping != nil {
		binary = location.Mapping.File
	}
	var frames []Frame
	for i := len(location.Line) - 1; i >= 0; i-- {
		if function := location.Line[i].Function; function != nil {
			frames = append(frames, Frame{Function: function.Name, Binary: binary})
		}
	}
	if frames == nil {
		frames = []Frame{{Function: fmt.Sprintf("0x%x", location.Address), Binary: binary}}
	}
	return frames
}
