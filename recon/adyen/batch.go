package adyen

import (
	"fmt"
	"strconv"
	"strings"

	"creditonce/credit"
	"creditonce/recon"
)

// batches sums each batch by currency, in the order in which they first appear. The sum of net over a batch is its payout (providers.md
// §2.2).
type batches struct {
	at    map[batchKey]int
	list  []batch
	named map[string]int // rows of the account that are equal but for their place
}

type batchKey struct{ number, currency string }

type batch struct {
	batchKey
	lines, row int // rows without the payout; the first one
	sum        credit.Amount
	payouts    int
	payoutRow  int
	payout     credit.Amount // positive: what left
}

// mostBatches bounds what a hostile file can make the reader hold: a report has one batch, a year of daily ones in ten currencies 4,000.
const mostBatches = 20_000

func newBatches() *batches { return &batches{at: map[batchKey]int{}, named: map[string]int{}} }

// name tells rows without an id apart. Two equal corrections are two; the same row of the report in a second download is the same, so the
// name is made of what the row says and of which of the equal rows it is. Beyond the bound the row keeps no name, only its place.
func (b *batches) name(line *recon.Line, text string) string {
	if tx := transfer.FindString(text); tx != "" && line.Type == recon.LinePayout {
		text = tx
	}
	key := strings.Join([]string{line.Batch, line.Word, text, line.Net.String()}, "\x00")
	if _, known := b.named[key]; !known && len(b.named) >= mostBatches {
		return ""
	}
	b.named[key]++
	return fmt.Sprintf("%s %s #%d", text, line.Net, b.named[key])
}

func (b *batches) add(line *recon.Line) error {
	key := batchKey{line.Batch, line.Net.Currency()}
	at, known := b.at[key]
	if !known {
		if len(b.list) >= mostBatches {
			return fmt.Errorf("more than %d batches in one file: %w", mostBatches, credit.ErrInvalid)
		}
		at = len(b.list)
		b.at[key] = at
		b.list = append(b.list, batch{batchKey: key})
	}
	this := &b.list[at]
	var err error
	if line.Type == recon.LinePayout {
		if this.payouts++; this.payouts == 1 {
			this.payoutRow = line.Row
		}
		this.payout, err = this.payout.Add(line.Net.Neg())
		return err
	}
	if this.lines++; this.lines == 1 {
		this.row = line.Row
	}
	this.sum, err = this.sum.Add(line.Net)
	return err
}

// numbers are the batches of the file: Adyen counts those of a merchant account through. Nil where one has no number.
func (b *batches) numbers() []recon.Batches {
	var all []uint64
	for _, this := range b.list {
		n, err := strconv.ParseUint(this.number, 10, 64)
		if err != nil {
			return nil
		}
		all = append(all, n)
	}
	return recon.BatchesOf(all)
}

// open is a batch that cannot be laid beside a payout.
type open struct {
	row        int
	text       string
	incomplete bool // rows may be missing
}

// close gives the total of every batch that has rows and a payout. A payout whose rows are in another file states nothing here. A batch with
// money and no payout is cut, or not paid out yet; one with a debt has none by its nature.
func (b *batches) close() (totals []recon.StatedTotal, opens []open) {
	for _, this := range b.list {
		switch {
		case this.payouts > 0 && this.lines > 0:
			totals = append(totals, recon.StatedTotal{
				Name: "payout of batch " + this.number, Row: this.payoutRow, Batch: this.number, Stated: this.payout, Summed: this.sum,
			})
		case this.payouts == 0 && this.sum.Sign() != 0:
			opens = append(opens, open{this.row, fmt.Sprintf("batch %s sums up to %s and has no payout row: the file is cut, or the batch is not paid out yet. "+
				"Download the report of the closed batch", this.number, this.sum), this.sum.Sign() > 0})
		}
	}
	return totals, opens
}
