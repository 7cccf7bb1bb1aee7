// The doors from package sync into the hooks of the runtime.

package sync

import "unsafe"

// Kinds of objects, as in the runtime.
const (
	straitMutex = iota + 1
	straitWriter
	straitReader
	straitWaitGroup
	straitCond
	straitOnce
)

func straitBefore(object unsafe.Pointer, kind uint32, pc uintptr)
func straitAfter(object unsafe.Pointer, kind uint32, pc uintptr)
func straitReleased(object unsafe.Pointer, kind uint32)
func straitPause(pc uintptr)
