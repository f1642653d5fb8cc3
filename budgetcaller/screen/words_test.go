package screen

import (
	"encoding"
	"testing"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		word string
		of   encoding.TextMarshaler
		back encoding.TextUnmarshaler
	}{
		{"sound", Sound, new(Verdict)},
		{"tight", Tight, new(Verdict)},
		{"cannot_hold", CannotHold, new(Verdict)},
		{"none", SourceNone, new(Source)},
		{"call", SourceCall, new(Source)},
		{"fallback", SourceFallback, new(Source)},
		{"old", SourceOld, new(Source)},
	} {
		text, err := tt.of.MarshalText()
		if err != nil || string(text) != tt.word {
			t.Errorf("%v is %q, %v; want %q", tt.of, text, err, tt.word)
		}
		if err := tt.back.UnmarshalText(text); err != nil {
			t.Errorf("%q read back: %v", text, err)
		}
		if err := tt.back.UnmarshalText([]byte("sour")); err == nil {
			t.Errorf("%T took an unknown word", tt.back)
		}
	}
	if got := Verdict(9).String() + Source(9).String(); got != "verdict(9)source(9)" {
		t.Errorf("beyond the list: %q", got)
	}
}
