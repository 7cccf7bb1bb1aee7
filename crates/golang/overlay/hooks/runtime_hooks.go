// What is called at the program's own operations: yields, orders and their enforcement, coverage.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
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

// straitNote writes a select into the order.
func straitNote(place uint32, cases, chosen int) {
	shared := straitOn
	at := atomic.Xadd(&shared.steps, 1) - 1
	if at < straitSteps {
		shared.step[at] = straitStep{place, uint16(cases), uint16(chosen)}
	}
	shared.place[place].cases = uint32(cases)
}

// straitRounds is how often an array of wishes is gone through.
const straitRounds = 8

// straitWanted is FetchOrder of the paper: the case that the order wishes for at this place, or -1.
// Each place has an array of its own and starts over when it is used up.
func straitWanted(place uint32) int {
	at := &straitOn.place[place]
	if at.wish == 0 {
		return -1
	}
	wish := &straitOn.wish[at.wish-1]
	next := atomic.Xadd(&at.cursor, 1) - 1
	// A loop that is always sent the same way may never end, which no real select does.
	if next >= straitRounds*wish.count+straitRounds {
		return -1
	}
	pick := straitOn.pick[(wish.first+next%wish.count)&(straitPicks-1)]
	if pick == 0xffff {
		return -1
	}
	return int(pick)
}

// selectgo stands for the original, which is straitSelectgo now.
func selectgo(cas0 *scase, order0 *uint16, pc0 *uintptr, nsends, nrecvs int, block bool) (int, bool) {
	if straitOn == nil || straitOn.flags&straitRecord == 0 {
		return straitSelectgo(cas0, order0, pc0, nsends, nrecvs, block)
	}
	return straitSelect(cas0, order0, pc0, nsends, nrecvs, block, sys.GetCallerPC())
}

func straitSelect(cas0 *scase, order0 *uint16, pc0 *uintptr, nsends, nrecvs int, block bool, pc uintptr) (int, bool) {
	gp := getg()
	place, may := straitEnter(gp, pc)
	if !may {
		return straitSelectgo(cas0, order0, pc0, nsends, nrecvs, block)
	}
	cases := nsends + nrecvs
	all := (*[1 << 16]scase)(unsafe.Pointer(cas0))[:cases:cases]
	straitYield(gp, place)
	chosen, received, done, overtook := -1, false, false, false
	if wanted := straitWanted(place); wanted >= 0 && wanted < cases && all[wanted].c != nil {
		received, done, overtook = straitPrefer(all, nsends, wanted)
		if done {
			chosen = wanted
		}
	}
	if !done {
		chosen, received = straitSelectgo(cas0, order0, pc0, nsends, nrecvs, block)
	}
	if !block {
		cases++
	}
	straitNote(place, cases, chosen)
	if chosen < 0 {
		gp.strait.timers = 0
		return chosen, received
	}
	for i := range all {
		c := all[i].c
		switch {
		case i == chosen || c == nil:
		case i < nsends:
			c.strait.unsent, c.strait.unsender = place, uint32(gp.goid)
		default:
			c.strait.unreceived, c.strait.unreceiver = place, uint32(gp.goid)
		}
	}
	c := all[chosen].c
	if c.timer != nil && !done {
		gp.strait.timers++
	} else {
		gp.strait.timers = 0
	}
	if overtook || c.timer != nil && (straitReady(all, nsends, chosen) || straitCheck.preferring.Load() > 0) {
		if atomic.Xadd(&straitOn.overtaken, 1) == 1 {
			straitOn.overtook = place
		}
	}
	if chosen < nsends {
		straitSent(c, place)
	} else {
		straitGot(c, place)
	}
	return chosen, received
}

// straitOvertaking is how long a preferred case has to be waited for, in nanoseconds, to count as a
// timeout that overtakes another case. Yields sleep for less.
const straitOvertaking = 10 * 1000 * 1000

// straitMostPreferred is how many real milliseconds of a run go to waiting for preferred cases at most,
// and no more than half of its limit: a test in which a preference is in vain again and again must not
// look like one that does not end.
const straitMostPreferred = 5000

func straitMayPrefer() bool {
	return straitOn.window > 0 && straitCheck.preferred.Load() < min(straitMostPreferred, straitOn.limit/2)
}

// straitReady: could another case than this one go on at once? Timers do not count. Nothing is locked:
// the answer is a hint.
func straitReady(all []scase, nsends, except int) bool {
	for i := range all {
		c := all[i].c
		if i == except || c == nil || c.timer != nil {
			continue
		}
		if c.closed != 0 {
			return true
		}
		if i < nsends {
			if c.recvq.first != nil || c.qcount < c.dataqsiz {
				return true
			}
		} else if c.sendq.first != nil || c.qcount > 0 {
			return true
		}
	}
	return false
}

// straitPrefer waits for one case and no longer than the window: a select of that case and a timer,
// as in figure 3 of the paper. The original select follows when it returns false. If another case could
// have gone on meanwhile, the preferred one overtook it.
func straitPrefer(all []scase, nsends, wanted int) (received, done, overtook bool) {
	shared := straitOn
	var cases [2]scase
	var order [4]uint16
	cases[0] = all[wanted]
	sends := 0
	if wanted < nsends {
		sends = 1
	}
	chosen, received := straitSelectgo(&cases[0], &order[0], nil, sends, 1-sends, false)
	if chosen < 0 && !straitInBubble(getg()) && straitMayPrefer() {
		straitCheck.preferring.Add(1)
		begin := nanotime()
		heldUp := false // another goroutine waited for its preferred case, and could not come here
		// Waits get longer, so that another case that is ready for a while is seen.
		for wait := int64(straitOvertaking); chosen != 0; wait *= 2 {
			left := begin + shared.window - nanotime()
			if left <= 0 {
				break
			}
			overtook = overtook || straitReady(all, nsends, wanted)
			heldUp = heldUp || straitCheck.preferring.Load() > 1
			alarm := make(chan struct{}, 1)
			t := new(timer)
			t.init(straitRing, alarm)
			t.modify(nanotime()+min(wait, left), 0, nil, nil, 0)
			cases[0] = all[wanted]
			cases[1] = scase{c: *(**hchan)(unsafe.Pointer(&alarm))}
			chosen, received = straitSelectgo(&cases[0], &order[0], nil, sends, 2-sends, true)
			t.stop()
			overtook = overtook || straitReady(all, nsends, wanted)
		}
		straitCheck.preferring.Add(-1)
		// The end of a context is a channel that was closed.
		overtook = overtook || heldUp && (all[wanted].c.timer != nil || sends == 0 && !received)
		overtook = overtook && nanotime()-begin >= straitOvertaking
	}
	if chosen != 0 {
		atomic.Xadd(&shared.expired, 1)
		return false, false, false
	}
	atomic.Xadd(&shared.enforced, 1)
	return received, true, overtook
}

func straitRing(arg any, _ uintptr, _ int64) {
	select {
	case arg.(chan struct{}) <- struct{}{}:
	default:
	}
}

// straitTry precedes a select of one case and a default. If the order wishes for the case, it gets
// its window; the default is never forced, because that could contradict what has happened before.
func straitTry(gp *g, place uint32, c *hchan, elem unsafe.Pointer, send bool) (received, done bool) {
	straitYield(gp, place)
	if c != nil && straitWanted(place) == 0 {
		only := [1]scase{{c: c, elem: elem}}
		sends := 0
		if send {
			sends = 1
		}
		received, done, _ = straitPrefer(only[:], sends, 0)
	}
	return received, done
}

// straitTried follows it.
func straitTried(place uint32, c *hchan, send, selected bool) {
	if !selected {
		straitNote(place, 2, 0xffff)
		return
	}
	straitNote(place, 2, 0)
	if send {
		straitSent(c, place)
	} else {
		straitGot(c, place)
	}
}

func selectnbsend(c *hchan, elem unsafe.Pointer) (selected bool) {
	pc := sys.GetCallerPC()
	if straitOn == nil || straitOn.flags&straitRecord == 0 {
		return chansend(c, elem, false, pc)
	}
	gp := getg()
	place, may := straitEnter(gp, pc)
	if !may {
		return chansend(c, elem, false, pc)
	}
	if _, selected = straitTry(gp, place, c, elem, true); !selected {
		selected = chansend(c, elem, false, pc)
	}
	straitTried(place, c, true, selected)
	return selected
}

func selectnbrecv(elem unsafe.Pointer, c *hchan) (selected, received bool) {
	if straitOn == nil || straitOn.flags&straitRecord == 0 {
		return chanrecv(c, elem, false)
	}
	gp := getg()
	place, may := straitEnter(gp, sys.GetCallerPC())
	if !may {
		return chanrecv(c, elem, false)
	}
	if received, selected = straitTry(gp, place, c, elem, false); !selected {
		selected, received = chanrecv(c, elem, false)
	}
	straitTried(place, c, false, selected)
	return selected, received
}

// straitBefore precedes an operation of package sync that may block, straitAfter follows it.
//
//go:linkname straitBefore sync.straitBefore
func straitBefore(object unsafe.Pointer, kind uint32, pc uintptr) {
	shared := straitOn
	if shared == nil {
		return
	}
	gp := getg()
	if !straitKeeps(gp) {
		return
	}
	place := straitAt(pc)
	switch atomic.Load(&shared.place[place].ready) {
	case straitOfRWMutex:
		return
	case straitOfProgram:
		if straitMay(gp) {
			straitYield(gp, place)
		}
	}
	gp.strait.object, gp.strait.kind = uintptr(object), kind
	if kind <= straitReader && shared.flags&straitRecord != 0 {
		for i := uint32(0); i < gp.strait.locks; i++ {
			straitOrder(gp, &gp.strait.held[i], uintptr(object), kind, place)
		}
	}
}

//go:linkname straitAfter sync.straitAfter
func straitAfter(object unsafe.Pointer, kind uint32, pc uintptr) {
	shared := straitOn
	if shared == nil {
		return
	}
	gp := getg()
	if !straitKeeps(gp) {
		return
	}
	place := uint32(0)
	if pc != 0 {
		place = straitAt(pc)
		if atomic.Load(&shared.place[place].ready) == straitOfRWMutex {
			return
		}
	}
	gp.strait.object, gp.strait.kind = 0, 0
	if kind > straitReader || shared.flags&straitRecord == 0 {
		return
	}
	if gp.strait.locks < straitMostHeld {
		gp.strait.held[gp.strait.locks] = straitHeld{uintptr(object), place, kind}
		gp.strait.locks++
	}
	for probe := uint32(0); probe < straitProbes; probe++ {
		at := &shared.holder[(straitHolderOf(uintptr(object))+probe)&(straitHolders-1)]
		if atomic.Cas64(&at.lock, 0, uint64(uintptr(object))) {
			at.goroutine, at.kind, at.place = gp.goid, kind, place
			return
		}
	}
}

// straitProbes is how many slots a lock may be found in: a read lock has several holders.
const straitProbes = 8

func straitHolderOf(object uintptr) uint32 {
	return uint32(uint64(object)*0x9e3779b97f4a7c15>>40) & (straitHolders - 1)
}

// straitReleased follows an unlock. Another goroutine than the one that locked may unlock.
//
//go:linkname straitReleased sync.straitReleased
func straitReleased(object unsafe.Pointer, kind uint32) {
	shared := straitOn
	if shared == nil {
		return
	}
	gp := getg()
	if !straitKeeps(gp) {
		return
	}
	for i := gp.strait.locks; i > 0; i-- {
		if one := &gp.strait.held[i-1]; one.object == uintptr(object) && one.kind == kind {
			copy(gp.strait.held[i-1:], gp.strait.held[i:gp.strait.locks])
			gp.strait.locks--
			break
		}
	}
	var found *straitHolder
	for probe := uint32(0); probe < straitProbes; probe++ {
		at := &shared.holder[(straitHolderOf(uintptr(object))+probe)&(straitHolders-1)]
		if at.lock != uint64(uintptr(object)) || at.kind != kind {
			continue
		}
		if found = at; at.goroutine == gp.goid {
			break
		}
	}
	if found != nil {
		found.kind = 0
		atomic.Store64(&found.lock, 0)
	}
}

// straitOrder writes down that a goroutine that holds one lock asks for another.
func straitOrder(gp *g, held *straitHeld, object uintptr, kind, place uint32) {
	// A read lock that is taken twice blocks if a writer comes in between.
	if held.object == object && (held.kind != straitReader || kind != straitReader) {
		return
	}
	from, to := uint64(held.object), uint64(object)
	hash := uint32(straitMix(from^straitMix(to^uint64(place)<<32^gp.goid)) & (straitEdges - 1))
	for probe := uint32(0); probe < straitProbes; probe++ {
		at := &straitOn.edge[(hash+probe)&(straitEdges-1)]
		if at.from == from && at.to == to && at.place == place && at.goroutine == uint32(gp.goid) {
			return
		}
		if atomic.Cas64(&at.from, 0, from) {
			at.to, at.fromPlace, at.place, at.goroutine = to, held.place, place, uint32(gp.goid)
			at.fromKind, at.kind, at.ready = uint8(held.kind), uint8(kind), 1
			return
		}
	}
}

// straitPause is a place of package sync that does not block but where others may come first.
//
//go:linkname straitPause sync.straitPause
func straitPause(pc uintptr) {
	if shared := straitOn; shared != nil && shared.rate|shared.slows != 0 {
		gp := getg()
		if place, may := straitEnter(gp, pc); may {
			straitYield(gp, place)
		}
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
