package recon

import (
	"encoding/binary"
	"iter"
	"strings"
)

// appendKey adds one part of a key, so that keys sort part by part whatever bytes the parts hold.
func appendKey(key []byte, part string) []byte {
	for {
		before, after, more := strings.Cut(part, "\x00")
		key = append(key, before...)
		if !more {
			return append(key, 0, 1)
		}
		key, part = append(key, 0, 0xff), after
	}
}

func appendKeyNumber(key []byte, v uint64) []byte { return binary.BigEndian.AppendUint64(key, v) }

// ahead decodes the sorted records in a goroutine of its own, some batches before they are asked for.
func ahead[T any](s *spool, decode func(*unpacker) T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		type batch struct {
			values []T
			err    error
		}
		batches, stop := make(chan batch, 2), make(chan struct{})
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			defer close(batches)
			send := func(b batch) bool {
				select {
				case batches <- b:
					return true
				case <-stop:
					return false
				}
			}
			values := make([]T, 0, batchSize)
			for r, err := range s.sorted() {
				if err == nil {
					u := unpacker{rest: string(r.value), words: s.words.words}
					values = append(values, decode(&u))
					err = u.err
				}
				if err != nil {
					send(batch{nil, err})
					return
				}
				if len(values) == batchSize {
					if !send(batch{values, nil}) {
						return
					}
					values = make([]T, 0, batchSize)
				}
			}
			send(batch{values, nil})
		}()
		defer func() { close(stop); <-ended }()
		for b := range batches {
			for _, v := range b.values {
				if !yield(v, nil) {
					return
				}
			}
			if b.err != nil {
				var none T
				yield(none, b.err)
				return
			}
		}
	}
}

// batchSize is how many values change goroutines at once.
const batchSize = 256
