package cli

import (
	"errors"
	"io"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"creditonce/internal/app"
	"creditonce/internal/config"
)

func serveCommand(p *Process) *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the service",
		Long: "serve takes the providers' webhooks, makes one balance operation at MT5 of each payment, and answers the\n" +
			"portal's API, until SIGINT or SIGTERM. It logs to stderr. A new store starts in mode observe: everything is\n" +
			"accepted, stored and looked up, and no balance operation is called.",
		Example: "  creditonce serve --config /etc/creditonce/config.yaml",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := loadConfig(p, chosen(p, path))
			if err != nil {
				return err
			}
			ctx, stop := untilParentEnds(cmd.Context(), p)
			defer stop()
			service, err := app.New(ctx, app.Options{Config: c, Log: logger(p.Stderr, c.Log)})
			if err != nil {
				return exitWith(startCode(err), err)
			}
			return service.Run(ctx)
		},
	}
	configFlag(cmd, &path)
	return cmd
}

// configFlag adds --config to a command.
func configFlag(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVar(path, "config", "", "configuration file (default: $"+config.PathVariable+", ./config.yaml, /etc/creditonce/config.yaml)")
}

// chosen is the path that was given, or the one that is found.
func chosen(p *Process, path string) string {
	if path == "" {
		return config.Find(p.Getenv)
	}
	return path
}

// startCode tells a configuration that contradicts the store, or what is known of an MT5 server, from everything else
// that may stop a start: a restart cannot help there.
func startCode(err error) int {
	var pin *app.PinError
	var learned *app.LearnedError
	if errors.As(err, &pin) || errors.As(err, &learned) || app.IsForeignWitness(err) {
		return ExitBadConfig
	}
	return ExitFailed
}

// logger makes the service's log. Times are UTC.
func logger(w io.Writer, c config.Log) zerolog.Logger {
	level, err := zerolog.ParseLevel(c.Level)
	if err != nil {
		level = zerolog.InfoLevel
	}
	if c.Format == "console" {
		w = zerolog.ConsoleWriter{Out: w, TimeFormat: "15:04:05.000 UTC", TimeLocation: time.UTC}
	}
	return zerolog.New(w).Level(level).Hook(zerolog.HookFunc(func(e *zerolog.Event, _ zerolog.Level, _ string) {
		e.Str("time", time.Now().UTC().Format("2006-01-02T15:04:05.000Z"))
	}))
}
