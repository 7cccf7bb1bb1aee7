// A variable of a package that is not read may hold something that waits: nothing is claimed.
//
// verdict: TestTransport unknown
// model: TestTransport terminates
// assumes: the function called here is not known
package transport

import (
	"net/http"
	"os"
	"testing"
)

func TestTransport(t *testing.T) {
	request, err := http.NewRequest("GET", os.Getenv("ADDRESS"), nil)
	if err == nil {
		http.DefaultTransport.RoundTrip(request)
	}
}
