// Package client calls the portal's API. client.gen.go is generated from the API's own OpenAPI document
// (openapi.json here, GET /openapi.json from a running service), so it knows every call, parameter, body and problem
// code. For a firm that writes its portal in Go it is ready to be copied; the demo's portal uses it.
//
// A client is used like this:
//
//	api, err := client.NewClientWithResponses("http://127.0.0.1:8081", client.WithKey(key))
//	...
//	made, err := api.MakeDepositWithResponse(ctx, &client.MakeDepositParams{IdempotencyKey: order}, client.NewDeposit{...})
//	if err == nil {
//		err = client.Refusal(made.StatusCode(), made.Body)
//	}
//
// After a change of the API: go generate ./internal/api/client
package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

//go:generate go test -count=1 -run ^TestDocument_ -update .
//go:generate go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -config oapi-codegen.yaml -o client.gen.go openapi.json
//go:generate go test -count=1 -run ^TestGenerated_ -update .

// WithKey sends the API key with every request.
func WithKey(key string) ClientOption {
	return WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+key)
		return nil
	})
}

// RefusedError is an answer that is no success. Problem is empty but for Detail where something else than the API has
// answered, such as a proxy.
type RefusedError struct {
	Status  int
	Problem Problem
}

// Error gives the API's own words.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("%d %s: %s", e.Status, e.Problem.Code, e.Problem.Detail)
}

// Refusal returns a *RefusedError for an answer that is no success, and nil for one that is: 200, 201, and 304 where
// the caller has what it asked for already.
func Refusal(status int, body []byte) error {
	if status/100 == 2 || status == http.StatusNotModified {
		return nil
	}
	refused := &RefusedError{Status: status}
	if json.Unmarshal(body, &refused.Problem) != nil || refused.Problem.Code == "" {
		refused.Problem = Problem{Detail: "the answer is not a problem document"}
	}
	return refused
}
