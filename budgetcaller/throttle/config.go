package throttle

import (
	"errors"
	"fmt"
	"time"
)

// None, as the value of Share or MinPerSecond, switches that part off.
const None float64 = -1

// The defaults of Config.
const (
	DefaultShare        = 0.1
	DefaultMinPerSecond = 10.0
	DefaultWindow       = 10 * time.Second
)

// The bounds of Config's fields.
const (
	MaxPerSecond = 1e6
	MinWindow    = time.Second
	MaxWindow    = time.Hour
)

// Config sets up a Throttle. Each zero field has the default named beside it.
type Config struct {
	// Share is how many retries a call pays for, above 0 and up to 1: with 0.1
	// every tenth call pays for one. None: none. Zero: DefaultShare.
	Share float64
	// MinPerSecond is how many retries are allowed each second however few the
	// calls, above 0 and up to MaxPerSecond. They come on top of the share and
	// are used when that is used up. At most those of one second are saved up,
	// or one retry if that is more. None: none. Zero: DefaultMinPerSecond.
	MinPerSecond float64
	// Window is for how long a call and the retries it paid for are remembered,
	// from MinWindow to MaxWindow, to within a tenth. Zero: DefaultWindow.
	Window time.Duration
}

// withDefaults returns cfg with its zero fields filled in, or an error that
// names the first field out of range.
func (cfg Config) withDefaults() (Config, error) {
	if cfg.Share == 0 {
		cfg.Share = DefaultShare
	}
	if cfg.MinPerSecond == 0 {
		cfg.MinPerSecond = DefaultMinPerSecond
	}
	if cfg.Window == 0 {
		cfg.Window = DefaultWindow
	}
	if err := check("Share", cfg.Share, 1); err != nil {
		return cfg, err
	}
	if err := check("MinPerSecond", cfg.MinPerSecond, MaxPerSecond); err != nil {
		return cfg, err
	}
	if cfg.Share == None && cfg.MinPerSecond == None {
		return cfg, errors.New("throttle: Share and MinPerSecond are both None: no retry would ever be allowed")
	}
	if cfg.Window < MinWindow || cfg.Window > MaxWindow {
		return cfg, fmt.Errorf("throttle: Window: %v is out of range: from %v to %v", cfg.Window, MinWindow, MaxWindow)
	}
	return cfg, nil
}

func check(name string, v, most float64) error {
	if v != None && !(v > 0 && v <= most) { // written so that NaN fails too
		return fmt.Errorf("throttle: %s: %v is out of range: above 0 and up to %v, or None", name, v, most)
	}
	return nil
}
