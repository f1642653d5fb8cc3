// Layers of limits: what each may take at worst, against what the one outside
// waits.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"
)

type layer struct {
	Name    string `json:"name"`
	Limit   *int   `json:"limit_ms"` // a pointer: absent is not zero
	Retries *int   `json:"retries"`
	Wait    *int   `json:"wait_ms"`
	Reason  string `json:"reason"`
}

type finding struct {
	Verdict  string   `json:"verdict"`
	Layer    string   `json:"layer"`
	Worst    int      `json:"worst_ms"`
	Outer    int      `json:"outer_ms"`
	NoReason []string `json:"no_reason"`
}

func main() {
	var result any
	if os.Getenv("LAB_MODE") == "call" {
		result = call()
	} else {
		result = audit(os.Getenv("LAB_LAYERS"))
	}
	text, err := json.Marshal(result)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(string(text))
}

// audit relies on encoding/json to refuse what is no whole number.
func audit(text string) finding {
	var layers []layer
	if err := json.Unmarshal([]byte(text), &layers); err != nil || !makeSense(layers) {
		return finding{Verdict: "refused"}
	}
	rank := map[string]int{"sound": 0, "tight": 1, "cannot_hold": 2}
	found := finding{Verdict: "sound"}
	noReason := []string{}
	for i, l := range layers {
		if l.Reason == "" {
			noReason = append(noReason, l.Name)
		}
		if i == 0 {
			continue
		}
		worst, outer := *l.Limit*(*l.Retries+1)+*l.Wait**l.Retries, *layers[i-1].Limit
		verdict := "sound"
		switch {
		case worst >= outer:
			verdict = "cannot_hold"
		case worst*10 > outer*8:
			verdict = "tight"
		}
		if rank[verdict] > rank[found.Verdict] {
			found = finding{Verdict: verdict, Layer: l.Name, Worst: worst, Outer: outer}
		}
	}
	found.NoReason = noReason
	return found
}

func makeSense(layers []layer) bool {
	for _, l := range layers {
		if l.Limit == nil || *l.Limit < 1 || l.Retries == nil || *l.Retries < 0 || l.Wait == nil || *l.Wait < 0 {
			return false
		}
	}
	return len(layers) >= 2
}

func call() map[string]int {
	outer, tries, wait := env("LAB_OUTER_MS"), env("LAB_TRIES"), env("LAB_WAIT_MS")
	limit := (outer*7/10 - wait*(tries-1)) / tries
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for i := range tries {
		if i > 0 {
			<-time.After(time.Duration(wait) * time.Millisecond)
		}
		attempt(&client, time.Duration(limit)*time.Millisecond)
	}
	return map[string]int{"limit_ms": limit, "worst_ms": limit*tries + wait*(tries-1)}
}

func attempt(client *http.Client, limit time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, os.Getenv("LAB_URL"), nil)
	if err != nil {
		return
	}
	resp, err := client.Do(req)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body) // it hangs: what comes is no matter
}

func env(name string) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return n
}
