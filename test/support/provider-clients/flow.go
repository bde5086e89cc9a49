// Attaches a customer's hostname, and polls until it is configured, verified and certified. With net/http only, and the
// host of the API as in production.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"
)

func call(method, path string, body any) map[string]any {
	text, _ := json.Marshal(body)
	request, _ := http.NewRequest(method, "https://api.vercel.com"+path, bytes.NewReader(text))
	request.Header.Set("Authorization", "Bearer "+os.Getenv("VERCEL_TOKEN"))
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	read := map[string]any{}
	if err := json.NewDecoder(answer.Body).Decode(&read); err != nil || answer.StatusCode != 200 {
		panic(fmt.Sprint(answer.Status, err, read))
	}
	return read
}

func main() {
	hostname := os.Args[1]
	domains := "/v10/projects/" + os.Getenv("VERCEL_PROJECT_ID") + "/domains"
	call("POST", domains, map[string]string{"name": hostname})
	said := ""
	for tries := 0; tries < 400; tries++ {
		config := call("GET", "/v6/domains/"+hostname+"/config", nil)
		text, _ := json.Marshal([]any{config["misconfigured"], config["cnames"]})
		if string(text) != said {
			said = string(text)
			fmt.Println(said)
		}
		if config["misconfigured"] == false {
			break
		}
		time.Sleep(250 * time.Millisecond)
	}
	verified := call("POST", domains+"/"+hostname+"/verify", nil)["verified"]
	certs := call("GET", "/v8/certs", nil)["certs"].([]any)
	text, _ := json.Marshal([]any{verified, certs[0].(map[string]any)["cns"]})
	fmt.Println(string(text))
}
