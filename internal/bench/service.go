package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// service is the product, running as `creditonce serve` in a house.
type service struct {
	*part
	house    *house
	log      *logReader
	webhooks string
	api      string
	ready    time.Duration // from the start of the process to its listeners
	http     *http.Client
}

// leftOut is what makes a build with the tag benchnocommit leave its commits out (store/commit_leftout.go).
const leftOut = "CREDITONCE_LEAVE_OUT_COMMIT=1"

// serve starts the service and waits until it listens.
func (p Programs) serve(ctx context.Context, name string, h *house, env ...string) (*service, error) {
	begun := time.Now()
	child, err := p.start(name, h.dir, env, "serve", "--config", h.config())
	if err != nil {
		return nil, err
	}
	s := &service{part: child, house: h, http: &http.Client{Timeout: answerWithin, Transport: &http.Transport{MaxIdleConnsPerHost: 16}}}
	if s.log, err = child.follow(); err != nil {
		return nil, errors.Join(err, child.stop())
	}
	var line struct{ Webhooks, API string }
	if err := s.log.await(ctx, "serving", &line); err != nil {
		_ = s.stop() // what it says is in err already
		return nil, err
	}
	s.webhooks, s.api, s.ready = line.Webhooks, line.API, time.Since(begun)
	return s, nil
}

func (s *service) stop() error {
	s.http.CloseIdleConnections()
	s.log.close()
	return s.part.stop()
}

// cpu is the processor time of the service so far; 0 where it is not known.
func (s *service) cpu() time.Duration {
	used, _ := processorTime(s.cmd.Process.Pid)
	return used
}

// call asks the portal's API and decodes the answer. It waits as long as a 429 asks for: a key has a limit.
func (s *service) call(ctx context.Context, method, path, key, idempotency string, body string, into any) error {
	for {
		status, wait, text, err := s.ask(ctx, method, path, key, idempotency, body)
		switch {
		case err != nil:
			return fmt.Errorf("ask the API: %w", err)
		case status == http.StatusTooManyRequests:
			if err := pause(ctx, wait); err != nil {
				return err
			}
		case status/100 != 2:
			return fmt.Errorf("the API answered %d: %s", status, bytes.TrimSpace(text))
		case into == nil:
			return nil
		default:
			return json.Unmarshal(text, into)
		}
	}
}

func (s *service) ask(ctx context.Context, method, path, key, idempotency, body string) (status int, wait time.Duration, text []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+s.api+path, strings.NewReader(body))
	if err != nil {
		return 0, 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	if idempotency != "" {
		req.Header.Set("Idempotency-Key", idempotency)
	}
	res, err := s.http.Do(req)
	if err != nil {
		return 0, 0, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	if text, err = io.ReadAll(res.Body); err != nil {
		return 0, 0, nil, err
	}
	seconds, err := strconv.Atoi(res.Header.Get("Retry-After"))
	if err != nil || seconds < 1 {
		seconds = 1
	}
	return res.StatusCode, time.Duration(seconds) * time.Second, text, nil
}

// register gives the login its owner.
func (s *service) register(ctx context.Context, login uint64) error {
	return s.call(ctx, http.MethodPut, fmt.Sprintf("/v1/servers/%s/accounts/%d", serverLabel, login), s.house.accountsKey(), "",
		fmt.Sprintf(`{"client":"client-%d","currency":"USD","digits":2}`, login), nil)
}

// deposit makes a deposit for the login and returns its code.
func (s *service) deposit(ctx context.Context, login uint64, key string) (string, error) {
	var made struct{ Code string }
	err := s.call(ctx, http.MethodPost, "/v1/deposits", s.house.key, key, fmt.Sprintf(
		`{"client":"client-%d","server":"%s","login":"%d","provider":"%s","paid":{"amount":"123.45","currency":"USD"},"credited":{"amount":"123.45","currency":"USD"}}`,
		login, serverLabel, login, providerLabel), &made)
	return made.Code, err
}
