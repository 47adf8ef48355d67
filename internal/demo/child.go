package demo

import "creditonce/internal/stage"

// ChildVariable tells a command that it is a child of a demo, see [stage.ChildVariable].
const ChildVariable = stage.ChildVariable
