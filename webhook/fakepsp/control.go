package fakepsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// DrainRequest bounds a drain; 0 means 30 s.
type DrainRequest struct {
	Timeout time.Duration `json:"timeout_ns,omitempty"`
}

type controlProblem struct {
	Error string `json:"error"`
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /payments", command(func(_ context.Context, r PaymentRequest) (Payment, error) { return s.Pay(r) }))
	mux.Handle("POST /refunds", command(func(_ context.Context, r RefundRequest) (Refund, error) { return s.Refund(r) }))
	mux.Handle("POST /disputes", command(func(_ context.Context, r DisputeRequest) (Dispute, error) { return s.Dispute(r) }))
	mux.Handle("POST /events", command(func(_ context.Context, r EmitRequest) ([]Event, error) { return s.Emit(r) }))
	mux.Handle("POST /resend", command(func(_ context.Context, r ResendRequest) (Event, error) { return s.Resend(r) }))
	mux.Handle("POST /payouts", command(func(_ context.Context, r SettleRequest) ([]Payout, error) { return s.Settle(r) }))
	mux.HandleFunc("GET /payouts", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, s.Payouts()) })
	mux.Handle("POST /drain", command(func(ctx context.Context, r DrainRequest) (Status, error) {
		if r.Timeout <= 0 {
			r.Timeout = 30 * time.Second
		}
		ctx, cancel := context.WithTimeout(ctx, r.Timeout)
		defer cancel()
		err := s.Drain(ctx)
		return s.Status(), err
	}))
	mux.Handle("POST /api", command(func(_ context.Context, f APIFaults) (APIStatus, error) {
		if s.api == nil {
			return APIStatus{}, fmt.Errorf("an API is %w", errUnknown)
		}
		return s.api.setFaults(f), nil
	}))
	mux.HandleFunc("GET /api", func(w http.ResponseWriter, _ *http.Request) {
		if s.api == nil {
			answer(w, http.StatusNotFound, controlProblem{"an API is not known here"})
			return
		}
		answer(w, http.StatusOK, s.api.counts())
	})
	mux.HandleFunc("GET /payments", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, s.Payments()) })
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, s.Events()) })
	mux.HandleFunc("GET /attempts", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, s.Attempts()) })
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, s.Status()) })
	return mux
}

// command is a POST whose body is one strict JSON object: unknown fields and trailing data are
// refused, so that a misspelled fault switch cannot pass for a run without the fault.
func command[In, Out any](do func(context.Context, In) (Out, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in In
		dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&in); err != nil {
			answer(w, http.StatusBadRequest, controlProblem{"read request: " + err.Error()})
			return
		}
		if _, err := dec.Token(); !errors.Is(err, io.EOF) {
			answer(w, http.StatusBadRequest, controlProblem{"read request: data after the JSON object"})
			return
		}
		out, err := do(r.Context(), in)
		if err != nil {
			answer(w, statusOf(err), controlProblem{err.Error()})
			return
		}
		answer(w, http.StatusOK, out)
	})
}

func statusOf(err error) int {
	switch {
	case errors.Is(err, errUnknown):
		return http.StatusNotFound
	case errors.Is(err, errRefused):
		return http.StatusUnprocessableEntity
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	case errors.Is(err, errClosed):
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// An answer that cannot be written means that the caller has gone; there is nobody to tell.
	_ = json.NewEncoder(w).Encode(v)
}
