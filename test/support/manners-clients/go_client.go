// `go run go_client.go CLIENT BASE KEY`: the same requests by HashiCorp's go-retryablehttp.
package main

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"

	"github.com/hashicorp/go-retryablehttp"
)

func main() {
	base, key := os.Args[2], os.Args[3]
	var requests [][2]string
	if err := json.Unmarshal([]byte(os.Getenv("REQUESTS")), &requests); err != nil {
		panic(err)
	}
	client := retryablehttp.NewClient()
	client.Logger = nil
	client.RetryMax = 3
	client.HTTPClient.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		_, port, _ := net.SplitHostPort(address)
		return (&net.Dialer{}).DialContext(ctx, network, "127.0.0.1:"+port)
	}
	for _, each := range requests {
		request, err := retryablehttp.NewRequest(each[0], base+each[1], nil)
		if err != nil {
			panic(err)
		}
		request.Header.Set("Authorization", "Bearer "+key)
		if answer, err := client.Do(request); err == nil {
			_, _ = io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close()
		}
	}
}
