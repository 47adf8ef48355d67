package credit

import "strings"

// plain is outside text as it is kept: UTF-8, with U+FFFD for each stretch of bytes that is none. An engine stores
// JSON and refuses anything else, and a server's odd byte must not cost the outcome of a call or an event.
func plain(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// plainEvidence returns the evidence with plain texts, in a copy of its own.
func plainEvidence(e *Evidence) *Evidence {
	if e == nil {
		return nil
	}
	out := *e
	if e.Look != nil {
		look := *e.Look
		look.Reason, look.Control = plain(look.Reason), plain(look.Control)
		out.Look = &look
	}
	if e.Call != nil {
		call := *e.Call
		call.Code, call.Detail = plain(call.Code), plain(call.Detail)
		out.Call = &call
	}
	if e.Deal != nil {
		deal := *e.Deal
		deal.Comment = plain(deal.Comment)
		out.Deal = &deal
	}
	return &out
}

// plainTasks returns the tasks with plain texts, in copies of their own.
func plainTasks(tasks []Task) []Task {
	var out []Task
	for _, t := range tasks {
		t.Summary, t.Next = plain(t.Summary), plain(t.Next)
		records := make([]Record, len(t.Records))
		for i, r := range t.Records {
			records[i] = Record{Source: r.Source, Fields: make([]Field, len(r.Fields))}
			for j, f := range r.Fields {
				records[i].Fields[j] = Field{f.Name, plain(f.Value)}
			}
		}
		t.Records = records
		out = append(out, t)
	}
	return out
}

// plainEvent returns the event with plain texts: keys, facts and headers. The body is kept byte for byte.
func plainEvent(e Event) Event {
	e.MessageKey = plain(e.MessageKey)
	f := &e.Facts
	for _, s := range []*string{&f.Type, &f.Payment, &f.Movement, &f.Status, &f.Code, &f.Merchant, &f.Problem} {
		*s = plain(*s)
	}
	parts := make([]Part, len(f.Parts))
	for i, p := range f.Parts {
		parts[i] = Part{plain(p.ID), p.Amount}
	}
	if f.Parts != nil {
		f.Parts = parts
	}
	if e.Headers != nil {
		headers := make(map[string]string, len(e.Headers))
		for name, value := range e.Headers {
			headers[plain(name)] = plain(value)
		}
		e.Headers = headers
	}
	return e
}
