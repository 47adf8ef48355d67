package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// received keeps what comes in a file of its own, which the caller removes.
func (r *reconciliation) received(body io.Reader) (*os.File, error) {
	if err := os.MkdirAll(r.runner.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("receive the file: %w", err)
	}
	file, err := os.CreateTemp(r.runner.Dir, "import-")
	if err != nil {
		return nil, fmt.Errorf("receive the file: %w", err)
	}
	err = r.receive(file, body)
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("receive the file: %w", err), file.Close(), os.Remove(file.Name()))
	}
	return file, nil
}

// pieceOfFile is how much of a file is received before the disk is looked at again.
const pieceOfFile = 1 << 20

// receive writes down what comes, as long as there is more room on the disk than payments need.
func (r *reconciliation) receive(file io.Writer, body io.Reader) error {
	for {
		if err := r.app.store.RoomOnDisk(pieceOfFile); err != nil {
			return err
		}
		switch _, err := io.CopyN(file, body, pieceOfFile); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// dropLeft drops what a killed process left half-stored, beside the service's work: it takes the room of payments.
func (r *reconciliation) dropLeft(ctx context.Context) {
	n, err := r.app.store.DropLeft(ctx)
	if n > 0 {
		r.app.log.Warn().Int("dropped", n).Msg("dropped imports and runs that a killed process left unfinished")
	}
	if err != nil && ctx.Err() == nil {
		r.app.log.Error().Err(err).Msg("what a killed process left unfinished could not be dropped; it is tried again at the next start")
	}
}
