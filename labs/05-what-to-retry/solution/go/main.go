// Retries: only what is temporary, only what may happen twice, and not all at
// once.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	if os.Getenv("LAB_MODE") == "delay" {
		fmt.Println(delays(os.Getenv("LAB_ASK")))
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(env("LAB_BUDGET_MS"))*time.Millisecond)
	defer cancel()
	word, attempts := call(ctx)
	fmt.Printf("{\"class\":%q,\"attempts\":%d}\n", word, attempts)
}

func call(ctx context.Context) (string, int) {
	method, tries := os.Getenv("LAB_METHOD"), env("LAB_TRIES")
	for attempt := 1; ; attempt++ {
		status, after, err := once(ctx, method)
		if err == nil && status < 400 {
			return "ok", attempt
		}
		temporary := err != nil || slices.Contains([]int{429, 502, 503, 504}, status)
		unknown := err != nil || status == 502 || status == 504
		if !temporary || unknown && method != http.MethodGet || attempt == tries {
			switch {
			case err == nil:
				return "status", attempt
			case method == http.MethodGet:
				return "failed", attempt
			}
			return "unknown", attempt
		}
		delay, _ := retryDelay(attempt, env("LAB_BASE_MS"), env("LAB_CAP_MS"), rand.Float64())
		wait := time.Duration(delay) * time.Millisecond
		if digits(after) {
			wait = seconds(after)
		}
		if deadline, _ := ctx.Deadline(); wait > time.Until(deadline) {
			return "does_not_fit", attempt
		}
		<-time.After(wait)
	}
}

// once makes one attempt on a connection of its own: net/http would resend a GET
// by itself on one that was used before.
func once(ctx context.Context, method string) (status int, after string, err error) {
	req, err := http.NewRequestWithContext(ctx, method, os.Getenv("LAB_URL"), nil)
	if err != nil {
		return 0, "", err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, resp.Header.Get("Retry-After"), err
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// seconds reads digits; more than fit are as good as for ever.
func seconds(s string) time.Duration {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return 1<<63 - 1
	}
	return time.Duration(n) * time.Second
}

func env(name string) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return n
}

// retryDelay is the wait in milliseconds, and false for what makes no sense.
func retryDelay(attempt, base, limit int, jitter float64) (int, bool) {
	if attempt < 1 || base < 1 || limit < 1 || !(jitter >= 0 && jitter <= 1) {
		return 0, false
	}
	window := base
	for i := 1; i < attempt && window < limit; i++ {
		window *= 2
	}
	return int(float64(min(window, limit)) * jitter), true
}

// delays answers a list of [attempt, base, cap, jitter]. Numbers are read as they
// stand: what is no whole number is none of the first three.
func delays(asked string) string {
	d := json.NewDecoder(strings.NewReader(asked))
	d.UseNumber()
	var list [][]any
	if err := d.Decode(&list); err != nil {
		return err.Error()
	}
	out := []any{}
	for _, ask := range list {
		if delay, ok := answer(ask); ok {
			out = append(out, delay)
		} else {
			out = append(out, "refused")
		}
	}
	text, err := json.Marshal(map[string]any{"delays": out})
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func answer(ask []any) (int, bool) {
	var whole [3]int
	for i := range whole {
		n, ok := ask[i].(json.Number)
		value, err := n.Int64()
		if !ok || err != nil {
			return 0, false
		}
		whole[i] = int(value)
	}
	n, ok := ask[3].(json.Number)
	jitter, err := n.Float64()
	if !ok || err != nil {
		return 0, false
	}
	return retryDelay(whole[0], whole[1], whole[2], jitter)
}
