package report

import "creditonce/recon"

// Words say in plain English what a class of items is. The page for finance people and every report use these, so they cannot drift apart.
type Words struct {
	Title string // a few words, for headings and columns
	Means string // what the three lists say
	Do    string // what a person does about it; empty where nothing is to be done
}

// Never is what holds whatever a report says.
const Never = "Reconciliation moves no money: it never repeats, takes back or settles anything. A deal that is found for a row settles the row only through the same look at MT5 that every row in doubt goes through."

var words = map[recon.Class]Words{
	recon.Matched: {
		Title: "Matched",
		Means: "The provider settled it, our row says done, and MT5 has the one deal: the amounts agree.",
	},
	recon.MatchedWithin: {
		Title: "Matched within tolerance",
		Means: "All three records are there; the amounts differ by no more than the configuration allows.",
		Do:    "Nothing, unless the same small difference comes every day: then ask the provider where it comes from.",
	},
	recon.Waiting: {
		Title: "Waiting for settlement",
		Means: "The login was credited. The provider has not settled the payment yet, and its usual delay is not over.",
		Do:    "Nothing. It becomes late when the provider's usual delay is over.",
	},
	recon.Late: {
		Title: "Late settlement",
		Means: "The login was credited, and the provider has not settled the payment within its usual delay.",
		Do:    "Look the payment up at the provider. If it failed or was reversed there, decide with a second person what happens to the credit. If a statement is missing, import it and run again.",
	},
	recon.SettledWithoutCredit: {
		Title: "Settled without credit",
		Means: "The provider settled a payment for which the login got nothing: there is no row, or the row has not been credited.",
		Do:    "Look for the payment among the held and unreadable events. Without an event, let the catch-up pull fetch it or replay it, so that it is credited on the usual way. If it is not a client's deposit, close the task and say what it is.",
	},
	recon.DoneWithoutDeal: {
		Title: "Done without a deal",
		Means: "Our row says that the login was credited; the complete list of MT5 deals does not have the deal.",
		Do:    "Look for the ticket in MT5 Manager. If the deal was deleted or the server was restored there, decide with a second person what the client is owed. Do not book it by hand before that.",
	},
	recon.DealWithoutRow: {
		Title: "Deal with our reference but no row",
		Means: "MT5 has a deal with a whole reference of ours that no row in this store has.",
		Do:    "Find out whether the store was restored from a backup, or whether a second copy of the program is running: stop that one first. Then trace the payment by the deal's login, amount and time.",
	},
	recon.DuplicateReference: {
		Title: "One reference on several deals",
		Means: "MT5 has several deals with the same reference: the payment was probably credited more than once.",
		Do:    "Compare the deals with the payment; one is right. Decide with a second person which of the others are taken back in MT5 Manager, before the client withdraws, and note the tickets of the corrections on the task.",
	},
	recon.DealWithoutReference: {
		Title: "Deal without a reference",
		Means: "MT5 has a balance deal that no row has and that carries no reference: somebody or something else made it.",
		Do:    "Ask the dealer whose number the deal carries. A booking of the firm's own (bonus, correction, old flow): close the task and say so. A client's payment credited by hand: adopt the deal for its row, so that it is not paid again.",
	},
	recon.WrongLogin: {
		Title: "Wrong login",
		Means: "The deal with the row's reference is on another login than the row says.",
		Do:    "Find out whose money it is. Decide with a second person about moving it in MT5 Manager, and keep that login from withdrawing until then.",
	},
	recon.WrongAmount: {
		Title: "Wrong amount",
		Means: "All records are there, and their amounts differ by more than the tolerance.",
		Do:    "Compare the amounts below. Statement against row: ask the provider, and look for a fee, a partial capture or a conversion. Row against deal: decide with a second person about a correction in MT5 Manager.",
	},
	recon.WrongCurrency: {
		Title: "Wrong currency",
		Means: "The records belong together, and they are in different currencies where they must be in one.",
		Do:    "Treat the credit as wrong until it is explained: compare the login's currency, the deposit and the statement, and decide with a second person about a correction.",
	},
	recon.DamagedReference: {
		Title: "Damaged reference",
		Means: "MT5 has a deal whose comment looks like a reference of ours that was cut, altered or mistyped.",
		Do:    "Compare login, amount and time with the row named here. If it is the row's deal, adopt it; if not, record that it is not this payment. Then find out who or what changes comments.",
	},
	recon.ReversalMissing: {
		Title: "Refund or chargeback not taken back",
		Means: "The provider took money back from the firm by a refund or chargeback; the login still has the credit.",
		Do:    "Decide whether the credit is taken back from the login, by the firm's terms. Keep the login from withdrawing until that is done.",
	},
	recon.FailedButDeal: {
		Title: "Failed, but there is a deal",
		Means: "Our row says that MT5 refused the operation; MT5 has the deal all the same.",
		Do:    "Do not retry the row. Ask the program to look again: it settles the row by the deal that it finds. If it does not, adopt the deal with a second person.",
	},
	recon.CancelledButDeal: {
		Title: "Cancelled, but there is a deal",
		Means: "People closed the row without a deal; MT5 has one.",
		Do:    "Find out whether the client was also paid back. The credit stands unless it is taken back: decide that with a second person, and note the correction's ticket on the task.",
	},
	recon.CancelledNotRefunded: {
		Title: "Cancelled, never refunded",
		Means: "The row was closed without a deal, the provider settled the payment, and no refund is known: the firm holds money of a client who got nothing for it.",
		Do:    "Refund the payment at the provider, or credit the client by a manual deposit of two people. Note which on the task.",
	},
	recon.PayoutDifference: {
		Title: "Payout is not the sum of its lines",
		Means: "The provider paid out another sum than the lines of the payout add up to, beyond a rounding rest.",
		Do:    "Check that the statement is whole and that no row stands under unknown types. If it is, ask the provider for the missing movement.",
	},
}

// WordsOf says what a class is. A class that this package does not know has its own name as the title.
func WordsOf(c recon.Class) Words {
	if w, ok := words[c]; ok {
		return w
	}
	return Words{Title: shown(string(c))}
}
