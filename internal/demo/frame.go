package demo

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// frame is everything that one picture of a show depends on; render is pure.
type frame struct {
	Scenario string
	Story    string
	Rows     []boardRow
	News     []news
	Counts   counts
	First    time.Duration // until the first credited deposit; 0: none yet
	Since    time.Duration
	Hints    []string // what a visitor can do, once the show only waits
}

const (
	newsLines = 6
	// banner stands on every picture.
	banner = "DEMO – simulated money"
)

// narrowest and lowest are the least columns and rows of a screen for a picture; a smaller one gets plain lines.
const narrowest, lowest = 64, 22

// render draws a frame for a screen of the given size, at least narrowest by lowest: it fits in both directions.
func render(f frame, width, height int, c palette) []string {
	lines := []string{spread("creditonce demo · "+f.Scenario, banner, width, c)}
	lines = append(lines, wrap(f.Story, width)...)
	lines = append(lines, c.dim(fit(waitingTimes(), width)), "")
	foot := footer(f, width, c)
	room := max(height-len(lines)-len(foot)-3, 3)
	lines = append(lines, table(f.Rows, width, room, c)...)
	lines = append(lines, "")
	return append(lines, foot...)
}

// spread puts the title to the left and the banner to the right of one line.
func spread(title, banner string, width int, c palette) string {
	gap := max(2, width-utf8.RuneCountInString(title)-utf8.RuneCountInString(banner))
	return c.bold(title) + strings.Repeat(" ", gap) + c.warn(banner)
}

func waitingTimes() string {
	return fmt.Sprintf("Short waiting times: quarantine %s, call time-out %s (production: 10 min, 20 s).", quarantine, callTimeout)
}

// footer is the running count and the news under the table.
func footer(f frame, width int, c palette) []string {
	lines := []string{countLine(f, c), ""}
	if first := fmt.Sprintf("   first credit after %.1f s", f.First.Seconds()); f.First > 0 &&
		utf8.RuneCountInString(countLine(f, palette{})+first) <= width {
		lines[0] += c.dim(first)
	}
	space := newsLines
	if f.Hints != nil {
		space /= 2
		for _, h := range f.Hints {
			lines = append(lines, fit(h, width))
		}
		lines = append(lines, "")
	}
	latest := f.News[max(0, len(f.News)-space):]
	for _, n := range latest {
		line := fit(fmt.Sprintf("%6.1fs %-8s %s", n.At.Seconds(), n.Who, oneLine(n.Text)), width)
		if n.Loud {
			line = c.warn(line)
		} else {
			line = c.dim(line)
		}
		lines = append(lines, line)
	}
	return lines
}

func countLine(f frame, c palette) string {
	n := f.Counts
	line := fmt.Sprintf("%s %d / %s %d / ", c.bold("paid"), n.Paid, c.good("credited"), n.Credited)
	line += c.count("unknown", n.Unknown, c.unsure) + " / " + c.count("doubled", n.Doubled, c.bad)
	if n.Tasks > 0 {
		line += " / " + c.count("tasks", n.Tasks, c.warn)
	}
	return line
}

// columns are the widths of the table for a screen. The way gets what the others leave.
type columns struct {
	code, login, amount, way, calls, ticket int
	arrow                                   string
}

func columnsFor(width int) columns {
	k := columns{login: 5, amount: 12, calls: 5, ticket: 11, arrow: "→"}
	if width >= 100 {
		k.code, k.arrow = 8, " → "
	}
	k.way = width - k.login - k.amount - k.calls - k.ticket - 2*4
	if k.code > 0 {
		k.way -= k.code + 2
	}
	k.way = max(k.way, 8) // a screen narrower than that is cut on the right
	return k
}

// table draws the deposits; of more than there is room for, those that changed last, in their own order.
func table(rows []boardRow, width, room int, c palette) []string {
	k := columnsFor(width)
	lines := []string{c.dim(fit(k.join("deposit", "login", "credits", "way", "calls", "MT5 ticket"), width))}
	shown, hidden := newest(rows, room)
	for _, r := range shown {
		lines = append(lines, tableRow(r, k, width, c))
	}
	if len(hidden) > 0 {
		lines = append(lines, c.dim(fit("… and "+inWords(hidden), width)))
	}
	return lines
}

// newest keeps the rows that changed last, in the order of the table, so that all fit with a line for the rest.
func newest(rows []boardRow, room int) (shown, hidden []boardRow) {
	if len(rows) <= room {
		return rows, nil
	}
	byChange := slices.Clone(rows)
	slices.SortStableFunc(byChange, func(a, b boardRow) int { return b.touched - a.touched })
	oldest := byChange[room-2].touched
	for _, r := range rows {
		if r.touched >= oldest && len(shown) < room-1 {
			shown = append(shown, r)
		} else {
			hidden = append(hidden, r)
		}
	}
	return shown, hidden
}

// inWords counts rows by state: "31 done, 2 held".
func inWords(rows []boardRow) string {
	n := map[string]int{}
	for _, r := range rows {
		n[r.State()]++
	}
	var words []string
	for _, state := range slices.Sorted(maps.Keys(n)) {
		words = append(words, fmt.Sprintf("%d %s", n[state], state))
	}
	return strings.Join(words, ", ")
}

func (k columns) join(code, login, amount, way, calls, ticket string) string {
	line := fmt.Sprintf("%s  %s  %s  %s  %s", pad(login, k.login), padLeft(amount, k.amount), pad(way, k.way),
		padLeft(calls, k.calls), padLeft(ticket, k.ticket))
	if k.code > 0 {
		line = pad(fit(code, k.code), k.code) + "  " + line
	}
	return line
}

func tableRow(r boardRow, k columns, width int, c palette) string {
	calls, ticket, login := "", "", ""
	if r.Attempt > 0 {
		calls = strconv.Itoa(r.Attempt)
	}
	if r.Ticket > 0 {
		ticket = strconv.FormatUint(r.Ticket, 10)
	}
	if r.Login > 0 {
		login = strconv.FormatUint(r.Login, 10)
	}
	way := trail(r.Way, k.arrow, k.way)
	line := strings.TrimRight(fit(k.join(r.Code, login, r.Amount, way, calls, ticket), width), " ")
	// Colour comes last: escape sequences have no width. The way is coloured word by word, so it stands out of the rest.
	return strings.Replace(line, way, paintWay(way, k.arrow, c), 1)
}

// trail writes the way; of one that is too long the end, because that is what counts.
func trail(way []string, arrow string, width int) string {
	for from := range way {
		text := strings.Join(way[from:], arrow)
		if from > 0 {
			text = "…" + arrow + text
		}
		if utf8.RuneCountInString(text) <= width {
			return text
		}
	}
	return fit(way[len(way)-1], width)
}

// paintWay colours the last word by what it means and dims the words before it.
func paintWay(way, arrow string, c palette) string {
	at := strings.LastIndex(way, arrow)
	if at < 0 {
		return c.state(way)
	}
	return c.dim(way[:at+len(arrow)]) + c.state(way[at+len(arrow):])
}
