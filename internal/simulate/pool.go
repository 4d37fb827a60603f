package simulate

import "iter"

// coroutinePool holds idle coroutines. Reusing them saves their stacks, which would otherwise grow again with each
// piece of work.
type coroutinePool struct{ idle []*coroutine }

// coroutine does one piece of work after another.
type coroutine struct {
	work   func()
	resume func() (struct{}, bool)
	end    func()
	yield  func(struct{}) bool
}

// get returns a coroutine that begins the work when it is resumed.
func (c *coroutinePool) get(work func()) *coroutine {
	var co *coroutine
	if n := len(c.idle); n > 0 {
		co, c.idle = c.idle[n-1], c.idle[:n-1]
	} else {
		co = &coroutine{}
		co.resume, co.end = iter.Pull(func(yield func(struct{}) bool) {
			co.yield = yield
			for {
				co.work()
				if !yield(struct{}{}) {
					return
				}
			}
		})
	}
	co.work = work
	return co
}

// put takes back a coroutine whose work has ended.
func (c *coroutinePool) put(co *coroutine) {
	co.work = nil
	c.idle = append(c.idle, co)
}

// close ends all.
func (c *coroutinePool) close() {
	for _, co := range c.idle {
		co.end()
	}
	c.idle = nil
}
