// What is changed in which file. This table is all that depends on the sources of Go.

package main

// changes lists them. The order within a file does not matter.
func changes() []change {
	const pc = "sys.GetCallerPC()"
	const closedTwice = `panic(plainError("close of closed channel"))`
	const sentToClosed = `panic(plainError("send on closed channel"))`
	return []change{
		{"runtime/chan.go", []edit{
			field{"hchan", "strait straitC"},
			beforeReturn{"makechan", "straitMade(c, " + pc + ")"},
			entry{"chansend1", "straitSend(c, " + pc + ")"},
			entry{"chanrecv1", "straitRecv(c, " + pc + ")"},
			entry{"chanrecv2", "straitRecv(c, " + pc + ")"},
			entry{"closechan", "straitClose(c, " + pc + ")"},
			beforeStatement{"closechan", "c.closed = 1", "straitShut(c, " + pc + ")"},
			beforeStatement{"closechan", closedTwice, "straitAtClosed(c)"},
			beforeStatement{"chansend", sentToClosed, "straitAtClosed(c)"},
			rename{"selectnbsend", "straitSelectnbsend"},
			rename{"selectnbrecv", "straitSelectnbrecv"},
			needs{"internal/runtime/sys"},
		}},
		{"runtime/select.go", []edit{
			rename{"selectgo", "straitSelectgo"},
			substitute{"selectgo", "cheaprandn", "straitRandn"},
			beforeStatement{"selectgo", sentToClosed, "straitAtClosed(c)"},
		}},
		{"runtime/runtime2.go", []edit{
			field{"g", "strait straitG"},
		}},
		{"runtime/proc.go", []edit{
			entry{"ready", "straitWake(gp)"},
			beforeReturn{"newproc1", "straitBorn(callergp, newg)"},
			exit{"newproc", "straitAfterGo(" + pc + ")"},
			beforeCall{"checkdead", "fatal", "straitDead()"},
			entry{"os_beforeExit", "straitExiting(exitCode)"},
		}},
		{"runtime/mgc.go", []edit{
			ifPresent{"(*g).isMaybeRunnable", condition{
				"(*g).isMaybeRunnable", "isMarkedOrNotInHeap(unsafe.Pointer(sg.c.get()))", "!straitOwnTimer(gp, sg)",
			}},
			// What is sent may lie in the closure that also holds the channel: then the channel would
			// look reachable from the very goroutine that waits for it.
			ifPresent{"setSyncObjectsUntraceable", beforeStatement{
				"setSyncObjectsUntraceable", "sg.c.setUntraceable()", "sg.elem.setUntraceable()",
			}},
		}},
		{"runtime/time_fake.go", []edit{
			entry{"write", "if straitPlainOutput { return write1(fd, p, n) }"},
		}},
		{"sync/mutex.go", append(lock("(*Mutex).Lock", "m", "straitMutex"),
			exit{"(*Mutex).Unlock", "straitReleased(unsafe.Pointer(m), straitMutex)"},
			needs{"internal/runtime/sys"}, needs{"unsafe"},
		)},
		{"sync/rwmutex.go", append(append(lock("(*RWMutex).Lock", "rw", "straitWriter"),
			lock("(*RWMutex).RLock", "rw", "straitReader")...),
			exit{"(*RWMutex).Unlock", "straitReleased(unsafe.Pointer(rw), straitWriter)"},
			exit{"(*RWMutex).RUnlock", "straitReleased(unsafe.Pointer(rw), straitReader)"},
			needs{"internal/runtime/sys"},
		)},
		{"sync/waitgroup.go", []edit{
			entry{"(*WaitGroup).Wait", "straitBefore(unsafe.Pointer(wg), straitWaitGroup, " + pc + "); defer straitAfter(unsafe.Pointer(wg), straitWaitGroup, 0)"},
			entry{"(*WaitGroup).Add", "straitPause(" + pc + ")"},
			needs{"internal/runtime/sys"},
		}},
		{"sync/cond.go", []edit{
			entry{"(*Cond).Wait", "straitBefore(unsafe.Pointer(c), straitCond, " + pc + ")"},
			needs{"internal/runtime/sys"},
			exit{"(*Cond).Wait", "straitAfter(unsafe.Pointer(c), straitCond, 0)"},
			entry{"(*Cond).Signal", "straitPause(" + pc + ")"},
			entry{"(*Cond).Broadcast", "straitPause(" + pc + ")"},
		}},
		{"sync/once.go", []edit{
			entry{"(*Once).doSlow", "straitPause(" + pc + ")"},
			needs{"internal/runtime/sys"},
		}},
		{"testing/testing.go", []edit{
			rename{"(*M).Run", "straitRun"},
			entry{"tRunner", "runtime.StraitTest(t.name)"},
			entry{"(*common).Fail", "runtime.StraitFailed(" + pc + ")"},
			needs{"internal/runtime/sys"}, needs{"runtime"},
		}},
	}
}

func lock(function, receiver, kind string) []edit {
	object := "unsafe.Pointer(" + receiver + "), " + kind
	return []edit{
		entry{function, "straitBefore(" + object + ", sys.GetCallerPC())"},
		exit{function, "straitAfter(" + object + ", sys.GetCallerPC())"},
	}
}
