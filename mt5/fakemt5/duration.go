package fakemt5

import (
	"encoding/json"
	"fmt"
	"time"
)

// Duration is a time.Duration that JSON writes as text, such as "1.5s".
type Duration time.Duration

// MarshalJSON writes the duration as time.Duration prints it.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// UnmarshalJSON reads text such as "250ms"; numbers are refused because their unit
// would be a guess.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return fmt.Errorf("duration %s: want text such as \"1.5s\"", b)
	}
	parsed, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("duration %q: want text such as \"1.5s\"", text)
	}
	*d = Duration(parsed)
	return nil
}

func (d Duration) std() time.Duration { return time.Duration(d) }
