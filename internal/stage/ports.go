package stage

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// Loopback is the address of a port of this machine's loopback.
func Loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// Below the range from which systems draw the ports of outgoing connections (Linux: 32768, others: 49152), so that no
// connection of a stage itself can sit on a port while its process is down.
const lowestPort, highestPort = 20000, 32000

// Ports hands out free loopback ports, no port twice. Safe for concurrent use.
type Ports struct {
	mu    sync.Mutex
	rng   *rand.Rand
	given map[int]bool
}

// NewPorts draws ports from the seed.
func NewPorts(seed uint64) *Ports {
	return &Ports{rng: rand.New(rand.NewPCG(seed, 0x706f727473)), given: map[int]bool{}}
}

// Take fills in a free port for each pointer.
func (c *Ports) Take(into ...*int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range into {
		port, err := c.one()
		if err != nil {
			return err
		}
		*p = port
	}
	return nil
}

func (c *Ports) one() (int, error) {
	for range 1000 {
		port := lowestPort + c.rng.IntN(highestPort-lowestPort)
		if c.given[port] || !Free(port) {
			continue
		}
		c.given[port] = true
		return port, nil
	}
	return 0, errors.New("find free ports: 1000 loopback ports were taken")
}

// Free tells that nobody listens on a loopback port at this moment.
func Free(port int) bool {
	l, err := net.Listen("tcp", Loopback(port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}
