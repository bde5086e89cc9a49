// Package pets is a client of the standard library; with REPEATS_POST=1, it repeats what may be done twice.
package pets

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"
)

var client = http.Client{Timeout: 4 * time.Second}

func waitOf(answer *http.Response) time.Duration {
	if answer == nil {
		return 100 * time.Millisecond
	}
	value := answer.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if date, err := http.ParseTime(value); err == nil {
		return time.Until(date) + 100*time.Millisecond
	}
	return 100 * time.Millisecond
}

// ask repeats what was refused and, if it may be repeated, what has an unknown outcome.
func ask(method, path string, body, result any) error {
	mayRepeat := method == "GET" || os.Getenv("REPEATS_POST") == "1"
	for attempt := 0; ; attempt++ {
		var text bytes.Buffer
		if body != nil {
			_ = json.NewEncoder(&text).Encode(body)
		}
		request, err := http.NewRequest(method, os.Getenv("VIVARIUM_URL")+path, &text)
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer "+os.Getenv("VIVARIUM_KEY"))
		request.Header.Set("Content-Type", "application/json")
		answer, err := client.Do(request)
		status := 0
		if err == nil {
			status = answer.StatusCode
			if status < 300 {
				err = json.NewDecoder(answer.Body).Decode(result)
				answer.Body.Close()
				if err == nil {
					return nil
				}
			} else {
				answer.Body.Close()
				err = fmt.Errorf("%s %s: %s", method, path, answer.Status)
			}
		}
		isRefused := status == 429 || status == 503
		isUnknown := status == 0 || status == 500 || status < 300
		if attempt == 3 || !(isRefused || isUnknown && mayRepeat) {
			return err
		}
		time.Sleep(waitOf(answer))
	}
}
