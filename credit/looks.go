package credit

// noteLook keeps what a look that did not settle the row proves about absence (design §7). first is the first look of an
// absence as the gate says; nil: none counts yet.
func (c *Credit) noteLook(look *LookEvidence, first *Mark) {
	started := look.Started
	switch {
	case look.Proven:
		c.AbsentAt = &started
	case first == nil || c.FirstAbsent == nil || *first != *c.FirstAbsent:
		c.AbsentAt = nil
	}
	c.FirstAbsent = first
	switch {
	case look.Complete:
		c.FirstDenied, c.DeniedAt = nil, nil
	case !look.Denied: // no answer says nothing about the login
	case c.FirstDenied == nil || c.FirstDenied.Process != started.Process:
		c.FirstDenied, c.DeniedAt = &started, &started
	default:
		c.DeniedAt = &started
	}
}

// forgetLooks drops what looks proved: it is about the state that they were made in.
func forgetLooks(c *Credit) {
	c.FirstAbsent, c.AbsentAt, c.FirstDenied, c.DeniedAt = nil, nil, nil, nil
}
