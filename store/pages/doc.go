// Package pages reads the pages of a bbolt file that may be damaged, and says what is wrong with them. It never follows a number
// before it has compared it with what the file has room for: bbolt itself trusts its pages (protocol-holes.md §4, "Open/Check may panic or
// hang on damage"), and follows a wrong one to memory that is not its own, which ends the process, or in a circle, which does too.
// Only a file that passes here may be given to bbolt's own check and to cursors.
//
// It reads the file and no mapping of it, so that a disk that cannot read is a finding as well. It shares no code with bbolt.
package pages
