package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// schema is the part of JSON Schema (draft 2020-12) that the document needs.
type schema struct {
	Ref         string     `json:"$ref,omitempty"`
	Description string     `json:"description,omitempty"`
	Type        typeNames  `json:"type,omitempty"`
	Format      string     `json:"format,omitempty"`
	Pattern     string     `json:"pattern,omitempty"`
	Enum        []string   `json:"enum,omitempty"`
	MinLength   int        `json:"minLength,omitempty"`
	MaxLength   int        `json:"maxLength,omitempty"`
	Minimum     *int       `json:"minimum,omitempty"`
	Maximum     *int       `json:"maximum,omitempty"`
	MaxItems    int        `json:"maxItems,omitempty"`
	Items       *schema    `json:"items,omitempty"`
	Properties  properties `json:"properties,omitempty"`
	Required    []string   `json:"required,omitempty"`
	Closed      *bool      `json:"additionalProperties,omitempty"`
	Not         *schema    `json:"not,omitempty"`
	AnyOf       []*schema  `json:"anyOf,omitempty"`
	Default     any        `json:"default,omitempty"`
	Examples    []any      `json:"examples,omitempty"`
}

// typeNames is the type of a value, or the types that it may have.
type typeNames []string

// MarshalJSON writes a single type as a text, as everybody does.
func (t typeNames) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

func isA(names ...string) typeNames { return names }

// property is a member of an object.
type property struct {
	name     string
	optional bool
	schema   *schema
}

// properties keep the order in which they were written: people read them.
type properties []property

// MarshalJSON writes an object in the order of the list.
func (p properties) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, member := range p {
		if i > 0 {
			out.WriteByte(',')
		}
		name, err := json.Marshal(member.name)
		if err != nil {
			return nil, fmt.Errorf("name of property %q: %w", member.name, err)
		}
		value, err := json.Marshal(member.schema)
		if err != nil {
			return nil, fmt.Errorf("property %q: %w", member.name, err)
		}
		out.Write(name)
		out.WriteByte(':')
		out.Write(value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

func must(name string, s *schema) property { return property{name: name, schema: s} }
func optional(name string, s *schema) property {
	return property{name: name, schema: s, optional: true}
}

// object makes the schema of an object. Its members may grow in answers, and clients must pass over what they do not
// know; see closed for requests.
func objectOf(description string, members ...property) *schema {
	s := &schema{Type: isA("object"), Description: description, Properties: members}
	for _, m := range members {
		if !m.optional {
			s.Required = append(s.Required, m.name)
		}
	}
	return s
}

// closed makes the schema of an object in a request: a field that is not listed is refused.
func closed(description string, members ...property) *schema {
	s := objectOf(description, members...)
	no := false
	s.Closed = &no
	return s
}

const componentsPath = "#/components/schemas/"

func ref(component string) *schema { return &schema{Ref: componentsPath + component} }

// refAs is a reference with a description of its own, which JSON Schema 2020-12 allows beside $ref.
func refAs(component, description string) *schema {
	s := ref(component)
	s.Description = description
	return s
}

// text is a string of the form.
func text(description, form, example string) *schema {
	return &schema{Type: isA("string"), Description: description, Pattern: form, Examples: []any{example}}
}

func timeText(description, example string) *schema {
	return &schema{Type: isA("string"), Format: "date-time", Description: description, Examples: []any{example}}
}

func wholeNumber(description string, low, high, example int) *schema {
	return &schema{Type: isA("integer"), Description: description, Minimum: &low, Maximum: &high, Examples: []any{example}}
}

func wordOf(description string, words ...string) *schema {
	return &schema{Type: isA("string"), Description: description, Enum: words}
}

// orNull lets a value be null.
func orNull(s *schema) *schema {
	if s.Ref != "" {
		return &schema{Description: s.Description, AnyOf: []*schema{ref(strings.TrimPrefix(s.Ref, componentsPath)), {Type: isA("null")}}}
	}
	s.Type = append(s.Type, "null")
	return s
}

func listOf(description string, items *schema) *schema {
	return &schema{Type: isA("array"), Description: description, Items: items}
}
