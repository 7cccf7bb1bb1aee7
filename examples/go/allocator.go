package examples

// Allocator hands updates of nodes to a worker (figure 5 of the paper).
type Allocator struct {
	updates chan string
	seen    chan string
}

// NewAllocator starts the worker. Nobody ever closes stop: the worker waits in its select forever.
func NewAllocator() *Allocator {
	a := &Allocator{make(chan string, 1), make(chan string, 8)}
	stop := make(chan struct{})
	go a.work(stop)
	return a
}

func (a *Allocator) work(stop <-chan struct{}) {
	for {
		select {
		case node, ok := <-a.updates:
			if !ok {
				return
			}
			a.seen <- node
		case <-stop:
			return
		}
	}
}

// Update tells the worker about a node and waits until it has seen it.
func (a *Allocator) Update(node string) string {
	a.updates <- node
	return <-a.seen
}
