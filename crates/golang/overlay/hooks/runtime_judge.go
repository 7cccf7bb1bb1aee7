// Who is blocked forever: when goroutines are judged, and what is written down about them.
//
// The looks at a running test come from a thread of their own, which has no P and sleeps in the
// kernel: a timer or a goroutine of the program would keep the runtime from seeing that all goroutines
// sleep, and leak checks of the program's own would see it.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

var straitCheck struct {
	lock   mutex
	g      *g
	idle   atomic.Bool
	real   atomic.Uint32 // milliseconds since the start, whatever clock the program has
	reason atomic.Uint32
	// How many goroutines wait for a preferred case, and for how many real milliseconds any has.
	preferring atomic.Int32
	preferred  atomic.Uint32
	done       atomic.Uint32
}

const straitTick = 5 // milliseconds

// straitMonitor is the thread. It wakes the checker, which needs a P, as sysmon does with forced
// collections.
//
//go:nowritebarrierrec
func straitMonitor() {
	lock(&sched.lock)
	sched.nmsys++
	checkdead()
	unlock(&sched.lock)
	next := straitOn.interval
	for {
		usleep(straitTick * 1000)
		now := straitCheck.real.Load() + straitTick
		straitCheck.real.Store(now)
		if straitCheck.preferring.Load() > 0 {
			straitCheck.preferred.Add(straitTick)
		}
		if atomic.Load(&straitOn.state) >= straitFinished && now < straitOn.limit {
			continue
		}
		overdue := straitOn.limit > 0 && now >= straitOn.limit
		due := straitOn.interval > 0 && straitOn.flags&straitSanitize != 0 && now >= next
		if !overdue && !due {
			continue
		}
		if overdue {
			straitCheck.reason.Store(straitOverdue)
		}
		next = 2 * now
		lock(&straitCheck.lock)
		if straitCheck.idle.Load() {
			straitCheck.idle.Store(false)
			var list gList
			list.push(straitCheck.g)
			injectglist(&list)
		}
		unlock(&straitCheck.lock)
	}
}

// straitChecker is the goroutine; it begins with "runtime." and so is hidden from the program.
func straitChecker() {
	straitCheck.g = getg()
	for {
		lock(&straitCheck.lock)
		straitCheck.idle.Store(true)
		goparkunlock(&straitCheck.lock, waitReasonForceGCIdle, traceBlockSystemGoroutine, 1)
		if straitCheck.reason.Load() == straitOverdue {
			straitLeaks(2)
			straitDescribe()
			atomic.Store(&straitOn.state, straitOverdue)
			exit(98)
		}
		if atomic.Load(&straitOn.state) >= straitFinished {
			continue
		}
		straitLeaks(1)
		hopeless := false
		stw := stopTheWorld(stwGoroutineProfile)
		self := getg()
		systemstack(func() {
			hopeless = straitHopelessTest() || straitQuiet(self)
		})
		startTheWorld(stw)
		if hopeless && straitStill() {
			straitDescribe()
			atomic.Store(&straitOn.state, straitHopeless)
			exit(97)
		}
	}
}

// straitStill asks again a moment later, and again: a signal or a finalizer may wake a goroutine, and on a
// busy machine that takes its time.
func straitStill() (still bool) {
	for range 3 {
		systemstack(func() { usleep(40 * 1000) })
		straitLeaks(2)
		stw := stopTheWorld(stwGoroutineProfile)
		self := getg()
		systemstack(func() {
			still = straitHopelessTest() || straitQuiet(self)
		})
		startTheWorld(stw)
		if !still {
			break
		}
	}
	return still
}

// straitLeaks asks the collector. Twice, if it is to be thorough: what the first time is still held by
// something on its way out is found the second time.
func straitLeaks(times int) {
	atomic.Xadd(&straitOn.looks, 1)
	for range times {
		if straitCanJudge && straitOn.flags&straitSanitize != 0 {
			straitLeakGC()
		}
	}
}

// straitHopelessTest: is the goroutine of a test leaked? Then the test cannot finish.
func straitHopelessTest() bool {
	for _, gp := range allgs {
		if straitStatus(gp) == straitLeaked && straitCanJudge && straitRunsTest(gp) {
			return true
		}
	}
	return false
}

func straitRunsTest(gp *g) bool {
	var pcs [100]uintptr
	count := gcallers(gp, 0, pcs[:])
	for _, pc := range pcs[:count] {
		if f := findfunc(pc - 1); f.valid() && funcname(f) == "testing.tRunner" {
			return true
		}
	}
	return false
}

func straitStatus(gp *g) uint32 {
	return readgstatus(gp) &^ _Gscan
}

// straitQuiet: no goroutine can go on. The world is stopped; self is the goroutine that asks.
func straitQuiet(self *g) bool {
	for _, pp := range allp {
		if straitTimers(pp) {
			return false
		}
	}
	return !straitActive(self)
}

// straitActive: a goroutine runs, will run, sleeps, or waits for the world outside.
func straitActive(self *g) bool {
	if status := fingStatus.Load(); status&fingWake != 0 {
		return true // finalizers are about to run
	}
	for _, gp := range allgs {
		if gp == self || gp == sweep.g || gp == scavenger.g {
			continue
		}
		switch straitStatus(gp) {
		case _Grunnable, _Grunning, _Gsyscall, _Gcopystack, _Gpreempted:
			return true
		case _Gwaiting:
			if isSystemGoroutine(gp, false) {
				continue
			}
			switch gp.waitreason {
			case waitReasonChanReceiveNilChan, waitReasonChanSendNilChan, waitReasonSelect,
				waitReasonSelectNoCases, waitReasonChanReceive, waitReasonChanSend,
				waitReasonSyncCondWait, waitReasonSyncMutexLock, waitReasonSyncRWMutexRLock,
				waitReasonSyncRWMutexLock, waitReasonSyncWaitGroupWait, waitReasonSemacquire:
			default:
				return true
			}
		}
	}
	return false
}

// StraitFinish is called when M.Run is about to return.
func StraitFinish(code int) {
	shared := straitOn
	if shared == nil || shared.state >= straitFinished {
		return
	}
	shared.code = uint32(code)
	atomic.Store(&shared.state, straitFinished)
	shared.rate, shared.slows = 0, 0
	if shared.flags&straitSanitize == 0 {
		atomic.Store(&shared.state, straitJudged)
		return
	}
	straitSettle()
	if straitAlone() {
		// No goroutine is left to be judged, which is the usual case.
		atomic.Store(&shared.state, straitJudged)
		return
	}
	straitLeaks(2)
	straitOwnTimers()
	if straitStuckNow() {
		systemstack(func() { usleep(30 * 1000) })
		if straitStuckNow() {
			shared.verdict |= straitSawStuck
		}
	}
	straitDescribe()
	atomic.Store(&shared.state, straitJudged)
}

// straitExists: is it a goroutine of the program that has not ended?
func straitExists(gp *g) bool {
	switch straitStatus(gp) {
	case _Gidle, _Gdead:
		return false
	}
	return straitStatus(gp) != straitDeadExtra && !isSystemGoroutine(gp, false)
}

// straitAlone: no goroutine of the program is left besides the one that asks.
func straitAlone() bool {
	alone := true
	stw := stopTheWorld(stwGoroutineProfile)
	self := getg()
	systemstack(func() {
		for _, gp := range allgs {
			if gp != self && straitExists(gp) {
				alone = false
			}
		}
	})
	startTheWorld(stw)
	return alone
}

// straitSettle lets goroutines that are on their way out finish, or block.
func straitSettle() {
	shared := straitOn
	begin := straitCheck.real.Load()
	// Virtual time moves on when no goroutine can: ten seconds of it are soon over, but not an endless loop.
	// Goroutines that a hook has sent to sleep wake up before that.
	virtual := nanotime() + 10e9 + int64(shared.nap)*1000
	pause := int64(20 * 1000)
	for {
		active := false
		stw := stopTheWorld(stwGoroutineProfile)
		self := getg()
		systemstack(func() {
			active = !straitQuiet(self)
		})
		startTheWorld(stw)
		if !active || straitCheck.real.Load()-begin >= shared.settle || nanotime() > virtual {
			return
		}
		timeSleep(pause)
		pause = min(pause*2, 2e9)
		if faketime == 0 {
			pause = min(pause, 2*1000*1000)
		}
	}
}

// straitStuckNow is rule R1: a goroutine waits for a lock, and no goroutine can ever release it.
func straitStuckNow() (stuck bool) {
	stw := stopTheWorld(stwGoroutineProfile)
	self := getg()
	systemstack(func() {
		if !straitQuiet(self) {
			return
		}
		straitOn.verdict |= straitSawQuiet
		for _, gp := range allgs {
			status := straitStatus(gp)
			if gp == self || status != _Gwaiting && status != straitLeaked {
				continue
			}
			switch gp.waitreason {
			case waitReasonSyncMutexLock, waitReasonSyncRWMutexRLock, waitReasonSyncRWMutexLock:
				stuck = true
			}
		}
	})
	startTheWorld(stw)
	return stuck
}

// straitExiting is called when the program ends itself.
func straitExiting(code int) {
	if straitOn != nil && atomic.Load(&straitOn.state) < straitFinished {
		straitOn.code = uint32(code)
		atomic.Store(&straitOn.state, straitExited)
	}
}

// straitDead is called when the runtime has found that all goroutines are asleep.
func straitDead() {
	if straitOn != nil {
		straitWriteAll(nil)
		atomic.Store(&straitOn.state, straitDied)
	}
}

// straitDescribe writes down all goroutines.
func straitDescribe() {
	stw := stopTheWorld(stwGoroutineProfile)
	self := getg()
	systemstack(func() {
		straitWriteAll(self)
	})
	startTheWorld(stw)
}

// straitWriteAll writes one record a goroutine, as words of 32 bits:
//
//	length in words, goid, parent, status, wait reason, place of creation, flags,
//	kind and address (two words) of a lock, group or condition, the name of its test,
//	number of channels, for each: address (two words), direction, flags, length, capacity,
//	    places of make, last send, last receive, close; last sender, receiver, closer;
//	    place of the last select that could have helped and took another case, and its goroutine,
//	number of frames, a place for each from the top.
//
// It allocates nothing: the world may be broken.
func straitWriteAll(self *g) {
	shared := straitOn
	shared.dumps = 0
	for _, pp := range allp {
		if pp != nil && straitTimers(pp) {
			shared.verdict |= straitSawTimer
		}
	}
	for _, gp := range allgs {
		if gp == self || !straitExists(gp) {
			continue
		}
		status := straitStatus(gp)
		if straitCanJudge && status == straitLeaked {
			shared.verdict |= straitSawLeaks
		}
		straitWriteOne(gp, status)
	}
}

type straitWriter_ struct {
	at, limit uint32
}

func (w *straitWriter_) put(word uint32) {
	if w.at+4 <= w.limit {
		*(*uint32)(unsafe.Pointer(&straitOn.dump[w.at])) = word
		w.at += 4
	}
}

func straitWriteOne(gp *g, status uint32) {
	shared := straitOn
	w := straitWriter_{shared.dumps, straitDumps}
	if w.at+4096 > straitDumps {
		shared.lost++
		return
	}
	begin := w.at
	w.put(0)
	w.put(uint32(gp.goid))
	w.put(uint32(gp.parentGoid))
	leaked := straitCanJudge && status == straitLeaked
	if straitIgnoresTimers && gp.strait.leaked == 0 && !straitKeptByTimers(gp) {
		// A goroutine that its own timers wake may wake this one.
		leaked = false
	}
	code, reason := uint32(0), ""
	switch {
	case status == _Gwaiting || status == straitLeaked:
		code, reason = 1, gp.waitreason.String()
	case status == _Gsyscall:
		code = 2
	}
	if leaked {
		code = 3
	}
	w.put(code)
	w.put(straitText(reason))
	w.put(straitAt(gp.gopc))
	flags := uint32(0)
	if straitKeptByTimers(gp) {
		flags |= 1
	}
	if gp.strait.doomed != 0 {
		flags |= 2
	}
	w.put(flags)
	w.put(gp.strait.kind)
	w.put(uint32(gp.strait.object))
	w.put(uint32(uint64(gp.strait.object) >> 32))
	w.put(gp.strait.test)
	straitWriteChannels(gp, &w, code)
	var pcs [64]uintptr
	count := 0
	if status != _Grunning {
		count = gcallers(gp, 0, pcs[:])
	}
	w.put(uint32(count))
	for _, pc := range pcs[:count] {
		w.put(straitAt(pc))
	}
	*(*uint32)(unsafe.Pointer(&shared.dump[begin])) = (w.at - begin) / 4
	shared.dumps = w.at
}

func straitWriteChannels(gp *g, w *straitWriter_, code uint32) {
	count := w.at
	w.put(0)
	if code != 1 && code != 3 {
		return
	}
	switch gp.waitreason {
	case waitReasonSelect, waitReasonChanReceive, waitReasonChanSend:
	default:
		return
	}
	written := uint32(0)
	for sg := gp.waiting; sg != nil && written < 32; sg = sg.waitlink {
		c := straitSudogChan(sg)
		if c == nil {
			continue
		}
		written++
		w.put(uint32(uintptr(unsafe.Pointer(c))))
		w.put(uint32(uint64(uintptr(unsafe.Pointer(c))) >> 32))
		direction := straitDirection(sg, c)
		w.put(direction)
		flags := c.closed & 1
		if c.timer != nil {
			flags |= 2
		}
		w.put(flags)
		w.put(uint32(c.qcount))
		w.put(uint32(c.dataqsiz))
		at := &c.strait
		passed, passer := at.unsent, at.unsender
		if direction == straitSends {
			passed, passer = at.unreceived, at.unreceiver
		}
		for _, word := range [...]uint32{at.made, at.sent, at.received, at.closed, at.sender, at.receiver, at.closer, passed, passer} {
			w.put(word)
		}
	}
	*(*uint32)(unsafe.Pointer(&straitOn.dump[count])) = written
}

// Which way a goroutine waits at a channel.
const (
	straitSends    = 1
	straitReceives = 2
)

func straitDirection(sg *sudog, c *hchan) uint32 {
	for waiting := c.sendq.first; waiting != nil; waiting = waiting.next {
		if waiting == sg {
			return straitSends
		}
	}
	return straitReceives
}

// straitKeptByTimers is rule R2: a goroutine that only its own timers wake. It means something under
// virtual time alone, where everything else had its chance before the timer.
func straitKeptByTimers(gp *g) bool {
	return faketime != 0 && gp.strait.timers >= 3
}

// straitIgnoresTimers is set when rule R2 is asked for: after the tests, since a goroutine that has counted
// enough ticks ends, and may wake others.
var straitIgnoresTimers bool

// straitOwnTimer: is this a channel to be ignored when the collector asks who might wake gp?
func straitOwnTimer(gp *g, sg *sudog) bool {
	return straitIgnoresTimers && straitKeptByTimers(gp) && straitSudogChan(sg).timer != nil
}

// straitOwnTimers asks the collector once more, by rule R2, if that can make a difference. What was
// leaked without it is written down before.
func straitOwnTimers() {
	asks := false
	stw := stopTheWorld(stwGoroutineProfile)
	for _, gp := range allgs {
		if straitStatus(gp) == straitLeaked {
			gp.strait.leaked = 1
		} else if straitExists(gp) && straitKeptByTimers(gp) {
			asks = true
		}
	}
	straitIgnoresTimers = asks
	startTheWorld(stw)
	if asks {
		straitLeaks(1)
	}
}

// straitWake is the beginning of ready. A goroutine that was called leaked because only its own timers
// wake it is woken by them all the same. To the scheduler it has only been waiting.
func straitWake(gp *g) {
	for straitCanJudge && straitStatus(gp) == straitLeaked {
		gp.atomicstatus.CompareAndSwap(straitLeaked, _Gwaiting)
	}
}

// straitTimers: does a timer of this processor run that the program has started? The scavenger has one
// of its own, and those that were stopped stay in the heap for a while.
func straitTimers(pp *p) bool {
	for _, entry := range pp.timers.heap {
		if t := entry.timer; t != scavenger.timer && t.state&timerZombie == 0 {
			return true
		}
	}
	return false
}

// straitPlainOutput: by the virtual clock, what is written has no headers for the playground.
const straitPlainOutput = true
