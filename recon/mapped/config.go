package mapped

// Config says how one CSV export is written: which column is what, how its numbers and times are written, what its words mean. Columns are
// named as the header row names them. [Config.Check] names every mistake in it.
type Config struct {
	File    File
	Columns Columns

	Time    Time // when it happened
	Settled Time // when it was booked; without columns: the export does not say

	Currency    Currency // of gross, and of fees and net too unless NetCurrency says otherwise
	NetCurrency Currency

	Unit  string // "major" (default), "minor" (whole minor units of the currency) or "hundredths" (of any currency, yen too)
	Gross Amount // what the client paid or got back; unset: net and the fees together
	Fees  []Fee  // all of them together are the line's fee
	Net   Amount // what the balance got; unset: gross less the fees

	Type    Type
	Filters []Filter
	Totals  Totals
}

// File is the form of the text.
type File struct {
	Delimiter string   // one character, or "tab"; empty: a comma
	Encoding  string   // "utf-8" (default), "utf-16" (with a byte order mark), "windows-1252"
	Header    string   // a column of the header row; rows above the first row that has it are passed over. Empty: the first row is the header
	Decimal   string   // "point" (default) or "comma"
	Group     string   // what stands between groups of three digits; empty: nothing
	Footer    []string // rows whose first field begins with one of these are passed over
	OpenEnd   bool     // the export never ends its last row with a line end, so that one without is not taken for cut
}

// Columns are the names of what identifies a row. Payment is required, the others are empty where the export lacks them.
type Columns struct {
	Payment  string // the provider's id of the payment, as its webhooks have it
	Movement string // the id of this very movement
	Code     string // the deposit code
	Batch    string // the payout or batch
	Merchant string // the firm's account; a row of another one refuses the file
}

// Time is where a time stands and how it is written.
type Time struct {
	Columns []string // their texts are joined with one blank: date and time may stand apart
	Layout  string   // of YYYY YY MM MMM DD hh mm ss, Z (an offset such as +02:00, or Z), z (+0200), h12 and AM; or "unix", "unix_ms"
	Zone    string   // IANA name, of times without an offset; empty: the provider's time zone in the config
}

// Currency is a column or one currency for the whole export. Names says what words of the column mean that are no currency themselves, or
// one whose name here differs ("usdttrc20": USDT); lower case is read as upper case.
type Currency struct {
	Column string
	Fixed  string
	Names  map[string]string
}

// Amount is where an amount stands and what gives it its direction: money to the firm is positive.
type Amount struct {
	Column string // one column, or
	Credit string // a pair of unsigned ones: to the firm
	Debit  string // and from the firm

	Sign      string   // of Column: "signed" (default, + is to the firm), "reversed", "type" (unsigned: the row's type gives it), "direction"
	Direction string   // with "direction": the column whose word gives it
	In, Out   []string // its words for to the firm and from the firm
}

// Fee is one column of fees.
type Fee struct {
	Column string
	Sign   string // "cost" (default: a positive number is a cost) or "signed" (a negative number is a cost)
}

// Type is what makes a row a payment, a refund and so on.
type Type struct {
	Columns []string          // the word is their texts, joined with " / "
	Fixed   string            // instead of columns: every row is this
	Words   map[string]string // word to type: payment, refund, refund_reversal, chargeback, chargeback_reversal, fee, conversion, reserve, adjustment, payout
}

// Filter keeps rows by the word in a column. A word that neither list has refuses the file: nobody said whether it moved money.
type Filter struct {
	Column string
	Keep   []string
	Ignore []string
}

// Totals is the row that states sums: its first field begins with Begins, and its amounts stand in the columns of the rows' amounts, those
// that it leaves empty are not stated. A file without it is cut. Empty: the export has none.
type Totals struct {
	Begins string
}

// Fault is one mistake in a Config.
type Fault struct {
	Path string // of the key, from the Config on: "gross.sign", "fees[1].column"
	Text string // what is wrong and what to write
}
