package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"creditonce/internal/admin"
)

func statusCommand(p *Process) *cobra.Command {
	cmd := &cobra.Command{
		Use: "status", Short: "One screen: mode, sessions, credits, tasks, reconciliation, disk",
		Long: "status asks the running service for one screen: what it may do and why, its MT5 sessions, the credits by state with the\n" +
			"oldest that is in doubt, the open tasks by kind, what waits for a second person, how far the lists of providers are pulled,\n" +
			"how far the books are reconciled, disk, alarms that could not be sent.",
		Example: "  creditonce status\n  creditonce status -o json", Args: args(cobra.NoArgs),
	}
	o := operatedOne(p, cmd)
	cmd.RunE = o.run(func(cmd *cobra.Command, c *admin.Client, _ []string) error {
		s, err := c.Status(cmd.Context())
		if err != nil {
			return err
		}
		return show(o, s, func(w io.Writer, s admin.Status) error { return statusSheet(w, s, p.Now().UTC()) })
	})
	return cmd
}

// stateOrder is the order of a credit's life, as help states has it.
var stateOrder = []string{"held", "pending", "claimed", "unknown", "done", "failed", "cancelled"}

func statusSheet(w io.Writer, s admin.Status, now time.Time) error {
	if err := stopSection(w, s.Stops, now); err != nil {
		return err
	}
	var head sheet
	head.add("environment", s.Environment)
	head.add("mode", modeText(s))
	head.add("doubt", s.Doubt)
	head.addTime("mode since", s.ModeAt)
	head.addTime("cut-over", s.CutoverAt)
	head.add("version", s.Service.Version)
	head.addTime("running since", s.Service.StartedAt)
	head.add("store", fmt.Sprintf("%s, %s; %s free on its disk", s.Service.Store, bytesText(s.Service.StoreBytes), bytesText(s.Service.FreeBytes)))
	head.add("events", fmt.Sprint(s.Events))
	proposals := fmt.Sprintf("%d open", s.Proposals)
	if s.Moved > 0 {
		proposals += fmt.Sprintf(", %d moved: they can only be rejected, see creditonce proposals list", s.Moved)
	}
	head.add("proposals", proposals)
	head.add("reconciled", reconciledText(s.Recon))
	if s.Quarantine > 0 {
		head.add("quarantine", fmt.Sprintf("%ds more until credits of earlier runs can be proven absent at MT5", s.Quarantine))
	}
	if s.People == 0 {
		head.add("people", "none: root names the first two with creditonce people bootstrap")
	}
	if s.Service.Alarms >= 0 {
		head.add("alarms", fmt.Sprintf("%d not delivered yet", s.Service.Alarms))
	} else {
		head.add("alarms", "nobody is told: the configuration has no section alerts")
	}
	if err := head.write(w, ""); err != nil {
		return err
	}
	if len(s.Service.AlarmChannels) > 0 {
		if err := waitingAlarms(w, s.Service.AlarmChannels, now); err != nil {
			return err
		}
	}
	if err := restoreSection(w, s.Restore); err != nil {
		return err
	}
	if err := pullSection(w, s.Pulls, now); err != nil {
		return err
	}
	if err := section(w, "MT5 sessions", s.Service.Sessions, sessionColumns()); err != nil {
		return err
	}
	if err := creditCounts(w, s, now); err != nil {
		return err
	}
	if s.OpenTasks == 0 {
		_, err := fmt.Fprintf(w, "\nno open tasks\n")
		return err
	}
	return section(w, "open tasks (creditonce tasks list)", s.TasksByKind, []column[admin.TaskCount]{
		{head: "kind", value: func(t admin.TaskCount) string { return t.Kind }},
		{head: "open", value: func(t admin.TaskCount) string { return fmt.Sprint(t.Open) }},
		{head: "oldest UTC", value: func(t admin.TaskCount) string { return utc(t.Oldest) }},
		{head: "age", value: func(t admin.TaskCount) string { return age(now, t.Oldest) }},
	})
}

// reconciledText is the line about the reconciliation; nothing where the service has none.
func reconciledText(r *admin.ReconStanding) string {
	if r == nil {
		return ""
	}
	text := "no business day yet, since " + utc(r.Since) + " UTC"
	if r.Through != "" {
		text = "through " + string(r.Through) + " (" + r.Zone + ")"
	}
	n := r.Newest
	if n == nil {
		return text + "; there was no run"
	}
	days := string(n.Last)
	if n.First != n.Last {
		days = string(n.First) + " to " + days
	}
	return fmt.Sprintf("%s; newest run %d, of %s: %s", text, n.ID, days, sayingOf(n.Verdict, n.Differences))
}

// stopSection says why nothing is credited and what ends it, the first thing that somebody must see; nothing where payments are credited.
func stopSection(w io.Writer, stops []admin.Stop, now time.Time) error {
	for _, s := range stops {
		where := "NOTHING IS CREDITED"
		if s.Server != "" {
			where = "NOT CREDITED ON " + s.Server
		}
		lines := append(wrapped(s.Why, columnsIn(w)), wrapped("do: "+s.Next, columnsIn(w))...)
		if _, err := fmt.Fprintf(w, "%s since %s UTC, %s\n  %s\n\n", plain(where), utc(s.Since), age(now, s.Since), strings.Join(lines, "\n  ")); err != nil {
			return err
		}
	}
	return nil
}

// restoreSection tells how far a restore or takeover has come, and what its release waits for.
func restoreSection(w io.Writer, r *admin.Restore) error {
	if r == nil {
		return nil
	}
	rows := "the credits of before are still being moved"
	switch {
	case !r.ReleasedAt.IsZero():
		rows = "released; the credits that waited for it are going on"
	case !r.MovedAt.IsZero():
		rows = "the credits of before are moved; release waits for the quarantine and every gap"
	}
	if _, err := fmt.Fprintf(w, "\n%s of %s UTC; newest record before it %s UTC\n%s\n", r.Kind, utc(r.At), utc(r.Since), rows); err != nil {
		return err
	}
	return section(w, "gap of each provider", r.Gaps, []column[admin.Gap]{
		{head: "provider", value: func(g admin.Gap) string { return g.Provider }},
		{head: "from UTC", value: func(g admin.Gap) string { return utc(g.From) }},
		{head: "complete", value: func(g admin.Gap) string {
			if g.Complete {
				return "yes, by " + g.By
			}
			return "no"
		}},
	})
}

// pullSection tells how far the lists of providers have come, and below the table why one is not read.
func pullSection(w io.Writer, pulls []admin.Pull, now time.Time) error {
	if len(pulls) == 0 {
		return nil
	}
	err := section(w, "lists of events pulled", pulls, []column[admin.Pull]{
		{head: "provider", value: func(p admin.Pull) string { return p.Provider }},
		{head: "complete to UTC", value: func(p admin.Pull) string { return utc(p.CompleteTo) }},
		{head: "last complete", value: func(p admin.Pull) string { return age(now, p.PulledAt) }},
		{head: "webhooks missed", value: func(p admin.Pull) string { return fmt.Sprint(p.Missed) }},
		{head: "newest missed UTC", value: func(p admin.Pull) string { return utc(p.MissedAt) }},
		{head: "failing", value: func(p admin.Pull) string { return age(now, p.Failing) }},
	})
	for _, p := range pulls {
		if err == nil {
			err = failureLine(w, p.Provider, p.Problem)
		}
	}
	return err
}

func modeText(s admin.Status) string {
	text := s.Mode
	switch s.Mode {
	case "observe":
		text += ": no balance operation is called"
	case "hold":
		text += ": nothing is claimed"
	}
	if s.ModeReason != "" {
		text += " (" + s.ModeReason + ")"
	}
	if s.ModeBy != "" {
		text += " by " + s.ModeBy
	}
	return text
}

func creditCounts(w io.Writer, s admin.Status, now time.Time) error {
	if _, err := fmt.Fprintf(w, "\ncredits\n"); err != nil {
		return err
	}
	var counts sheet
	for _, state := range stateOrder {
		text := fmt.Sprint(s.Credits[state])
		if state == "unknown" && !s.OldestDoubt.IsZero() {
			text += "  oldest since " + s.OldestDoubt.UTC().Format(time.DateTime) + " UTC, " + age(now, s.OldestDoubt)
		}
		counts.add(state, text)
	}
	return counts.write(w, "")
}

// waitingAlarms tells below the table why each did not go out: the reason of a mail server is longer than a column.
func waitingAlarms(w io.Writer, channels []admin.AlarmChannel, now time.Time) error {
	if err := section(w, "alarms that wait", channels, alarmColumns(now)); err != nil {
		return err
	}
	for _, c := range channels {
		if err := failureLine(w, c.Name, c.Failure); err != nil {
			return err
		}
	}
	return nil
}

// failureLine tells why the last attempt at a place failed; nothing where it did not.
func failureLine(w io.Writer, name, failure string) error {
	if failure == "" {
		return nil
	}
	_, err := fmt.Fprintln(w, plain(name+": "+failure))
	return err
}

func alarmColumns(now time.Time) []column[admin.AlarmChannel] {
	type x = admin.AlarmChannel
	return []column[x]{
		{head: "to", value: func(r x) string { return r.Name }},
		{head: "waiting", value: func(r x) string { return fmt.Sprint(r.Waiting) }},
		{head: "oldest UTC", value: func(r x) string { return utc(r.Oldest) }},
		{head: "age", value: func(r x) string { return age(now, r.Oldest) }},
		{head: "attempts", value: func(r x) string { return fmt.Sprint(r.Attempts) }},
	}
}

func sessionColumns() []column[admin.Session] {
	type x = admin.Session
	return []column[x]{
		{head: "server", value: func(r x) string { return fmt.Sprintf("%s/%d", r.Server, r.Index) }},
		{head: "state", value: func(r x) string {
			switch {
			case r.Open && r.Ready:
				return "open"
			case r.Open:
				return "not ready"
			}
			return "not open"
		}},
		{head: "since UTC", value: func(r x) string { return utc(r.Since) }},
		{head: "address", value: func(r x) string { return r.Address }},
		{head: "why", value: func(r x) string { return r.Reason }},
	}
}

// age writes how long ago something was, in the two largest units.
func age(now, then time.Time) string {
	if then.IsZero() {
		return ""
	}
	d := max(0, now.Sub(then)).Truncate(time.Second)
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%dd %dh", int(d.Hours())/24, int(d.Hours())%24)
	case d >= time.Hour:
		return fmt.Sprintf("%dh %dm", int(d.Hours()), int(d.Minutes())%60)
	case d >= time.Minute:
		return fmt.Sprintf("%dm %ds", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return d.String()
	}
}
