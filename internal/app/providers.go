package app

import (
	"creditonce/internal/config"
	"creditonce/webhook"
	"creditonce/webhook/standard"
	"creditonce/webhook/stripe"
)

// provider builds the verifier and reader of the configured kind.
func provider(p config.Provider, secrets [][]byte) (webhook.Provider, error) {
	if p.Kind == config.KindStandard {
		return standard.New(standard.Config{
			Signing: standard.Signing{Secrets: secrets, MaxAge: p.MaxAge, MaxFuture: p.MaxFuture}, Payload: payload(p.Payload),
		})
	}
	return stripe.New(stripe.Config{Secrets: secrets, MaxAge: p.MaxAge, MaxFuture: p.MaxFuture})
}

func payload(p config.Payload) standard.Payload {
	reversal := func(m config.ReversalMessages) standard.Reversal {
		return standard.Reversal{
			Types: m.Types, Payment: standard.Path(m.Payment), Movement: standard.Path(m.Movement),
			Amount: standard.Path(m.Amount), Currency: standard.Path(m.Currency),
		}
	}
	return standard.Payload{
		Type: standard.Path(p.Type), OccurredAt: standard.Path(p.OccurredAt), Livemode: standard.Path(p.Livemode), Live: p.Live,
		Merchant: standard.Path(p.Merchant), Status: standard.Path(p.Status), AmountIs: standard.Form(p.AmountIs),
		Paid: standard.Paid{
			Types: p.Paid.Types, Payment: standard.Path(p.Paid.Payment), Part: standard.Path(p.Paid.Part),
			Amount: standard.Path(p.Paid.Amount), Currency: standard.Path(p.Paid.Currency), Code: standard.Path(p.Paid.Code),
		},
		Refund: reversal(p.Refund), Dispute: reversal(p.Dispute), Ignored: p.Ignored, Exponents: p.Exponents,
	}
}

// exponent is how many decimal places a provider writes a currency with; false where its table does not have it.
func exponent(p config.Provider, currency string) (int, bool) {
	if p.Kind == config.KindStandard {
		_, places, ok := standard.Currency(p.Payload.Exponents, currency)
		return places, ok
	}
	return stripe.Exponent(currency)
}
