// Jobs, worked off from memory: a crash forgets them. See TASK.md.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
)

type job struct {
	ID string `json:"id"`
}

func main() {
	var jobs []job
	if err := json.Unmarshal([]byte(os.Getenv("LAB_JOBS")), &jobs); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	results := map[string]string{}
	for _, j := range jobs {
		results[j.ID] = "failed"
		if resp, err := http.Post(os.Getenv("LAB_URL"), "", nil); err == nil {
			_ = resp.Body.Close()
			results[j.ID] = "done"
		}
	}
	text, err := json.Marshal(results)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(string(text))
}
