package store

import "bytes"

// places is a set of keys in buckets. An operation has about a dozen: so few are compared one by one, which needs no
// memory; more get a map.
type places struct {
	few []place
	all map[string]bool // nil while few holds them
}

type place struct {
	bucket string
	key    []byte
}

// fewPlaces is where a map begins to be faster.
const fewPlaces = 24

func (p place) text() string { return p.bucket + "\x00" + string(p.key) }

func (s *places) has(bucket string, k []byte) bool {
	if s.all != nil {
		return s.all[place{bucket, k}.text()]
	}
	for _, p := range s.few {
		if bytes.Equal(p.key, k) && p.bucket == bucket {
			return true
		}
	}
	return false
}

// add keeps the key, which must not change afterwards.
func (s *places) add(bucket string, k []byte) {
	at := place{bucket, k}
	switch {
	case s.all != nil:
		s.all[at.text()] = true
	case len(s.few) < fewPlaces:
		s.few = append(s.few, at)
	default:
		s.all = map[string]bool{at.text(): true}
		for _, p := range s.few {
			s.all[p.text()] = true
		}
		s.few = nil
	}
}
