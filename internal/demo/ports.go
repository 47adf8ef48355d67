package demo

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// ports are the five loopback ports of one show. They are fixed before anything starts, because a process that is
// started again must come back where the others look for it.
type ports struct {
	Webhooks   int `json:"webhooks"`
	API        int `json:"api"`
	MT5        int `json:"mt5"`
	MT5Control int `json:"mt5_control"`
	PSPControl int `json:"provider_control"`
}

func (p ports) webhooks() string   { return loopback(p.Webhooks) }
func (p ports) api() string        { return loopback(p.API) }
func (p ports) mt5() string        { return loopback(p.MT5) }
func (p ports) mt5Control() string { return loopback(p.MT5Control) }
func (p ports) pspControl() string { return loopback(p.PSPControl) }

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// Below the range from which systems draw the ports of outgoing connections (Linux: 32768, others: 49152), so that no
// connection of the demo itself can sit on a port while its process is down.
const lowestPort, highestPort = 20000, 32000

// portChooser hands out free ports, no port twice. Safe for concurrent use.
type portChooser struct {
	mu    sync.Mutex
	rng   *rand.Rand
	given map[int]bool
}

func newPortChooser(seed uint64) *portChooser {
	return &portChooser{rng: rand.New(rand.NewPCG(seed, 0x706f727473)), given: map[int]bool{}}
}

func (c *portChooser) choose() (ports, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var p ports
	for _, into := range []*int{&p.Webhooks, &p.API, &p.MT5, &p.MT5Control, &p.PSPControl} {
		port, err := c.one()
		if err != nil {
			return ports{}, err
		}
		*into = port
	}
	return p, nil
}

func (c *portChooser) one() (int, error) {
	for range 1000 {
		port := lowestPort + c.rng.IntN(highestPort-lowestPort)
		if c.given[port] || !free(port) {
			continue
		}
		c.given[port] = true
		return port, nil
	}
	return 0, errors.New("find free ports: 1000 loopback ports were taken")
}

func free(port int) bool {
	l, err := net.Listen("tcp", loopback(port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// taken names a port of p on which somebody listens already, or nothing.
func (p ports) taken() error {
	for _, port := range []int{p.Webhooks, p.API, p.MT5, p.MT5Control, p.PSPControl} {
		if !free(port) {
			return fmt.Errorf("port %d is taken; is this demo, or its serve, still running?", port)
		}
	}
	return nil
}
