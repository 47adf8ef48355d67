package fakemt5

import "strings"

// userLogins lists the accounts of the groups that a comma list of masks names: "*" stands for any text and "!" excludes (MetaQuotes' Web API
// pages, Users, Get List; the raw form is USER_LOGINS of mt5-webapi.md §3). It is one answer, however many there are. What lies beyond the
// manager's reach is not in it.
func (s *Server) userLogins(req *request) reply {
	masks := req.list("group")
	if masks == nil {
		return codeReply(retParams)
	}
	wire := s.wire()
	if wire.MaskEscape == "strict" {
		for i, mask := range masks {
			masks[i] = unescaped(mask)
		}
	}
	logins := []any{}
	for _, v := range s.book.list() {
		if matchMasks(masks, v.Group) && req.session.manager.reaches(v.Group) {
			logins = append(logins, integer(v.Login))
		}
	}
	if len(logins) == 0 {
		return emptyReply(wire.EmptyLogins, logins)
	}
	return answerReply(logins)
}

// unescaped takes one backslash off each pair, and off every other character.
func unescaped(text string) string {
	var out strings.Builder
	taken := false
	for _, c := range text {
		if c == '\\' && !taken {
			taken = true
			continue
		}
		taken = false
		out.WriteRune(c)
	}
	return out.String()
}
