// Arguments: the root's file, the HTTPS port, hostnames. Prints a line for each: the hostname, a tab, what Go reports.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
)

func main() {
	pem, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", "127.0.0.1:"+os.Args[2])
	}
	client := &http.Client{Transport: &http.Transport{
		DialContext:       dial,
		ForceAttemptHTTP2: true,
		TLSClientConfig:   &tls.Config{RootCAs: roots},
	}}
	for _, hostname := range os.Args[3:] {
		answer, err := client.Get("https://" + hostname + "/")
		if err != nil {
			fmt.Printf("%s\t%v\n", hostname, err)
			continue
		}
		answer.Body.Close()
		if answer.StatusCode == 200 {
			fmt.Printf("%s\taccepts it\n", hostname)
		} else {
			fmt.Printf("%s\t%d\n", hostname, answer.StatusCode)
		}
	}
}
