// The end of all tests, whether TestMain is written by hand or not.

package testing

import "runtime"

// Run runs the tests and then has the goroutines judged that are left.
func (m *M) Run() (code int) {
	code = m.straitRun()
	runtime.StraitFinish(code)
	return code
}
