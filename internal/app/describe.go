package app

import "creditonce/internal/api"

// APIDocument returns the OpenAPI 3.1 description of the portal's API, as the API serves it at /openapi.json.
func APIDocument() ([]byte, error) { return api.Document() }
