// One call, and one word for how it ended. See TASK.md.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

func main() { fmt.Println(call()) }

func call() string {
	// One limit, two seconds, for everything: too long, and when it ends the
	// call nobody knows what it was waiting for.
	client := http.Client{Timeout: 2 * time.Second}
	resp, err := client.Get(os.Getenv("LAB_URL"))
	if err != nil {
		return "failed" // is that all there is to say?
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return "failed"
	}
	return "ok"
}
