// Layers of limits. See TASK.md.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"
)

type layer struct {
	Limit int `json:"limit_ms"`
}

func main() {
	if os.Getenv("LAB_MODE") == "call" {
		// The whole of what one is given, for one try.
		outer, err := time.ParseDuration(os.Getenv("LAB_OUTER_MS") + "ms")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		client := http.Client{Timeout: outer}
		if resp, err := client.Get(os.Getenv("LAB_URL")); err == nil {
			_ = resp.Body.Close()
		}
		fmt.Println(`{"limit_ms":0,"worst_ms":0}`)
		return
	}
	var layers []layer
	if err := json.Unmarshal([]byte(os.Getenv("LAB_LAYERS")), &layers); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	// Every layer is shorter than the one outside it. Is that enough?
	verdict := "sound"
	for i := 1; i < len(layers); i++ {
		if layers[i].Limit >= layers[i-1].Limit {
			verdict = "cannot_hold"
		}
	}
	fmt.Printf("{\"verdict\":%q,\"layer\":\"\",\"worst_ms\":0,\"outer_ms\":0,\"no_reason\":[]}\n", verdict)
}
