package api

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// sendTagged writes what a GET of one record shows, under a strong ETag over its bytes, or 304 without a body where the
// caller still has it. The record is read either way: an ETag saves the way, not the question.
func sendTagged(c echo.Context, body []byte) error {
	sum := sha256.Sum256(body)
	tag := `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
	c.Response().Header().Set("ETag", tag)
	if hasTag(c.Request().Header.Values("If-None-Match"), tag) {
		return c.NoContent(http.StatusNotModified)
	}
	return send(c, http.StatusOK, body)
}

// hasTag compares weakly, as RFC 9110 §13.1.2 wants of If-None-Match. Our tags hold no comma.
func hasTag(headers []string, tag string) bool {
	for _, header := range headers {
		for one := range strings.SplitSeq(header, ",") {
			if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == tag {
				return true
			}
		}
	}
	return false
}
