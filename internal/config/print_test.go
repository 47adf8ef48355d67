package config

import "fmt"

// printed is everything a configuration says, without its warnings (whose lines move) and without pointers' addresses.
func printed(c *Config) string {
	plain := *c
	plain.Warnings = nil
	tls := fmt.Sprint(c.Webhooks.TLS != nil, c.API.TLS != nil)
	plain.Webhooks.TLS, plain.API.TLS = nil, nil
	return fmt.Sprintf("%+v %s", plain, tls)
}
