// Sends requests by net/http, all at once, and prints for each what a program sees. See `break-clients.ts`.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

type job struct {
	URL       string            `json:"url"`
	Headers   map[string]string `json:"headers"`
	TimeoutMs int               `json:"timeoutMs"`
}

type result struct {
	Status     int     `json:"status"`
	RetryAfter *string `json:"retryAfter"`
	Text       string  `json:"text"`
	Error      *string `json:"error"`
}

func send(client *http.Client, asked job) (found result) {
	fail := func(err error) result {
		text := err.Error()
		return result{Error: &text}
	}
	request, err := http.NewRequest("GET", asked.URL, nil)
	if err != nil {
		return fail(err)
	}
	for name, value := range asked.Headers {
		request.Header.Set(name, value)
	}
	response, err := client.Do(request)
	if err != nil {
		return fail(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return fail(err)
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return fail(err)
	}
	text, _ := json.Marshal(value)
	found = result{Status: response.StatusCode, Text: string(text)}
	if after := response.Header.Get("Retry-After"); after != "" {
		found.RetryAfter = &after
	}
	return found
}

func main() {
	var input struct {
		Jobs []job  `json:"jobs"`
		CA   string `json:"ca"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		panic(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(input.CA))
	results := make([]result, len(input.Jobs))
	var all sync.WaitGroup
	for index, asked := range input.Jobs {
		all.Add(1)
		go func(index int, asked job) {
			defer all.Done()
			transport := &http.Transport{
				TLSClientConfig:   &tls.Config{RootCAs: roots},
				ForceAttemptHTTP2: true,
				DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
					_, port, _ := net.SplitHostPort(address)
					return (&net.Dialer{}).DialContext(ctx, network, "127.0.0.1:"+port)
				},
			}
			client := &http.Client{Transport: transport, Timeout: time.Duration(asked.TimeoutMs) * time.Millisecond}
			results[index] = send(client, asked)
		}(index, asked)
	}
	all.Wait()
	text, _ := json.Marshal(results)
	fmt.Println(string(text))
}
