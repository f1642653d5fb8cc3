package screen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"chaoslab/budgetcaller"
)

// partners are the three of the case: ok after 100 ms, ok after 300 ms, hang.
// inFlight counts the requests that the last one has.
type partners struct {
	caller   *budgetcaller.Caller
	urls     map[string]string
	inFlight atomic.Int64
}

func newPartners(t *testing.T) *partners {
	t.Helper()
	// Hundreds of connects at once may take a busy machine long; no test is about them.
	limits := budgetcaller.Limits{Connect: 10 * time.Second}
	p := &partners{caller: newCaller(t, budgetcaller.Config{Limits: limits}), urls: map[string]string{}}
	after := func(d time.Duration) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(d):
				_, _ = io.WriteString(w, `{"after":"`+d.String()+`"}`)
			case <-r.Context().Done():
			}
		}
	}
	hang := func(_ http.ResponseWriter, r *http.Request) {
		p.inFlight.Add(1)
		defer p.inFlight.Add(-1)
		<-r.Context().Done()
	}
	for name, handler := range map[string]http.HandlerFunc{"fast": after(100 * ms), "slow": after(300 * ms), "hang": hang} {
		srv := httptest.NewServer(handler)
		t.Cleanup(srv.Close)
		p.urls[name] = srv.URL
	}
	return p
}

func (p *partners) get(name string) Func { return getURL(p.caller, "", p.urls[name]) }

// left waits until the hanging partner has no request any more.
func (p *partners) left() error {
	began := time.Now()
	for p.inFlight.Load() > 0 {
		if time.Since(began) > 200*ms+slack+machine.Room(began) {
			return fmt.Errorf("%d requests still in flight", p.inFlight.Load())
		}
		time.Sleep(ms)
	}
	return nil
}

const (
	b14Budget  = 800 * ms
	b14Reserve = 100 * ms
)

func TestB14FanOutWithPartialAnswers(t *testing.T) {
	t.Parallel()
	p := newPartners(t)
	s := mustNew(t, Config{Budget: For(b14Budget, ""), Reserve: For(b14Reserve, ""), Groups: [][]Part{{
		{Name: "fast", Call: p.get("fast")},
		{Name: "slow", Call: p.get("slow")},
		{Name: "hang", Call: p.get("hang"), Optional: true},
	}}})
	if err := machine.Again(spoils, func() error {
		began := time.Now()
		res, err := s.Run(t.Context())
		took := time.Since(began)
		if err := errors.Join(err, p.left()); err != nil {
			return err
		}
		// The reserve is what keeps it before the budget's end.
		if took < b14Budget-b14Reserve || took >= b14Budget {
			return fmt.Errorf("the answer came after %v, want it at %v, before %v", took, b14Budget-b14Reserve, b14Budget)
		}
		const want = `{"fast":{"after":"100ms"},"slow":{"after":"300ms"},"hang":null,"degraded":["hang"]}`
		if text, err := res.MarshalJSON(); err != nil || string(text) != want {
			return fmt.Errorf("answer %s, %v; want %s", text, err, want)
		}
		if o := res.Part("hang"); o.Class != budgetcaller.ClassBudgetExhausted || o.Phase != budgetcaller.PhaseFirstByte || o.Effect != budgetcaller.EffectUnknown {
			return fmt.Errorf("hang: %v in %v, effect %v; want budget_exhausted in first_byte, unknown", o.Class, o.Phase, o.Effect)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

func TestB14ASlowFallbackIsCut(t *testing.T) {
	t.Parallel()
	p := newPartners(t)
	if err := machine.Again(spoils, func() error {
		cut := false
		s := mustNew(t, Config{Budget: For(b14Budget, ""), Groups: [][]Part{{{
			Name: "hang", Call: p.get("hang"),
			Fallback: Fallback{SetAside: For(400*ms, ""), Func: func(ctx context.Context) (any, error) {
				v, err := takes(2*time.Second, "late")(ctx)
				cut = err != nil
				return v, err
			}},
		}}}})
		began := time.Now()
		res, err := s.Run(t.Context())
		took := time.Since(began)
		if err := p.left(); err != nil {
			return err
		}
		if !errors.Is(err, budgetcaller.ErrBudgetExhausted) || !cut || took < b14Budget || took > b14Budget+100*ms {
			return fmt.Errorf("error %v, fallback cut %v, after %v; want budget exhausted after %v", err, cut, took, b14Budget)
		}
		if o := res.Part("hang"); len(o.Lines) != 2 || !o.Lines[1].Fallback || o.Lines[1].Class != budgetcaller.ClassBudgetExhausted {
			return fmt.Errorf("account %+v, want the call and the fallback, both cut", o.Lines)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

func TestB14NoFallbackAfterACancel(t *testing.T) {
	t.Parallel()
	p := newPartners(t)
	ran := false
	// Long after the cancel, so that a busy machine does not let both be due: it
	// is the cancel that ends the part.
	const budget = 10 * time.Second
	s := mustNew(t, Config{Budget: For(budget, ""), Groups: [][]Part{{{
		Name: "hang", Call: p.get("hang"),
		Fallback: Fallback{SetAside: For(budget/2, ""), Func: func(context.Context) (any, error) { ran = true; return 1, nil }},
	}}}})
	ctx, cancel := context.WithCancel(t.Context())
	began := time.Now() // not after the timer begins to run
	defer time.AfterFunc(100*ms, cancel).Stop()
	res, err := s.Run(ctx)
	took, most := time.Since(began), 100*ms+slack+machine.Room(began)
	if err := p.left(); err != nil {
		t.Error(err)
	}
	if ran || !errors.Is(err, context.Canceled) || took < 100*ms || took > most {
		t.Errorf("fallback ran %v, error %v, after %v; want none, canceled, after 100ms to %v", ran, err, took, most)
	}
	if o := res.Part("hang"); o.Class != budgetcaller.ClassCanceled {
		t.Errorf("hang: %v, want canceled", o.Class)
	}
}

// Hundreds of screens at once share one Screen and one Caller.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	p := newPartners(t)
	s := mustNew(t, Config{Budget: For(10*time.Second, ""), Groups: [][]Part{
		{{Name: "a", Call: p.get("fast")}, {Name: "b", Call: p.get("fast")}},
		{{Name: "hang", Optional: true, Call: p.get("hang"), Limit: For(50*ms, "")}},
	}})
	done := make(chan *Result)
	const screens = 100
	for range screens {
		go func() {
			res, _ := s.Run(t.Context())
			done <- res
		}()
	}
	for range screens {
		if res := <-done; res.Err != nil || len(res.Degraded) != 1 {
			t.Errorf("error %v, degraded %v", res.Err, res.Degraded)
		}
	}
	if err := p.left(); err != nil {
		t.Error(err)
	}
}
