// The file that Strait shares with a test binary: wishes go in, what happened comes out.
//
// Strait makes the file and names it in STRAIT_MAP; the binary maps it before any package of the
// program is initialised. A crash loses nothing, because the kernel owns the pages. The layout is
// also written down in overlay/layout.rs of the crate; both sides check its version.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

const (
	straitMagic   = 0x4f47544941525453 // "STRAITGO"
	straitVersion = 5

	straitSlots   = 1 << 14 // sites: places in the program
	straitWishes  = 1 << 12 // select sites with wishes
	straitPicks   = 1 << 16 // wished cases, all sites together
	straitPairs   = 1 << 16 // pairs of operations on one channel
	straitSteps   = 1 << 14 // selects of the order
	straitHolders = 1 << 10 // locks and who holds them
	straitSlows   = 1 << 6  // places that are slow
	straitEdges   = 1 << 10 // locks that were asked for while others were held
	straitTexts   = 1 << 20 // bytes of names
	straitDumps   = 1 << 20 // bytes of goroutines
)

// straitHeader is the first page.
type straitHeader struct {
	magic   uint64
	version uint32
	owner   uint32 // 0 until a process takes the file; children of the test do not get it

	// What Strait wishes.
	seed     uint64
	window   int64  // nanoseconds to wait for a preferred case
	rate     uint32 // yields of 1024 operations
	flags    uint32
	settle   uint32 // real milliseconds that stragglers get after the tests
	limit    uint32 // real milliseconds until the run is ended
	interval uint32 // real milliseconds until the first look at a running test
	wishes   uint32 // entries of the table of wishes; 0: none
	nap      uint32 // microseconds that a yield sleeps at most
	slows    uint32 // entries of the table of slow places

	// What happened.
	state    uint32
	code     uint32 // exit code that the program gave
	texts    uint32 // bytes of names used
	dumps    uint32 // bytes of goroutines used
	steps    uint32 // selects seen, more than are kept if the order is long
	enforced uint32 // wishes that came true
	expired  uint32 // wishes whose window passed
	yields   uint32
	verdict  uint32
	looks    uint32 // how often goroutines were judged
	lost     uint32 // places that found no room
	// Selects in which a timeout was taken although another case could go on, and the first of them.
	overtaken uint32
	overtook  uint32
	failed    uint32 // has a test failed, and how?
	// The closed channel at which the program panicked: where it was made and closed, and by whom.
	shutMade uint32
	shutAt   uint32
	shutter  uint32
	failer   uint32 // the goroutine that failed a test first
	places   uint32 // places used; the first has the number 1
}

const (
	straitRecord   = 1 << 0 // write down order and coverage
	straitSanitize = 1 << 1 // judge goroutines
	straitSited    = 1 << 2 // yield at chosen places instead of chosen operations
)

// Kinds of places. Hooks act at places of the program only.
const (
	straitOfProgram = 1
	straitOfRuntime = 2
	straitOfRWMutex = 3 // the mutex inside of a RWMutex is no lock of the program
)

// What state a run is in.
const (
	straitMapped   = 1
	straitFinished = 2 // M.Run has returned
	straitJudged   = 3 // and the goroutines left were judged
	straitExited   = 4 // the program ended itself before that
	straitDied     = 5 // the runtime found all goroutines asleep
	straitOverdue  = 6 // ended by the time limit
	straitHopeless = 7 // ended because a test can never finish
)

// Bits of the verdict.
const (
	straitSawLeaks = 1 << 0
	straitSawStuck = 1 << 1 // R1: a goroutine waits for a lock while none can go on
	straitSawQuiet = 1 << 2 // no goroutine could go on
	straitSawTimer = 1 << 3 // pending timers
	straitCanLeak  = 1 << 4 // the collector's judgement is available
)

// straitPlace is a place in the program: what the program counter means.
type straitPlace struct {
	key   uint64 // program counter relative to the text, 0 if nothing is known
	id    uint64 // hash of file and line: the same in every build
	ready uint32 // what kind of place it is, 0 until that is known
	line  uint32
	file  uint32 // offsets of texts
	name  uint32
	// A place with wishes, the next of them.
	wish   uint32
	cursor uint32
	// Channels made here.
	made   uint32
	closed uint32
	full   uint32 // thousandths of the buffer at most
	cases  uint32 // of a select, its default included
	// A slow place, and how often it has been slow.
	slow uint32
	naps uint32
}

type straitWish struct {
	id    uint64
	first uint32
	count uint32
}

type straitStep struct {
	place  uint32
	cases  uint16
	chosen uint16
}

type straitHolder struct {
	lock      uint64
	goroutine uint64
	place     uint32
	kind      uint32
}

// straitSlow is a place at which goroutines pause, a few times.
type straitSlow struct {
	id    uint64
	nap   uint32 // microseconds
	times uint32
}

// straitEdge: a goroutine that holds one lock asks for another.
type straitEdge struct {
	from, to          uint64
	fromPlace, place  uint32
	goroutine         uint32
	fromKind, kind, _ uint8
	ready             uint8
}

// straitFile is the whole file.
type straitFile struct {
	straitHeader
	_      [4096 - unsafe.Sizeof(straitHeader{})]byte
	wish   [straitWishes]straitWish
	pick   [straitPicks]uint16
	place  [straitSlots]straitPlace
	pair   [straitPairs]uint16
	step   [straitSteps]straitStep
	holder [straitHolders]straitHolder
	slow   [straitSlows]straitSlow
	edge   [straitEdges]straitEdge
	text   [straitTexts]byte
	dump   [straitDumps]byte
}

// straitOn is nil unless Strait is watching: then every hook is a load and a branch.
var straitOn *straitFile

func init() {
	name := gogetenv("STRAIT_MAP")
	if name == "" {
		return
	}
	path := make([]byte, len(name)+1)
	copy(path, name)
	const readWrite, protection, shared = 2, 3, 1
	file := open(&path[0], readWrite, 0)
	if file < 0 {
		return
	}
	memory, failure := mmap(nil, unsafe.Sizeof(straitFile{}), protection, shared, file, 0)
	closefd(file)
	if failure != 0 {
		return
	}
	shared_ := (*straitFile)(memory)
	if shared_.magic != straitMagic || shared_.version != straitVersion || !atomic.Cas(&shared_.owner, 0, 1) {
		return
	}
	gp := getg()
	gp.strait = straitG{id: straitMix(shared_.seed)}
	atomic.Store(&shared_.state, straitMapped)
	if straitCanJudge {
		shared_.verdict = straitCanLeak
	}
	straitOn = shared_
	go straitChecker()
	systemstack(func() {
		newm(straitMonitor, nil, -1)
	})
}

// straitMix is the finaliser of splitmix64.
func straitMix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// straitNear and straitFar are hash tables: the number of a place in the upper half, the program counter
// relative to the text in the lower one. They are not in the file, where places follow each other as they
// are used: a process that ends after a millisecond touches few pages, and few are read. The second table
// is for programs with more places than the first one, a single page, has room for.
var (
	straitNear [straitNears]uint64
	straitFar  [2 * straitSlots]uint64
)

const straitNears = 1 << 9

// straitAt finds the number of a program counter that a call returns to; 0 if there is no room left.
func straitAt(pc uintptr) uint32 {
	key := uint64(pc - firstmoduledata.text)
	if key>>32 == 0 {
		const tries = 8
		hash := uint32(key * 0x9e3779b97f4a7c15 >> 40)
		number := uint32(0)
		for try := uint32(0); try < tries; try++ {
			if straitFind(&straitNear[(hash+try)&(straitNears-1)], pc, key, &number) {
				return number
			}
		}
		for try := uint32(0); try < 8*tries; try++ {
			if straitFind(&straitFar[(hash+try)&(2*straitSlots-1)], pc, key, &number) {
				return number
			}
		}
	}
	straitOn.lost++
	return 0
}

// straitFind looks at an entry of a table, and takes it if it is free. The number is that of the place if
// the answer is true; else it may be one that is not in use yet.
func straitFind(entry *uint64, pc uintptr, key uint64, number *uint32) bool {
	found := atomic.Load64(entry)
	if found == 0 {
		if *number == 0 && !straitNewPlace(pc, key, number) {
			return false
		}
		if atomic.Cas64(entry, 0, uint64(*number)<<32|key) {
			return true
		}
		found = atomic.Load64(entry)
	}
	if found&0xffffffff != key {
		return false
	}
	*number = uint32(found >> 32)
	return true
}

// straitNewPlace takes the next place of the file, if there is one.
func straitNewPlace(pc uintptr, key uint64, number *uint32) bool {
	shared := straitOn
	if atomic.Load(&shared.places) >= straitSlots-1 {
		return false
	}
	next := atomic.Xadd(&shared.places, 1)
	if next >= straitSlots {
		return false
	}
	*number = next
	straitName(&shared.place[next], pc, key)
	return true
}

// straitName fills a place before it can be found.
func straitName(place *straitPlace, pc uintptr, key uint64) {
	place.key = key
	f := findfunc(pc - 1)
	if !f.valid() {
		return
	}
	unwinder, frame := newInlineUnwinder(f, pc-1)
	function := unwinder.srcFunc(frame)
	file, line := unwinder.fileLine(frame)
	place.id = straitPlaceOf(function.name(), file, line)
	place.line = uint32(line)
	place.file = straitText(file)
	place.name = straitText(function.name())
	if straitOn.wishes > 0 {
		if place.wish = straitWished(place.id); place.wish == 0 {
			place.wish = straitWished(straitFold(straitBasis, file, line))
		}
	}
	for i := uint32(0); i < min(straitOn.slows, straitSlows); i++ {
		if id := straitOn.slow[i].id; id == place.id || id == straitFold(straitBasis, file, line) {
			place.slow = i + 1
		}
	}
	kind := uint32(straitOfProgram)
	if straitIsRuntime(function.name()) {
		kind = straitOfRuntime
	} else if straitBegins(function.name(), "sync.(*RWMutex).") {
		kind = straitOfRWMutex
	}
	atomic.Store(&place.ready, kind)
}

// straitIsRuntime: does a function belong to package runtime or to what is below it? Functions that it
// has on behalf of other packages, such as reflect.rselect, bear the names of those.
func straitIsRuntime(function string) bool {
	for _, prefix := range [...]string{"runtime.", "runtime/", "internal/runtime/"} {
		if straitBegins(function, prefix) {
			return true
		}
	}
	return false
}

func straitBegins(text, prefix string) bool {
	return len(text) >= len(prefix) && text[:len(prefix)] == prefix
}

const straitBasis = 0xcbf29ce484222325

// straitPlaceOf is the id of a place: its package, the name of its file and its line. So it is the
// same wherever the module lies.
func straitPlaceOf(function, file string, line int) uint64 {
	slash := 0
	for i := 0; i < len(function) && function[i] != '['; i++ {
		if function[i] == '/' {
			slash = i + 1
		}
	}
	end := slash
	for end < len(function) && function[end] != '.' {
		end++
	}
	begin := len(file)
	for begin > 0 && file[begin-1] != '/' {
		begin--
	}
	hash := straitFold(straitBasis, function[:end], '/')
	return straitFold(hash, file[begin:], line)
}

// straitFold is FNV-1a over a text and a number.
func straitFold(hash uint64, text string, number int) uint64 {
	for i := 0; i < len(text); i++ {
		hash = (hash ^ uint64(text[i])) * 0x100000001b3
	}
	return (hash ^ uint64(number)) * 0x100000001b3
}

// straitWished looks a place up among those that the order has wishes for: by its id, or by the whole
// path of its file, which is all that is known of a line that has not been seen yet.
func straitWished(id uint64) uint32 {
	for probe := uint32(0); probe < straitWishes; probe++ {
		at := (uint32(id) + probe) & (straitWishes - 1)
		wish := &straitOn.wish[at]
		if wish.count == 0 {
			return 0
		}
		if wish.id == id {
			return at + 1
		}
	}
	return 0
}

// straitText copies a text into the file and returns where it begins; it ends with a zero.
func straitText(text string) uint32 {
	shared := straitOn
	length := uint32(len(text))
	end := atomic.Xadd(&shared.texts, int32(length+1))
	if end > straitTexts {
		return 0
	}
	begin := end - length - 1
	copy(shared.text[begin:end-1], text)
	shared.text[end-1] = 0
	return begin + 1
}
