package cli

import (
	"strings"
	"testing"
)

// Whoever asks for what does not exist, or for what its state does not allow, reads what it is, how it stands and where to
// look: never the words of the store.
func TestRefusals_SayWhatItIsHowItStandsAndWhereToLook(t *testing.T) {
	t.Parallel()
	f := newOffice(t, true)
	f.register()
	paid := f.awaitState(f.pay(f.deposit("40.00"), 4000), "done").Credit
	held := f.pay(f.deposit("40.00"), 3000)
	f.awaitState(held, "held")
	f.calm()
	ended := f.pay("nobody-knows-this-code-0007", 1200)
	f.agree("anna", "ben", "close-without-deal", ended, "--reason", "refunded")
	wire := "deposit manual --client client-1 --login 1 --amount 1.00 --currency USD --bank-reference F --received-at 2026-11-30T09:15:00Z --server "
	const noCredit = "credit 99 does not exist; creditonce credits list shows which do"
	const noTask = "task 99 does not exist; creditonce tasks list --all shows which do"
	done := "credit " + paid.ID + " is done with deal " + paid.Ticket + "; nothing is left "
	for _, test := range []struct {
		who, line, says string
		code            int
	}{
		{"carl", "credits show 99", noCredit, ExitFailed},
		{"carl", "credits candidates 99", noCredit, ExitFailed},
		{"carl", "credits resolve 99", noCredit, ExitFailed},
		{"carl", "credits retry 99 --reason r", noCredit, ExitFailed},
		{"carl", "credits hold 99 --reason r", noCredit, ExitFailed},
		{"anna", "credits release 99 --reason r", noCredit, ExitFailed},
		{"anna", "adopt-deal 99 900071 --reason r", noCredit, ExitFailed},
		{"anna", "not-this-deal 99 900071 --reason r", noCredit, ExitFailed},
		{"anna", "close-without-deal 99 --reason r", noCredit, ExitFailed},
		{"carl", "tasks show 99", noTask, ExitFailed},
		{"carl", "tasks note 99 --text x", noTask, ExitFailed},
		{"carl", "tasks assign 99 --person carl", noTask, ExitFailed},
		{"carl", "tasks close 99 --reason r", noTask, ExitFailed},
		{"carl", "webhook replay 99 --reason r", "event 99 does not exist; creditonce events list shows which do", ExitFailed},
		{"carl", "events show 99", "event 99 does not exist", ExitFailed},
		{"carl", "deposits show abc", "deposit abc does not exist; creditonce deposits list shows which do", ExitFailed},
		{"ben", "proposals show 99", "proposal 99 does not exist; creditonce proposals list --all shows which do", ExitFailed},
		{"ben", "proposals confirm 99 --yes --reason r", "proposal 99 does not exist", ExitFailed},
		{"ben", "proposals reject 99 --reason r", "proposal 99 does not exist", ExitFailed},
		{"anna", "people change zed --disabled --reason r", "person zed does not exist; creditonce people list shows which do", ExitFailed},
		{"anna", "keys revoke zed --reason r", "key zed does not exist; creditonce keys list shows which do", ExitFailed},

		{"carl", "credits resolve " + paid.ID, done + "to look for", ExitRefused},
		{"carl", "credits retry " + paid.ID + " --reason r", done + "to retry", ExitRefused},
		{"carl", "credits hold " + paid.ID + " --reason r", done + "to hold", ExitRefused},
		{"anna", "credits release " + paid.ID + " --reason r", done + "to release", ExitRefused},
		{"anna", "adopt-deal " + paid.ID + " 900071 --reason r", done + "to adopt", ExitRefused},
		{"anna", "not-this-deal " + paid.ID + " 900071 --reason r", done + "to compare", ExitRefused},
		{"anna", "close-without-deal " + paid.ID + " --reason r", done + "to close", ExitRefused},
		{"anna", "close-without-deal " + ended + " --reason r", "credit " + ended + " was ended without a deal; nothing is left to close", ExitRefused},
		{"carl", "credits retry " + held + " --reason r", "a retry takes one that is failed; to let it go on: creditonce credits release", ExitRefused},

		{"carl", "tasks assign 1 --person zed", "creditonce people list shows who there is", ExitRefused},
		{"anna", "credits release 0 --reason r", "creditonce credits list shows which there are", ExitUsage},
		{"anna", "credits release 99999999999999999999 --reason r", "creditonce credits list shows which there are", ExitUsage},
		{"anna", "mt5 permit --server main --login abc --reason r", `--login "abc" is not a whole number`, ExitUsage},
		{"anna", "mt5 permit --server main --login 500123 --reason r", "is the account of client client-1", ExitRefused},
		{"carl", "credits show " + strings.Repeat("9", 5000), "(5000 bytes)", ExitUsage},
		{"carl", "deposits show " + strings.Repeat("x", 5000), "(5000 bytes)", ExitFailed},
		{"anna", "mt5 permit --server main --reason r --login " + strings.Repeat("x", 5000), "(5000 bytes)", ExitUsage},

		{"anna", "release --reason r", "to let one held credit go on: creditonce credits release", ExitRefused},
		{"anna", "mt5 permit --server zed --login 5 --reason r", `no MT5 server "zed"; it has: main`, ExitRefused},
		{"anna", "deal-gone 5 6 --server zed --reason r", `no MT5 server "zed"; it has: main`, ExitRefused},
		{"anna", "deal-gone 5 6 --server main --reason r", "login 5 does not exist", ExitRefused},
		{"anna", wire + "zed --reason r", `no MT5 server "zed"; it has: main`, ExitRefused},
		{"anna", wire + "main --reason r", "login 1 is not registered on main; your own server registers it", ExitRefused},
	} {
		got := f.as(test.who, strings.Fields(test.line)...)
		if got.code != test.code || !strings.Contains(got.stderr, test.says) || strings.Contains(got.stderr, "not found") || strings.Contains(got.stderr, "dossier") ||
			strings.Contains(got.stderr, "strconv") || len(got.stderr) > 1000 {
			t.Errorf("%s: %+v\nwant exit %d and %q", test.line, got, test.code, test.says)
		}
	}
}
