package faults

import (
	"container/list"
	"sync"
)

// EffectsSchema names the form of Effects in JSON.
const EffectsSchema = "partner.effects/1"

// Effects tells what one listener has really done: the proof of a double
// charge, or that there was none.
type Effects struct {
	Schema     string      `json:"schema"`
	Listener   string      `json:"listener"`
	Effects    uint64      `json:"effects"`     // how often the effect took place
	Duplicates uint64      `json:"duplicates"`  // requests whose key had had its effect before
	WithoutKey uint64      `json:"without_key"` // effects of requests that carried no key
	Forgotten  uint64      `json:"forgotten"`   // keys that fell out of memory: 0, or duplicates may be missed
	Keys       []KeyEffect `json:"keys"`        // the newest last
}

// KeyEffect tells what happened under one Idempotency-Key.
type KeyEffect struct {
	Key        string  `json:"key"`
	EffectID   uint64  `json:"effect_id"`
	At         float64 `json:"at_ms"` // Unix milliseconds
	Duplicates uint64  `json:"duplicates"`
	Status     int     `json:"status"` // of the first answer, which every repeat gets
}

// effects remembers what took place on one listener. The answer's body is a
// function of the effect's number and its size, so that a repeat can be given
// the first answer without keeping it.
type effects struct {
	mu                            sync.Mutex
	count, duplicates, withoutKey uint64
	forgotten                     uint64
	keys                          map[string]*list.Element // of *keyed
	order                         list.List                // oldest first
}

type keyed struct {
	key        string
	id         uint64
	at         int64
	duplicates uint64
	status     int
	size       int64
	extra      string // further header lines of the first answer
}

// act lets the effect of a request take place, unless one with the same key did
// before. It returns the effect's number, and for a duplicate the first answer.
func (ef *effects) act(key string, at int64, a answer) (k keyed, duplicate bool) {
	ef.mu.Lock()
	defer ef.mu.Unlock()
	if key == "" {
		ef.count++
		ef.withoutKey++
		return keyed{id: ef.count, status: a.status, size: a.size, extra: a.extra}, false
	}
	if found, ok := ef.keys[key]; ok {
		first := found.Value.(*keyed)
		first.duplicates++
		ef.duplicates++
		return *first, true
	}
	ef.count++
	first := &keyed{key: key, id: ef.count, at: at, status: a.status, size: a.size, extra: a.extra}
	if ef.keys == nil {
		ef.keys = map[string]*list.Element{}
	}
	ef.keys[key] = ef.order.PushBack(first)
	if ef.order.Len() > maxKeys {
		oldest := ef.order.Remove(ef.order.Front()).(*keyed)
		delete(ef.keys, oldest.key)
		ef.forgotten++
	}
	return *first, false
}

func (ef *effects) export(name string, unix func(int64) float64) Effects {
	ef.mu.Lock()
	defer ef.mu.Unlock()
	out := Effects{
		Schema: EffectsSchema, Listener: name, Effects: ef.count, Duplicates: ef.duplicates,
		WithoutKey: ef.withoutKey, Forgotten: ef.forgotten, Keys: []KeyEffect{},
	}
	for el := ef.order.Front(); el != nil; el = el.Next() {
		k := el.Value.(*keyed)
		out.Keys = append(out.Keys, KeyEffect{k.key, k.id, unix(k.at), k.duplicates, k.status})
	}
	return out
}

// counts returns the totals alone.
func (ef *effects) counts() (count, duplicates uint64) {
	ef.mu.Lock()
	defer ef.mu.Unlock()
	return ef.count, ef.duplicates
}

func (ef *effects) clear() {
	ef.mu.Lock()
	defer ef.mu.Unlock()
	ef.count, ef.duplicates, ef.withoutKey, ef.forgotten = 0, 0, 0, 0
	ef.keys = nil
	ef.order.Init()
}
