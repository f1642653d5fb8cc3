package screen

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"chaoslab/budgetcaller"
)

// The partial answer, byte for byte, over loopback.
func TestR5ThePartialAnswer(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/order" {
			http.Error(w, "no", http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte(`{"id": 1043, "amount": 52000}` + "\n"))
	}))
	defer srv.Close()
	c := newCaller(t, budgetcaller.Config{})
	s := mustNew(t, Config{Budget: For(10*time.Second, ""), Groups: [][]Part{
		{{Name: "order", Call: getURL(c, "", srv.URL+"/order"), Read: JSON}},
		{{Name: "recommendations", Optional: true, Call: getURL(c, "", srv.URL+"/recommendations")}},
	}})
	res, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"order":{"id":1043,"amount":52000},"recommendations":null,"degraded":["recommendations"]}`
	if got, err := json.Marshal(res); err != nil || string(got) != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
	rec := httptest.NewRecorder()
	if err := res.Respond(rec); err != nil || rec.Code != 200 || rec.Body.String() != want || rec.Header().Get("Content-Type") != "application/json" {
		t.Errorf("responded %d %v %s, %v", rec.Code, rec.Header(), rec.Body, err)
	}
	if o := res.Part("recommendations"); o.Class != budgetcaller.ClassStatus || o.Status != 503 || o.Why != "status 503" {
		t.Errorf("recommendations: %+v", o)
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	part := func(name string, value any, source Source) Outcome {
		return Outcome{Name: name, Value: value, Source: source, Class: budgetcaller.ClassOK}
	}
	needed := func(o Outcome) Outcome {
		o.Required = true
		return o
	}
	old := part("news", []int{1}, SourceOld)
	old.Age = 90 * time.Second
	for _, tt := range []struct {
		name   string
		res    Result
		want   string
		status int
	}{
		{"whole", Result{Parts: []Outcome{part("b", "<&>", SourceCall), part("a", nil, SourceCall)}}, `{"b":"<&>","a":null,"degraded":[]}`, 200},
		{
			"a fallback and an old value",
			Result{Parts: []Outcome{part("price", 7, SourceFallback), old}},
			`{"price":7,"news":[1],"degraded":[],"fallback":["price"],"stale_ms":{"news":90000}}`, 200,
		},
		{
			"a partner failed",
			Result{Err: &Error{Screen: "s", Part: "price", Class: budgetcaller.ClassRefused, Err: errors.New("dial 10.0.0.7:80")}},
			`{"error":"required part price failed: refused","part":"price","class":"refused","effect":"none"}`, 502,
		},
		{
			"a status",
			Result{Err: &Error{Part: "price", Class: budgetcaller.ClassStatus, Status: 404, Effect: budgetcaller.EffectAnswered}},
			`{"error":"required part price failed: status 404","part":"price","class":"status","effect":"answered"}`, 502,
		},
		{
			"time ran out",
			Result{Err: &Error{Part: "price", Class: budgetcaller.ClassBudgetExhausted, Effect: budgetcaller.EffectUnknown}},
			`{"error":"required part price failed: budget_exhausted","part":"price","class":"budget_exhausted","effect":"unknown"}`, 504,
		},
		{
			"not called",
			Result{Err: &Error{Part: "price", Class: budgetcaller.ClassBelowFloor}},
			`{"error":"required part price failed: below_floor","part":"price","class":"below_floor","effect":"none"}`, 503,
		},
		{
			"its own function failed",
			Result{Err: &Error{Part: "price", Class: budgetcaller.ClassNone, Effect: budgetcaller.EffectUnknown}},
			`{"error":"required part price failed: error","part":"price","class":"none","effect":"unknown"}`, 500,
		},
		{"nothing JSON knows", Result{Screen: "s", Parts: []Outcome{needed(part("f", func() {}, SourceCall))}}, `{"error":"the answer cannot be written as JSON","screen":"s"}`, 500},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rec := httptest.NewRecorder()
			err := tt.res.Respond(rec)
			if rec.Code != tt.status || rec.Body.String() != tt.want || (err != nil) != (tt.name == "nothing JSON knows") {
				t.Errorf("got %d %s, %v\nwant %d %s", rec.Code, rec.Body, err, tt.status, tt.want)
			}
		})
	}
}

type panicking struct{}

func (panicking) MarshalJSON() ([]byte, error) { panic("no") }

type circle struct{ Next *circle }

// A value that JSON does not have costs its own part only, if the screen is
// worth having without it.
func TestAnswerWithoutWhatJSONDoesNotHave(t *testing.T) {
	t.Parallel()
	round := &circle{}
	round.Next = round
	for _, tt := range []struct {
		name  string
		value any
	}{
		{"not a number", math.NaN()},
		{"infinity, deep inside", map[string]any{"of": []any{1, math.Inf(1)}}},
		{"a channel", make(chan int)},
		{"JSON that is none", json.RawMessage(`{"a":`)},
		{"one that panics", panicking{}},
		{"a circle", round},
	} {
		for _, source := range []Source{SourceCall, SourceFallback, SourceOld} {
			res := &Result{
				Screen: "s", Degraded: []string{"news"},
				Parts: []Outcome{
					{Name: "a", Value: 1, Source: SourceCall},
					{Name: "b", Value: tt.value, Source: source, Age: time.Second},
					{Name: "news"},
					{Name: "c", Value: 3, Source: SourceFallback, Required: true},
				},
			}
			const want = `{"a":1,"b":null,"news":null,"c":3,"degraded":["b","news"],"fallback":["c"]}`
			got, err := json.Marshal(res)
			if err != nil || string(got) != want {
				t.Errorf("%s, %v: %s, %v; want %s", tt.name, source, got, err, want)
			}
			rec := httptest.NewRecorder()
			if err := res.Respond(rec); err == nil || !strings.HasPrefix(err.Error(), "b: ") || rec.Code != 200 || rec.Body.String() != want {
				t.Errorf("%s, %v: responded %d %s, %v", tt.name, source, rec.Code, rec.Body, err)
			}
			res.Parts[1].Required = true
			if got, err := json.Marshal(res); err == nil || !strings.Contains(err.Error(), "b: ") {
				t.Errorf("%s, %v, required: %s, %v; want an error", tt.name, source, got, err)
			}
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	type price struct{ Amount int }
	for _, tt := range []struct {
		name, body string
		read       func(*budgetcaller.Answer) (any, error)
		want       string // as JSON, empty for an error
	}{
		{"body: JSON", ` {"a": 1}`, Body, `{"a":1}`},
		{"body: text", "hello", Body, `"hello"`},
		{"body: empty", "", Body, `null`},
		{"body: no UTF-8", "a\xff", Body, `"a�"`},
		{"JSON", "[1]", JSON, "[1]"},
		{"JSON: text", "hello", JSON, ""},
		{"JSON: empty", "", JSON, ""},
		{"decode", `{"amount":7}`, Decode[price](), `{"Amount":7}`},
		{"decode: text", "hello", Decode[price](), ""},
	} {
		v, err := tt.read(&budgetcaller.Answer{Status: 200, Body: []byte(tt.body)})
		got, _ := json.Marshal(v)
		if (err != nil) != (tt.want == "") || err == nil && string(got) != tt.want {
			t.Errorf("%s: %q: got %s, %v; want %q", tt.name, tt.body, got, err, tt.want)
		}
	}
}

// What cannot be read is a failure of its part, and so is a Read that panics.
func TestAnAnswerThatCannotBeRead(t *testing.T) {
	t.Parallel()
	c := newCaller(t, budgetcaller.Config{Stub: steps{"a": {{0, 200}}, "b": {{0, 200}}}})
	s := mustNew(t, Config{Budget: For(10*time.Second, ""), Groups: [][]Part{
		{{Name: "a", Optional: true, Call: getURL(c, "", "http://a/"), Read: JSON}},
	}})
	res, _ := s.Run(t.Context())
	o := res.Part("a")
	if o.Class != budgetcaller.ClassMalformed || o.Effect != budgetcaller.EffectAnswered || o.Why != "its answer cannot be read: the body is not JSON" || len(o.Lines) != 1 || o.Lines[0].Class != o.Class {
		t.Errorf("got %+v, want malformed, effect answered", o)
	}
	s = mustNew(t, Config{Budget: For(10*time.Second, ""), Groups: [][]Part{
		{{Name: "b", Call: getURL(c, "", "http://b/"), Read: func(*budgetcaller.Answer) (any, error) { panic("nil map") }}},
	}})
	res, err := s.Run(t.Context())
	var panicked *PanicError
	if !errors.As(err, &panicked) || panicked.Value != "nil map" || len(panicked.Stack) == 0 || res.Effect() != budgetcaller.EffectAnswered {
		t.Errorf("got %v, effect %v; want the panic, effect answered", err, res.Effect())
	}
}
