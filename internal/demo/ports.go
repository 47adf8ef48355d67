package demo

import (
	"fmt"

	"creditonce/internal/stage"
)

// ports are the six loopback ports of one show. They are fixed before anything starts, because a process that is
// started again must come back where the others look for it.
type ports struct {
	Webhooks   int `json:"webhooks"`
	API        int `json:"api"`
	MT5        int `json:"mt5"`
	MT5Control int `json:"mt5_control"`
	PSPControl int `json:"provider_control"`
	PSPAPI     int `json:"provider_api"`
}

func (p ports) webhooks() string   { return stage.Loopback(p.Webhooks) }
func (p ports) api() string        { return stage.Loopback(p.API) }
func (p ports) mt5() string        { return stage.Loopback(p.MT5) }
func (p ports) mt5Control() string { return stage.Loopback(p.MT5Control) }
func (p ports) pspControl() string { return stage.Loopback(p.PSPControl) }
func (p ports) pspAPI() string     { return stage.Loopback(p.PSPAPI) }

func choosePorts(from *stage.Ports) (ports, error) {
	var p ports
	err := from.Take(&p.Webhooks, &p.API, &p.MT5, &p.MT5Control, &p.PSPControl, &p.PSPAPI)
	return p, err
}

// taken names a port of p on which somebody listens already, or nothing.
func (p ports) taken() error {
	for _, port := range []int{p.Webhooks, p.API, p.MT5, p.MT5Control, p.PSPControl, p.PSPAPI} {
		if !stage.Free(port) {
			return fmt.Errorf("port %d is taken; is this demo, or its serve, still running?", port)
		}
	}
	return nil
}
