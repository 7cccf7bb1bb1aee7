// A test binary that Strait watches ends with the process that has started it, whatever ends that one.

package syscall

func init() {
	if _, watched := Getenv("STRAIT_MAP"); !watched {
		return
	}
	const parentDeathSignal = 1 // PR_SET_PDEATHSIG
	RawSyscall(SYS_PRCTL, parentDeathSignal, uintptr(SIGKILL), 0)
}
