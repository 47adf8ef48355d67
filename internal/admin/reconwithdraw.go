package admin

import (
	"context"
	"net/http"
	"strings"

	"creditonce/internal/desk"
	"creditonce/recon"
)

// WithdrawWish takes an imported statement back.
type WithdrawWish struct {
	Reason string `json:"reason"` // required
}

func (s *Server) withdrawStatement(w http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	rec, err := s.reconciliation()
	if err != nil {
		return nil, err
	}
	id, err := numbered[recon.StatementID](r)
	if err != nil {
		return nil, err
	}
	var wish WithdrawWish
	if err := readBody(w, r, &wish); err != nil {
		return nil, err
	}
	if strings.TrimSpace(wish.Reason) == "" {
		return nil, invalid("a statement is withdrawn for a reason; say it in a few words")
	}
	im, err := rec.Withdraw(r.Context(), who, id, wish.Reason)
	if err != nil {
		return nil, missing(err, "statement/%d", id)
	}
	return im, nil
}

// WithdrawStatement takes an imported statement back. It is refused while later statements repeat its rows.
func (c *Client) WithdrawStatement(ctx context.Context, id, reason string) (ReconStatement, error) {
	return post[ReconStatement](ctx, c, WithdrawWish{reason}, "/v1/recon/statements/%s/withdraw", id)
}
