package mt5

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"creditonce/credit"
)

func TestRetcodes_TableIsThePaper(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/retcodes.tsv")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")[1:]
	classes := map[string]class{"yes": applied, "no": refused, "unknown": unknown}
	for _, line := range lines {
		cells := strings.Split(line, "\t")
		code, err := strconv.Atoi(cells[0])
		if err != nil || len(cells) != 4 {
			t.Fatalf("line %q", line)
		}
		want, known := classes[cells[3]]
		if got := retcodes[code]; !known || got != (retcode{want, cells[1], cells[2]}) {
			t.Errorf("code %d: %+v, paper %q", code, got, line)
		}
	}
	if len(lines) != 198 || len(retcodes) != len(lines) {
		t.Errorf("paper has %d codes, table %d, want 198", len(lines), len(retcodes))
	}
}

func TestClassify_WholeTableUnderEveryStatus(t *testing.T) {
	t.Parallel()
	statuses := []int{0, 200, 201, 204, 301, 302, 307, 400, 401, 403, 404, 409, 429, 500, 502, 503, 504}
	refusing := map[int]bool{200: true, 400: true, 404: true}
	codes := []int{noCode, -13, 77777, 1 << 30}
	for code := range retcodes {
		codes = append(codes, code)
	}
	for _, code := range codes {
		for _, status := range statuses {
			for _, ticket := range []uint64{0, 1 << 40} {
				want, answered := credit.OutcomeUnknown, code == 0 || code == 10009
				switch {
				case answered && status == 200 && ticket > 0:
					want = credit.OutcomeApplied
				case retcodes[code].class == refused && refusing[status]:
					want = credit.OutcomeRefused
				}
				got, said := Classify(status, code, ticket)
				if got != want || said != answered {
					t.Errorf("status %d code %d ticket %d: %s %v, want %s %v", status, code, ticket, got, said, want, answered)
				}
			}
		}
	}
}

// The codes that a reader might wrongly take for a refusal (mt5-webapi.md §4).
func TestH8_CodesThatMustStayUnknown(t *testing.T) {
	t.Parallel()
	for _, code := range []int{
		1, 2, 4, 5, 6, 7, 9, 10, 11, 12, 14, 15, 16, 17, 4006, 5003, 10001, 10002, 10003, 10004, 10005, 10007, 10008, 10010,
		10011, 10012, 10028, 10031, 11000, 11001, 11002, 12003, 12004,
	} {
		if got, _ := Classify(200, code, 1); got != credit.OutcomeUnknown {
			t.Errorf("code %d: %s", code, got)
		}
	}
	for _, code := range []int{3, 8, 13, 1001, 4001, 4003, 4004, 4005, 4008, 10006, 10013, 10017, 10018, 10019, 10024, 10032, 12000, 12001, 12002} {
		if got, _ := Classify(200, code, 0); got != credit.OutcomeRefused {
			t.Errorf("code %d: %s", code, got)
		}
	}
}

func TestCodeText_NamesTheCode(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]string{10019: "10019 MT_RET_REQUEST_NO_MONEY", 77777: "77777 (not in the table)", noCode: ""} {
		if got := codeText(code); got != want {
			t.Errorf("code %d: %q, want %q", code, got, want)
		}
	}
}
