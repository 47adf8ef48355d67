package faultpoints

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"creditonce/credit"
)

// Variable names the environment variable with the plan.
const Variable = "CREDITONCE_FAULT"

// Action is what happens at a point.
type Action string

// The actions. A plan writes the last one with its length: hold=1500ms.
const (
	Kill Action = "kill" // the process kills itself as kill -9 does: nothing more is done
	Stop Action = "stop" // the process stops itself as kill -STOP does, until somebody lets it go on
	Hold Action = "hold" // the one goroutine waits; everything else goes on
)

// Point is one entry of a plan: what happens at the n-th passing of a boundary, once.
type Point struct {
	Action Action
	Name   string // of the boundary: B06.claim_committed, or its number alone: B06
	Nth    int    // counted over the whole process, from 1
	For    time.Duration
}

// Parse reads a plan such as "kill@B06.claim_committed#3,hold=2s@B09#1". Without a number it is the first passing. An empty
// text is an empty plan.
func Parse(text string) ([]Point, error) {
	var plan []Point
	if text == "" {
		return nil, nil
	}
	for entry := range strings.SplitSeq(text, ",") {
		p, err := parsePoint(entry)
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", Variable, entry, err)
		}
		plan = append(plan, p)
	}
	return plan, nil
}

func parsePoint(entry string) (Point, error) {
	action, where, ok := strings.Cut(entry, "@")
	name, nth, counted := strings.Cut(where, "#")
	if !ok || name == "" {
		return Point{}, fmt.Errorf("want action@boundary#n")
	}
	p := Point{Name: name, Nth: 1}
	action, length, long := strings.Cut(action, "=")
	p.Action = Action(action)
	switch {
	case p.Action == Hold && long:
		var err error
		if p.For, err = time.ParseDuration(length); err != nil || p.For <= 0 {
			return Point{}, fmt.Errorf("%q is no length of time", length)
		}
	case long || (p.Action != Kill && p.Action != Stop):
		return Point{}, fmt.Errorf("want kill, stop or hold=LENGTH before the @")
	}
	if counted {
		var err error
		if p.Nth, err = strconv.Atoi(nth); err != nil || p.Nth < 1 {
			return Point{}, fmt.Errorf("%q is no number of a passing", nth)
		}
	}
	return p, nil
}

// String writes the point as Parse reads it.
func (p Point) String() string {
	action := string(p.Action)
	if p.Action == Hold {
		action += "=" + p.For.String()
	}
	return fmt.Sprintf("%s@%s#%d", action, p.Name, p.Nth)
}

// at tells that the point is meant by the full name of a boundary.
func (p Point) at(name string) bool {
	return name == p.Name || strings.HasPrefix(name, p.Name+".")
}

// Hook is a plan at work. Safe for concurrent use.
type Hook struct {
	plan []Point
	do   func(context.Context, Point)

	mu     sync.Mutex
	passed map[string]int
}

// NewHook makes a hook of a plan; do carries out a point and may never return.
func NewHook(plan []Point, do func(context.Context, Point)) *Hook {
	return &Hook{plan: plan, do: do, passed: map[string]int{}}
}

// Step counts the passing and carries out what the plan has for it.
func (h *Hook) Step(ctx context.Context, s credit.Step) {
	h.mu.Lock()
	h.passed[s.Name]++
	n := h.passed[s.Name]
	h.mu.Unlock()
	for _, p := range h.plan {
		if p.at(s.Name) && p.Nth == n {
			h.do(ctx, p)
		}
	}
}
