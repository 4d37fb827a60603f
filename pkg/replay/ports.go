package replay

// Names of the ports, as a [Call] has them.
const (
	PortStore     = "store"
	PortScheduler = "scheduler"
	PortBus       = "bus"
	PortQueue     = "queue"
	PortCopies    = "copies"
	PortParking   = "parking"
)

// Call is one call of a port, before or after its effect.
type Call struct {
	Port, Op string
	Writes   bool
	After    bool
}
