// What is called at the program's own operations on channels, and when a test begins or fails: yields and coverage.

package runtime

import (
	"internal/runtime/atomic"
)

// straitG is what a goroutine carries.
type straitG struct {
	id     uint64 // from the seed and the chain of its ancestors: the same whenever it is replayed
	drawn  uint32 // numbers taken from its stream
	slept  uint32 // yields that slept
	kids   uint32
	timers uint32 // selects in a row that took a timer
	kind   uint32 // of the object it may be waiting for
	doomed uint32 // it was leaked when a test failed
	leaked uint32 // it was leaked after the tests, whatever its own timers do
	test   uint32 // the name of the test that it belongs to
	locks  uint32 // how many of the entries below are used
	object uintptr
	held   [straitMostHeld]straitHeld
}

// straitHeld is a lock that a goroutine has taken.
type straitHeld struct {
	object uintptr
	place  uint32
	kind   uint32
}

// straitMostHeld is how many locks of a goroutine are remembered.
const straitMostHeld = 6

// straitC is what a channel carries. The fields are written without a lock: they are hints.
type straitC struct {
	made     uint32 // places
	last     uint32 // the id of the last operation
	sent     uint32
	received uint32
	closed   uint32
	sender   uint32 // goroutines
	receiver uint32
	closer   uint32
	// The last select with a case to send that took another one: its place and its goroutine. The same
	// for a case to receive.
	unsent     uint32
	unsender   uint32
	unreceived uint32
	unreceiver uint32
}

// Kinds of what a goroutine may wait for or hold.
const (
	straitMutex = iota + 1
	straitWriter
	straitReader
	straitWaitGroup
	straitCond
	straitOnce
)

// Kinds of operations on a channel, for coverage.
const (
	straitMake = iota + 1
	straitSendOp
	straitReceiveOp
	straitCloseOp
)

// straitBorn numbers a new goroutine.
func straitBorn(parent, child *g) {
	if straitOn == nil {
		return
	}
	child.strait = straitG{}
	if isSystemGoroutine(child, false) {
		return
	}
	parent.strait.kids++
	child.strait.id = straitMix(parent.strait.id ^ uint64(parent.strait.kids)<<32)
	child.strait.test = parent.strait.test
}

// straitMay: may a hook act in this goroutine now? Not on g0 or in a signal handler, not in goroutines
// of the runtime, and not while the runtime allocates, holds locks, must not be preempted or dies.
func straitMay(gp *g) bool {
	mp := gp.m
	return gp.strait.id != 0 && mp.curg == gp && mp.locks == 0 && mp.mallocing == 0 &&
		mp.preemptoff == "" && mp.throwing == throwTypeNone && mp.dying == 0
}

// straitKeeps: may a hook write something down about this goroutine? Unlike straitMay this holds while
// the program has pinned itself to a processor, as package sync does with locks of its own.
func straitKeeps(gp *g) bool {
	mp := gp.m
	return gp.strait.id != 0 && mp.curg == gp && mp.mallocing == 0 && mp.throwing == throwTypeNone && mp.dying == 0
}

// straitEnter is the beginning of every hook: the place of the operation, and whether the hook may act
// there. Operations of package runtime itself (the collector, timers, profilers) are left alone even
// in goroutines of the program: the runtime may hold semaphores that a yield would need.
func straitEnter(gp *g, pc uintptr) (uint32, bool) {
	if !straitMay(gp) {
		return 0, false
	}
	place := straitAt(pc)
	return place, atomic.Load(&straitOn.place[place].ready) == straitOfProgram
}

// straitAfterGo is the end of a go statement.
func straitAfterGo(pc uintptr) {
	if shared := straitOn; shared != nil && shared.rate|shared.slows != 0 {
		gp := getg()
		if place, may := straitEnter(gp, pc); may {
			straitYield(gp, place)
		}
	}
}

// straitDraw takes the next number of the goroutine's own stream.
func straitDraw(gp *g) uint64 {
	gp.strait.drawn++
	return straitMix(gp.strait.id + uint64(gp.strait.drawn)*0xd1342543de82ef95)
}

// straitRandn replaces the random order in which a select looks at its cases.
func straitRandn(n uint32) uint32 {
	gp := getg()
	if straitOn == nil || gp.strait.id == 0 {
		return cheaprandn(n)
	}
	return uint32(straitDraw(gp)>>32) % n
}

// straitNaps is how often a goroutine sleeps at most, about a second in all: a loop of thousands of
// operations would otherwise take so long that a slow test looks like one that never ends.
const straitNaps = 1000

// straitYield gives way now and then, as the seed says: at any operation, or at chosen places every
// time. Only hooks call it, after straitEnter.
func straitYield(gp *g, place uint32) {
	shared := straitOn
	if shared.slows != 0 && shared.place[place].slow != 0 {
		straitSlowDown(gp, &shared.place[place])
	}
	if shared.rate == 0 {
		return
	}
	number := straitDraw(gp)
	dice, kind := uint32(number), number>>10&7
	if shared.flags&straitSited != 0 {
		dice, kind = uint32(straitMix(shared.seed^shared.place[place].id)), 7
	}
	if dice&1023 >= shared.rate {
		return
	}
	shared.yields++
	switch {
	case kind < 3:
		Gosched()
	case kind < 5 || gp.strait.slept == straitNaps || straitInBubble(gp):
		for more := number >> 16 & 7; ; more-- {
			Gosched()
			if more == 0 {
				break
			}
		}
	default:
		gp.strait.slept++
		timeSleep(int64(number>>16%uint64(max(shared.nap, 1))+1) * 1000)
	}
}

// straitSlowDown pauses at a place that is to be slow, as often as it is asked for.
func straitSlowDown(gp *g, place *straitPlace) {
	slow := &straitOn.slow[(place.slow-1)%straitSlows]
	if atomic.Xadd(&place.naps, 1) <= slow.times && !straitInBubble(gp) {
		straitOn.yields++
		timeSleep(int64(slow.nap) * 1000)
	}
}

// straitPair counts two operations that follow each other on one channel (CountChOpPair).
func straitPair(c *hchan, place uint32, kind uint32) {
	shared := straitOn
	id := uint32(straitMix(shared.place[place].id^uint64(kind)) & 0xffff)
	previous := c.strait.last
	c.strait.last = id
	counter := &shared.pair[(previous>>1^id)&(straitPairs-1)]
	if *counter != 0xffff {
		*counter++
	}
}

// straitMade follows makechan.
func straitMade(c *hchan, pc uintptr) {
	shared := straitOn
	if shared == nil || shared.flags&straitRecord == 0 {
		return
	}
	place, may := straitEnter(getg(), pc)
	if !may {
		return
	}
	c.strait.made = place
	atomic.Xadd(&shared.place[place].made, 1)
	straitPair(c, place, straitMake)
}

func straitSent(c *hchan, place uint32) {
	c.strait.sent, c.strait.sender = place, uint32(getg().goid)
	straitPair(c, place, straitSendOp)
	if size := c.dataqsiz; size > 0 {
		full := uint32(min(c.qcount+1, size) * 1000 / size)
		if made := &straitOn.place[c.strait.made]; made.full < full {
			made.full = full
		}
	}
}

func straitGot(c *hchan, place uint32) {
	c.strait.received, c.strait.receiver = place, uint32(getg().goid)
	straitPair(c, place, straitReceiveOp)
}

// straitSend precedes a send statement, straitRecv a receive.
func straitSend(c *hchan, pc uintptr) {
	shared := straitOn
	if shared == nil {
		return
	}
	gp := getg()
	place, may := straitEnter(gp, pc)
	if !may {
		return
	}
	if c != nil && shared.flags&straitRecord != 0 {
		straitSent(c, place)
	}
	straitYield(gp, place)
}

func straitRecv(c *hchan, pc uintptr) {
	shared := straitOn
	if shared == nil {
		return
	}
	gp := getg()
	place, may := straitEnter(gp, pc)
	if !may {
		return
	}
	if c != nil && shared.flags&straitRecord != 0 {
		straitGot(c, place)
	}
	straitYield(gp, place)
}

// straitClose precedes close.
func straitClose(c *hchan, pc uintptr) {
	shared := straitOn
	if shared == nil {
		return
	}
	gp := getg()
	place, may := straitEnter(gp, pc)
	if !may {
		return
	}
	if c != nil && shared.flags&straitRecord != 0 {
		atomic.Xadd(&shared.place[c.strait.made].closed, 1)
		straitPair(c, place, straitCloseOp)
	}
	straitYield(gp, place)
}

// straitShut is called when a channel is about to be closed, with its lock held.
func straitShut(c *hchan, pc uintptr) {
	if shared := straitOn; shared != nil && shared.flags&straitRecord != 0 {
		c.strait.closed, c.strait.closer = straitAt(pc), uint32(getg().goid)
	}
}

// straitAtClosed is called when the program is about to panic because a channel is closed.
func straitAtClosed(c *hchan) {
	if shared := straitOn; shared != nil && shared.shutAt == 0 {
		shared.shutMade, shared.shutAt, shared.shutter = c.strait.made, c.strait.closed, c.strait.closer
	}
}

// StraitTest is called when a test or a subtest begins, in its goroutine. Goroutines that it starts
// belong to it.
func StraitTest(name string) {
	if straitOn != nil {
		getg().strait.test = straitText(name)
	}
}

// What straitFile.failed holds: how a test failed first.
const (
	straitAsserted = 1
	straitPanicked = 2
)

// straitTestPanic is how the functions are called that fail a test because it has panicked.
const straitTestPanic = "testing.tRunner"

// StraitFailed is called when package testing marks a test as failed; pc is the caller of Fail. A panic
// that ends a test fails it too, but then the panic came first. Goroutines that are leaked at this moment
// would be leaked whatever the test did next; whether others are blocked forever after a failure
// depends on what the failed test left out.
func StraitFailed(pc uintptr) {
	shared := straitOn
	if shared == nil || atomic.Load(&shared.failed) != 0 {
		return
	}
	how := uint32(straitAsserted)
	if f := findfunc(pc - 1); f.valid() {
		if straitBegins(funcname(f), straitTestPanic) {
			how = straitPanicked
		}
	}
	self := getg()
	for p := self._panic; p != nil; p = p.link {
		if !p.goexit && !p.recovered {
			how = straitPanicked
		}
	}
	if !atomic.Cas(&shared.failed, 0, how) {
		return
	}
	shared.failer = uint32(self.goid)
	if !straitMay(self) {
		return
	}
	if !straitCanJudge || atomic.Load(&shared.state) >= straitFinished {
		return
	}
	straitLeaks(2)
	stw := stopTheWorld(stwGoroutineProfile)
	for _, gp := range allgs {
		if straitStatus(gp) == straitLeaked {
			gp.strait.doomed = 1
		}
	}
	startTheWorld(stw)
}
