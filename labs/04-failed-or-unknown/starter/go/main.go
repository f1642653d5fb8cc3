// One payment, and what became of it. See TASK.md.
package main

import (
	"fmt"
	"net/http"
	"os"
	"time"
)

func main() { fmt.Printf("{\"word\":%q}\n", send()) }

func send() string {
	client := http.Client{Timeout: time.Second}
	resp, err := client.Post(os.Getenv("LAB_URL"), "", nil)
	if err != nil {
		return "failed" // has it?
	}
	_ = resp.Body.Close()
	return "done" // is it?
}
