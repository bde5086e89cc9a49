// Prints, for each hostname, its addresses by Go's own resolver or the error.
package main

import (
	"fmt"
	"net"
	"os"
	"sort"
	"strings"
)

func look(host string) string {
	found, err := net.LookupHost(host)
	if err != nil {
		return err.Error()
	}
	sort.Strings(found)
	return strings.Join(found, ", ")
}

func main() {
	lines := make(chan string)
	for _, host := range os.Args[1:] {
		go func(host string) { lines <- host + "\t" + look(host) }(host)
	}
	for range os.Args[1:] {
		fmt.Println(<-lines)
	}
}
