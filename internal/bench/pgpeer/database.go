package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"creditonce/credit"
)

// schema is the published design's table of credits as it stands there, its partial index for the claim, and beside it
// the event under its unique key with the body.
const schema = `
CREATE TABLE event (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  provider    text        NOT NULL,
  message_key text        NOT NULL,
  type        text        NOT NULL,
  digest      text        NOT NULL,
  signature   text        NOT NULL,
  body        bytea       NOT NULL,
  received_at timestamptz NOT NULL,
  UNIQUE (provider, message_key)
);
CREATE TABLE mt5_credit (
  id                  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  provider            text        NOT NULL,
  provider_payment_id text        NOT NULL,
  mt5_login           bigint      NOT NULL,
  amount_minor        bigint      NOT NULL CHECK (amount_minor > 0),
  currency            char(3)     NOT NULL,
  status              text        NOT NULL DEFAULT 'pending'
    CHECK (status IN ('pending', 'claimed', 'unknown', 'done', 'failed')),
  mt5_deal_ticket     bigint      UNIQUE,
  claimed_at          timestamptz,
  lease_expires_at    timestamptz,
  attempts            integer     NOT NULL DEFAULT 0,
  created_at          timestamptz NOT NULL DEFAULT now(),
  UNIQUE (provider, provider_payment_id)
);
CREATE INDEX mt5_credit_pending ON mt5_credit (id) WHERE status = 'pending';
`

const (
	insertEvent = `INSERT INTO event (provider, message_key, type, digest, signature, body, received_at)
VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (provider, message_key) DO NOTHING RETURNING id`
	insertCredit = `INSERT INTO mt5_credit (provider, provider_payment_id, mt5_login, amount_minor, currency)
VALUES ($1, $2, $3, $4, $5) ON CONFLICT (provider, provider_payment_id) DO NOTHING`
	insertBoth = `WITH e AS (INSERT INTO event (provider, message_key, type, digest, signature, body, received_at)
VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (provider, message_key) DO NOTHING RETURNING id)
INSERT INTO mt5_credit (provider, provider_payment_id, mt5_login, amount_minor, currency)
SELECT $1, $8, $9, $10, $11 FROM e ON CONFLICT (provider, provider_payment_id) DO NOTHING`
)

// login stands for the one that the deposit record would name.
const login = 700_001

// database is a schema of its own with a pool.
type database struct {
	*pgxpool.Pool
	schema  string
	version string
}

func openDatabase(ctx context.Context, dsn string) (*database, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("the --dsn is no URL of a PostgreSQL database") // the error would repeat its password
	}
	d := &database{schema: "creditonce_peer_" + time.Now().UTC().Format("20060102t150405")}
	config.MinConns, config.MaxConns = pool, pool
	config.ConnConfig.RuntimeParams["search_path"] = d.schema
	if d.Pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	if err := d.lay(ctx); err != nil {
		d.Close()
		return nil, fmt.Errorf("lay the peer's schema: %w", err)
	}
	return d, nil
}

func (d *database) lay(ctx context.Context) error {
	if err := d.QueryRow(ctx, "SELECT split_part(version(), ' on ', 1)").Scan(&d.version); err != nil {
		return err
	}
	if _, err := d.Exec(ctx, "CREATE SCHEMA "+d.schema); err != nil {
		return err
	}
	_, err := d.Exec(ctx, schema)
	return err
}

func (d *database) drop(ctx context.Context) error {
	defer d.Close()
	_, err := d.Exec(context.WithoutCancel(ctx), "DROP SCHEMA "+d.schema+" CASCADE")
	return err
}

// durable says what a commit waits for, so that a comparison with another setting shows.
func (d *database) durable(ctx context.Context) (string, error) {
	var fsync, commit, method string
	for name, into := range map[string]*string{"fsync": &fsync, "synchronous_commit": &commit, "wal_sync_method": &method} {
		if err := d.QueryRow(ctx, "SHOW "+name).Scan(into); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("fsync %s, synchronous_commit %s, %s", fsync, commit, method), nil
}

// fill copies so many events with their rows in, and lets the planner and the vacuum know.
func (d *database) fill(ctx context.Context, n int, next func() credit.Event) error {
	for done := 0; done < n; {
		piece := min(20_000, n-done)
		var rows, credits [][]any
		for range piece {
			e := next()
			units := e.Facts.Parts[0].Amount
			rows = append(rows, []any{e.Provider, e.MessageKey, e.Facts.Type, e.Digest, e.Headers["Stripe-Signature"], e.Body, e.ReceivedAt})
			credits = append(credits, []any{e.Provider, e.Facts.Payment, int64(login), units.Units().Int64(), units.Currency()})
		}
		if _, err := d.CopyFrom(ctx, pgx.Identifier{"event"}, []string{"provider", "message_key", "type", "digest", "signature", "body", "received_at"}, pgx.CopyFromRows(rows)); err != nil {
			return fmt.Errorf("fill the peer: %w", err)
		}
		if _, err := d.CopyFrom(ctx, pgx.Identifier{"mt5_credit"}, []string{"provider", "provider_payment_id", "mt5_login", "amount_minor", "currency"}, pgx.CopyFromRows(credits)); err != nil {
			return fmt.Errorf("fill the peer: %w", err)
		}
		done += piece
	}
	for _, sql := range []string{"VACUUM ANALYZE event", "VACUUM ANALYZE mt5_credit", "CHECKPOINT"} {
		if _, err := d.Exec(ctx, sql); err != nil {
			return fmt.Errorf("fill the peer: %s: %w", sql, err)
		}
	}
	return nil
}

// plain is an intake that writes as most programs do: BEGIN, two INSERTs, COMMIT. It implements webhook.Intake.
type plain struct{ *database }

// Receive implements webhook.Intake.
func (p plain) Receive(ctx context.Context, e credit.Event) (credit.Receipt, error) {
	tx, err := p.Begin(ctx)
	if err != nil {
		return credit.Receipt{}, err
	}
	defer func() { _ = tx.Rollback(ctx) }() // after a commit it does nothing
	var id int64
	err = tx.QueryRow(ctx, insertEvent, e.Provider, e.MessageKey, e.Facts.Type, e.Digest, e.Headers["Stripe-Signature"], e.Body, e.ReceivedAt).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return credit.Receipt{Repeat: true}, nil
	}
	if err != nil {
		return credit.Receipt{}, err
	}
	amount := e.Facts.Parts[0].Amount
	if _, err := tx.Exec(ctx, insertCredit, e.Provider, e.Facts.Payment, int64(login), amount.Units().Int64(), amount.Currency()); err != nil {
		return credit.Receipt{}, err
	}
	return credit.Receipt{Event: credit.EventID(id)}, tx.Commit(ctx)
}

// oneStatement is an intake that writes both rows with one statement. It implements webhook.Intake.
type oneStatement struct{ *database }

// Receive implements webhook.Intake.
func (o oneStatement) Receive(ctx context.Context, e credit.Event) (credit.Receipt, error) {
	amount := e.Facts.Parts[0].Amount
	done, err := o.Exec(ctx, insertBoth, e.Provider, e.MessageKey, e.Facts.Type, e.Digest, e.Headers["Stripe-Signature"], e.Body, e.ReceivedAt,
		e.Facts.Payment, int64(login), amount.Units().Int64(), amount.Currency())
	return credit.Receipt{Repeat: err == nil && done.RowsAffected() == 0}, err
}

// drawSecret makes the peer's signing secret.
func drawSecret() string { return "whsec_" + rand.Text() }
