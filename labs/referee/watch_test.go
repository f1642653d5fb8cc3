package referee

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"chaoslab/faults"
)

// TestTimeline holds that what the partner saw is told with the time at which it
// happened, before what came after it, and once.
func TestTimeline(t *testing.T) {
	t.Parallel()
	config, err := parseFaults([]string{"ok"})
	if err != nil {
		t.Fatal(err)
	}
	partner, err := faults.Start(faults.Config{Listeners: []faults.ListenerConfig{{Name: "shop", Faults: config}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
		defer cancel()
		_ = partner.Close(ctx)
	})
	var events []Event
	r := &scenarioRun{
		prepared: &prepared{Scenario: &Scenario{Name: "s"}}, partner: partner, start: time.Now(),
		event: func(e Event) { events = append(events, e) },
	}
	for i := range 2 {
		answer, err := http.Get(fmt.Sprintf("%s/%d", partner.Listeners()[0].URL, i))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		time.Sleep(60 * time.Millisecond)
	}
	asked := millis(time.Since(r.start))
	time.Sleep(60 * time.Millisecond) // nothing happens any more: whoever looks now is late
	r.tell("program", "done")
	r.tellNew()
	var lanes []string
	for _, e := range events {
		lanes = append(lanes, e.Lane)
		if e.Lane == "partner" && e.At > asked {
			t.Errorf("%q at %.1f ms, want the time of its happening, before %.1f", e.Text, e.At, asked)
		}
	}
	if want := "partner partner partner partner program"; strings.Join(lanes, " ") != want {
		t.Errorf("lanes %v, want %s\n%v", lanes, want, events)
	}
	if !slices.IsSortedFunc(events, func(a, b Event) int { return int(a.At*1000) - int(b.At*1000) }) {
		t.Errorf("not in order: %v", events)
	}
}
