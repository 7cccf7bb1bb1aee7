// What is called at selects: which case is taken, and the order that is enforced.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

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
