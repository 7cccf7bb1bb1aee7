// What is called at the operations of package sync: who holds which lock, and in which order locks are taken.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

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
