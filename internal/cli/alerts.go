package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"creditonce/internal/admin"
)

func alertsCommand(p *Process) *cobra.Command {
	cmd := group("alerts", "Where people are told, and whether it arrives: list, test", alertsListCommand(p), alertsTestCommand(p))
	cmd.Long = "The service tells people of tasks and of changes of the mode, by e-mail and by webhook, as the section alerts of the\n" +
		"configuration says. What could not be sent waits in the store and is sent again; status shows it."
	cmd.Example = "  creditonce alerts list\n  creditonce alerts test"
	return cmd
}

func alertsListCommand(p *Process) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List the places where people are told", Args: args(cobra.NoArgs),
		Long: "list prints each address and the webhook: what waits there, when something last arrived, and why the last attempt failed.", Example: "  creditonce alerts list",
	}
	o := operated(p, cmd)
	cmd.RunE = o.run(func(cmd *cobra.Command, c *admin.Client, _ []string) error {
		got, err := c.Alerts(cmd.Context())
		if err != nil {
			return err
		}
		if err := list(o, got.Items, got.Next != "", channelColumns()); err != nil || o.output != outTable {
			return err
		}
		for _, r := range got.Items { // a mail server's reason is longer than a column
			if err := failureLine(p.Stdout, r.Name, r.Failure); err != nil {
				return err
			}
		}
		return nil
	})
	return cmd
}

func channelColumns() []column[admin.Channel] {
	type x = admin.Channel
	return []column[x]{
		{head: "to", value: func(r x) string { return r.Name }},
		{head: "waiting", value: func(r x) string { return fmt.Sprint(r.Waiting) }},
		{head: "oldest UTC", narrow: true, value: func(r x) string { return utc(r.Oldest) }},
		{head: "oldest at", wide: true, value: func(r x) string { return stamp(r.Oldest) }},
		{head: "delivered UTC", narrow: true, value: func(r x) string { return utc(r.DeliveredAt) }},
		{head: "delivered at", wide: true, value: func(r x) string { return stamp(r.DeliveredAt) }},
		{head: "attempts", value: func(r x) string { return fmt.Sprint(r.Attempts) }},
		{head: "why", wide: true, value: func(r x) string { return r.Failure }},
	}
}

// trial is what became of a test message at one place.
type trial struct {
	Name        string    `json:"name"`
	Result      string    `json:"result"` // delivered, failed, behind or waiting
	DeliveredAt time.Time `json:"delivered_at,omitzero"`
	Why         string    `json:"why,omitempty"`
}

const (
	trialDelivered = "delivered"
	trialFailed    = "failed"
	trialBehind    = "behind" // an older message could not be sent and goes first
	trialWaiting   = "waiting"

	// trialPoll is how often the service is asked what became of the message.
	trialPoll = 200 * time.Millisecond
	// longestTrial bounds --wait.
	longestTrial = 10 * time.Minute
)

func alertsTestCommand(p *Process) *cobra.Command {
	cmd := &cobra.Command{
		Use: "test", Short: "Send a test message to every place, and see whether it arrives", Args: args(cobra.NoArgs),
		Long: "test puts a message into the outbox, as a task would, and waits until every place has taken it or an attempt failed.\n" +
			"The message says that it is a test. What failed is sent again by the service until it arrives. It takes the role\n" +
			"operator or admin. It ends with 0 when all have it, 3 when one attempt failed, 4 when it is still under way.",
		Example: "  creditonce alerts test\n  creditonce alerts test --wait 2m -o json",
	}
	o := operated(p, cmd)
	var wait time.Duration
	cmd.Flags().DurationVar(&wait, "wait", time.Minute, "how long to wait for the result")
	o.check = func(*cobra.Command, []string) error {
		if wait <= 0 || wait > longestTrial {
			return usagef("--wait %s: give a time above 0 and up to %s", wait, longestTrial)
		}
		return nil
	}
	cmd.RunE = o.run(func(cmd *cobra.Command, c *admin.Client, _ []string) error {
		out, err := c.Submit(cmd.Context(), admin.Act{Kind: "alerts.test", Subject: "alerts"})
		if err != nil {
			return err
		}
		n, err := strconv.ParseUint(out.Notice, 10, 64)
		if err != nil {
			return errors.New("the service does not say which message is the test; are the command and the service of one version?")
		}
		trials, err := awaitTrials(cmd.Context(), c, n, wait)
		if err != nil {
			return err
		}
		if err := list(o, trials, false, trialColumns()); err != nil {
			return err
		}
		return judged(trials, wait)
	})
	return cmd
}

// awaitTrials asks the service until every place has a result, or the time is over.
func awaitTrials(ctx context.Context, c *admin.Client, n uint64, wait time.Duration) ([]trial, error) {
	end, tick := time.NewTimer(wait), time.NewTicker(trialPoll)
	defer end.Stop()
	defer tick.Stop()
	before := map[string]admin.Channel{} // as the first answer has it: what failed before the test is no result of it
	for {
		got, err := c.Alerts(ctx)
		if err != nil {
			return nil, err
		}
		trials, over := []trial{}, true
		for _, now := range got.Items {
			if _, ok := before[now.Name]; !ok {
				before[now.Name] = now
			}
			t := trialOf(now, before[now.Name], n)
			trials, over = append(trials, t), over && t.Result != trialWaiting
		}
		if over {
			return trials, nil
		}
		select {
		case <-tick.C:
		case <-end.C:
			return trials, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// trialOf judges one place by the number of the test message.
func trialOf(now, before admin.Channel, n uint64) trial {
	t := trial{Name: now.Name, Result: trialWaiting}
	switch {
	case now.Delivered >= n:
		t.Result, t.DeliveredAt = trialDelivered, now.DeliveredAt
	case now.Sending >= n && now.Attempts > 0:
		t.Result, t.Why = trialFailed, now.Failure
	case now.Sending != 0 && now.Sending < n && now.Attempts > 0 && before.Sending == now.Sending:
		t.Result, t.Why = trialBehind, "older messages could not be sent and go first: "+now.Failure
	}
	return t
}

func trialColumns() []column[trial] {
	return []column[trial]{
		{head: "to", value: func(r trial) string { return r.Name }},
		{head: "result", value: func(r trial) string { return r.Result }},
		{head: "at UTC", narrow: true, value: func(r trial) string { return utc(r.DeliveredAt) }},
		{head: "at", wide: true, value: func(r trial) string { return stamp(r.DeliveredAt) }},
		{head: "why", value: func(r trial) string { return r.Why }},
	}
}

// judged chooses the exit code and says in full what a column had no room for.
func judged(trials []trial, wait time.Duration) error {
	var failed, waiting []string
	for _, t := range trials {
		switch t.Result {
		case trialFailed, trialBehind:
			failed = append(failed, t.Name+": "+plain(t.Why))
		case trialWaiting:
			waiting = append(waiting, t.Name)
		}
	}
	switch {
	case len(failed) > 0:
		return exitWith(ExitFound, fmt.Errorf("not delivered to %s; the service goes on trying: correct the section alerts of the configuration, or the far side",
			strings.Join(failed, "; ")))
	case len(waiting) > 0:
		return exitWith(ExitNoAnswer, fmt.Errorf("after %s it is still under way to %s; creditonce alerts list shows what becomes of it", wait, strings.Join(waiting, ", ")))
	default:
		return nil
	}
}
