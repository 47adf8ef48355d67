package api

import (
	"fmt"
	"reflect"
	"slices"

	"creditonce/credit"
)

// The forms of texts, as the rules judge them (rules.go) or the answers write them. What a pattern cannot say stands
// in the description.
const (
	formPrintable = `^\S(.*\S)?$`
	formAmount    = `^[0-9]{1,22}(\.[0-9]{1,18})?$`
	formRate      = `^[0-9]+(\.[0-9]+)?$`
	formMoney     = `^[0-9]+(\.[0-9]+)?$`
	formDigits    = `^[0-9]+$`
	formID        = `^[1-9][0-9]{0,19}$`
	formCode      = `^[A-Za-z0-9_-]{22,64}$`
	formZero      = `^[0.]*$`
)

// component is a named schema of the document.
type component struct {
	name    string
	body    any // the Go value that is read or written in this form; nil for texts
	schema  *schema
	example string // JSON; empty where the schema's own examples say enough
}

// components are the bodies of requests and answers and what they are made of.
func components() []component {
	return slices.Concat(requestComponents(), depositComponents(), creditComponents(), []component{
		{"Account", accountBody{}, accountSchema(), exampleAccount},
		{"AccountList", accountList{}, pageSchema("Account"), `{"items":[` + exampleAccount + `],"next":null}`},
		{"Money", moneyBody{}, moneySchema(), ""},
		{"Problem", document{}, problemSchema(), exampleProblem},
		{"ProblemCode", nil, wordOf("What is wrong, for programs. A code never changes its meaning; new ones may come.", problemCodes()...), ""},
		{"FieldFault", fault{}, fieldFaultSchema(), ""},
	})
}

func requestComponents() []component {
	return []component{
		{"NewAccount", accountWish{}, newAccountSchema(), exampleNewAccount},
		{"NewDeposit", wish{}, newDepositSchema(), exampleNewDeposit},
		{"NewMoney", moneyWish{}, newMoneySchema(), ""},
		{"Rate", rateWish{}, rateSchema(), ""},
	}
}

func depositComponents() []component {
	return []component{
		{"Deposit", depositBody{}, depositSchema(), exampleDeposit},
		{"DepositRecord", recordBody{}, recordSchema(), exampleRecord},
		{"DepositList", depositList{}, pageSchema("DepositRecord"), `{"items":[` + exampleRecord + `],"next":null}`},
		{"DepositState", nil, wordOf(aboutDepositStates, texts(credit.DepositStates())...), ""},
		{"Warning", warningBody{}, warningSchema(), ""},
	}
}

func creditComponents() []component {
	return []component{
		{"Credit", creditBody{}, creditSchema(), exampleCredit},
		{"CreditList", creditList{}, pageSchema("Credit"), `{"items":[` + exampleCredit + `],"next":null}`},
		{"CreditState", nil, wordOf(aboutCreditStates, texts(credit.States())...), ""},
		{"Hold", holdBody{}, holdSchema(), ""},
		{"Limit", limitBody{}, limitSchema(), ""},
		{"HistoryEntry", entryBody{}, entrySchema(), ""},
		{"DepositStory", storyBody{}, storySchema(), exampleStory},
	}
}

// componentSchemas are the schemas by name; a name that stands twice is a mistake.
func componentSchemas() (map[string]*schema, error) {
	out := map[string]*schema{}
	for _, c := range components() {
		if out[c.name] != nil {
			return nil, fmt.Errorf("describe the API: there are two schemas %s", c.name)
		}
		out[c.name] = c.schema
	}
	return out, nil
}

// componentOf finds the schema of a Go value.
func componentOf(body reflect.Type) (component, bool) {
	for _, c := range components() {
		if c.body != nil && reflect.TypeOf(c.body) == body {
			return c, true
		}
	}
	return component{}, false
}

// problemCodes lists every code, in alphabetical order.
func problemCodes() []string {
	var codes []string
	for _, p := range problemTexts {
		codes = append(codes, p.kind.code)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}
