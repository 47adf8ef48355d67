package demo

import "strconv"

// palette colours words, or leaves them as they are: every colour only repeats what the word says.
type palette struct{ on bool }

func (p palette) paint(code, s string) string {
	if !p.on || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p palette) bold(s string) string   { return p.paint("1", s) }
func (p palette) dim(s string) string    { return p.paint("2", s) }
func (p palette) good(s string) string   { return p.paint("32", s) }
func (p palette) unsure(s string) string { return p.paint("1;35", s) }
func (p palette) warn(s string) string   { return p.paint("33", s) }
func (p palette) bad(s string) string    { return p.paint("1;31", s) }

// count is a word and its number, in the word's colour as soon as the number is not zero.
func (p palette) count(word string, n int, colour func(string) string) string {
	text := word + " " + strconv.Itoa(n)
	if n == 0 {
		return text
	}
	return colour(text)
}

// state colours the word of a state.
func (p palette) state(word string) string {
	switch word {
	case "done":
		return p.good(word)
	case "unknown":
		return p.unsure(word)
	case "held", "failed":
		return p.warn(word)
	case "claimed", "pending":
		return p.paint("36", word)
	default:
		return p.bold(word)
	}
}
