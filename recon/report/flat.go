package report

import (
	"strconv"
	"time"

	"creditonce/credit"
	"creditonce/recon"
)

// entry is one line of the flat tables: one record of one item. An item without a record has one line all the same, and one
// that is off in more currencies than it has records a line for each.
type entry struct {
	data *Data
	loc  *time.Location
	item recon.Item
	rec  record
	off  credit.Amount // the item's own: each of them stands in one line only, so that the column adds up
	task Task
}

// entries gives the lines of one item.
func entries(d *Data, loc *time.Location, item recon.Item) []entry {
	list, offs := records(item), item.Offs()
	task, _ := d.task(item.Key)
	out := make([]entry, max(1, len(list), len(offs)))
	for i := range out {
		out[i] = entry{data: d, loc: loc, item: item, task: task}
		if i < len(list) {
			out[i].rec = list[i]
		}
		if i < len(offs) {
			out[i].off = offs[i]
		}
	}
	return out
}

// column of a flat table has a text or an amount. The currency of an amount stands in the column after it.
type column struct {
	head   string
	width  int // of the workbook's column
	text   func(entry) string
	amount func(entry) credit.Amount
}

var columns = []column{
	{head: "run", width: 7, text: func(e entry) string { return number(uint64(e.data.Run.ID)) }},
	{head: "environment", width: 11, text: func(e entry) string { return e.data.environment() }},
	{head: "business_day", width: 12, text: func(e entry) string { return day(e.item.At, e.loc) }},
	{head: "zone", width: 16, text: func(e entry) string { return e.data.Run.Zone }},
	{head: "class", width: 24, text: func(e entry) string { return string(e.item.Key.Class) }},
	{head: "difference", width: 10, text: func(e entry) string { return yes(e.item.Key.Class.Difference()) }},
	{head: "compared", width: 10, text: func(e entry) string { return string(e.item.Side) }},
	{head: "provider", width: 16, text: func(e entry) string { return e.item.Provider }},
	{head: "item", width: 34, text: func(e entry) string { return e.item.Key.Entity }},
	{head: "off", width: 14, amount: func(e entry) credit.Amount { return e.off }},
	{head: "age_days", width: 9, text: func(e entry) string { return strconv.Itoa(age(e.item.At, e.data.Run.Started, e.loc)) }},
	{head: "task", width: 8, text: func(e entry) string { return number(uint64(e.task.ID)) }},
	{head: "task_state", width: 10, text: func(e entry) string { return e.task.State }},
	{head: "task_opened_utc", width: 23, text: func(e entry) string { return utc(e.task.Opened) }},
	{head: "item_utc", width: 23, text: func(e entry) string { return utc(e.item.At) }},
	{head: "item_business_zone", width: 25, text: func(e entry) string { return local(e.item.At, e.loc) }},
	{head: "record", width: 9, text: func(e entry) string { return e.rec.side }},
	{head: "what", width: 20, text: func(e entry) string { return e.rec.what }},
	{head: "id", width: 26, text: func(e entry) string { return e.rec.id }},
	{head: "payment", width: 28, text: func(e entry) string { return e.rec.payment }},
	{head: "part", width: 14, text: func(e entry) string { return e.rec.part }},
	{head: "deposit_code", width: 26, text: func(e entry) string { return e.rec.code }},
	{head: "paid", width: 14, amount: func(e entry) credit.Amount { return e.rec.paid }},
	{head: "fee", width: 12, amount: func(e entry) credit.Amount { return e.rec.fee }},
	{head: "net", width: 14, amount: func(e entry) credit.Amount { return e.rec.net }},
	{head: "credited", width: 14, amount: func(e entry) credit.Amount { return e.rec.credited }},
	{head: "server", width: 20, text: func(e entry) string { return e.rec.server }},
	{head: "login", width: 14, text: func(e entry) string { return e.rec.login }},
	{head: "ticket", width: 14, text: func(e entry) string { return e.rec.ticket }},
	{head: "reference", width: 26, text: func(e entry) string { return e.rec.reference }},
	{head: "record_utc", width: 23, text: func(e entry) string { return utc(e.rec.at) }},
	{head: "record_business_zone", width: 25, text: func(e entry) string { return local(e.rec.at, e.loc) }},
	{head: "settled_utc", width: 23, text: func(e entry) string { return utc(e.rec.settled) }},
	{head: "settled_business_zone", width: 25, text: func(e entry) string { return local(e.rec.settled, e.loc) }},
	{head: "file_sha256", width: 20, text: func(e entry) string { return e.rec.digest }},
	{head: "file_line", width: 9, text: func(e entry) string { return number(uint64(max(0, e.rec.row))) }},
	{head: "also", width: 16, text: func(e entry) string { return e.rec.note }},
	{head: "why", width: 60, text: func(e entry) string { return e.item.Why }},
	{head: "what_to_do", width: 60, text: func(e entry) string { return WordsOf(e.item.Key.Class).Do }},
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// heads are the heads of the flat table: an amount has two columns.
func heads() []string {
	var out []string
	for _, c := range columns {
		out = append(out, c.head)
		if c.amount != nil {
			out = append(out, c.head+"_currency")
		}
	}
	return out
}

// rollColumns are the columns of the table of roll-forwards.
var rollColumns = []struct {
	head  string
	value func(forward) credit.Amount
}{
	{"ours_opening", func(f forward) credit.Amount { return f.Ours.Opening }},
	{"ours_credited", func(f forward) credit.Amount { return f.Ours.Credited }},
	{"ours_refunded", func(f forward) credit.Amount { return f.Ours.Refunded }},
	{"ours_charged_back", func(f forward) credit.Amount { return f.Ours.ChargedBack }},
	{"ours_withdrawn", func(f forward) credit.Amount { return f.Ours.Withdrawn }},
	{"ours_closing", func(f forward) credit.Amount { return f.Ours.Closing }},
	{"theirs_opening", func(f forward) credit.Amount { return f.Theirs.Opening }},
	{"theirs_credited", func(f forward) credit.Amount { return f.Theirs.Credited }},
	{"theirs_refunded", func(f forward) credit.Amount { return f.Theirs.Refunded }},
	{"theirs_charged_back", func(f forward) credit.Amount { return f.Theirs.ChargedBack }},
	{"theirs_withdrawn", func(f forward) credit.Amount { return f.Theirs.Withdrawn }},
	{"theirs_closing", func(f forward) credit.Amount { return f.Theirs.Closing }},
	{"difference_before", func(f forward) credit.Amount { return f.AtOpening }},
	{"change", func(f forward) credit.Amount { return f.Change }},
	{"difference_after", func(f forward) credit.Amount { return f.AtClosing }},
	{"listed", func(f forward) credit.Amount { return f.Sum }},
	{"listed_differences", func(f forward) credit.Amount { return f.Split.differences }},
	{"listed_waiting", func(f forward) credit.Amount { return f.Split.waiting }},
	{"listed_within_tolerance", func(f forward) credit.Amount { return f.Split.tolerance }},
	{"not_explained", func(f forward) credit.Amount { return f.Unexplained }},
}
