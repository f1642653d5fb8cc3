package faults

// Level says where a fault acts: on the port, on a connection before any
// request is read, or on a request.
type Level uint8

// The levels, from the outside in. A fault above LevelRequest cannot be chosen
// by a request, since there is none when it acts.
const (
	LevelRequest    Level = iota // the zero value
	LevelConnection              // acts when a connection is accepted
	LevelPort                    // acts on the port: nothing is ever accepted
)

// String returns request, connection or port.
func (l Level) String() string {
	switch l {
	case LevelPort:
		return "port"
	case LevelConnection:
		return "connection"
	default:
		return "request"
	}
}

// Fault is one way to fail: one entry of All. Its fields make the --mode
// values, the flags, the help and the table of the README.
type Fault struct {
	Name    string  // the mode's name, lower case, words joined by dashes
	Summary string  // what the partner does, one line
	Effect  string  // whether the effect takes place, as the table says it
	Params  []Param // in the order in which they are shown
	Curl    string  // curl's exit code for the default parameters: "0", "7", "28"
	Class   string  // the class a caller reports for the default parameters

	// NeedsBody is how long a request's body must be for the fault to show; 0:
	// it shows with any request.
	NeedsBody int64

	// acts says whether the effect takes place, unless effect=yes|no says
	// otherwise: with the answer's head, or where the fault calls act.
	acts bool
	// index is the fault's place in Modes.All.
	index int16
	// build makes the behaviour out of checked parameters. It refuses what only
	// shows when several parameters are seen together.
	build func(args) (behavior, error)
}

// behavior is what a fault does. Exactly one of the three is set: port is not
// portOpen, or connection, or request.
type behavior struct {
	port       portState
	connection func(*Exchange) // right after accept, instead of reading requests
	request    func(*Exchange) // once the request is whole
	ownBody    bool            // request is called before the body was read
	answers    bool            // it sends an answer's head also where nothing takes effect
	tls        bool            // it is for clients that speak TLS
	custom     bool            // made by Custom
	close      func()          // releases what it holds; nil: it holds nothing
	office     *office         // if it has workers and a queue: they outlive a change of plan
	headless   bool            // it sends no head with which an effect could take place
	counts     bool            // what one request gets depends on the others
	limits     bool            // what it does not let through has no effect, whatever is asked
}

// portState is what a port does with a SYN.
type portState uint8

const (
	portOpen      portState = iota // answered, accepted
	portRefused                    // answered with a RST
	portBlackHole                  // not answered
)

func (b behavior) level() Level {
	switch {
	case b.port != portOpen:
		return LevelPort
	case b.connection != nil:
		return LevelConnection
	default:
		return LevelRequest
	}
}

// Supported says why the fault cannot be had on this system, or nil.
func (f Fault) Supported() error {
	s, err := f.spec(nil)
	if err != nil {
		return err
	}
	return s.behavior.port.supports()
}

// All returns every fault in the order in which tables show them. The slice is
// the caller's own. To add a fault, write its file and add its line here.
func All() []Fault {
	return []Fault{
		okFault(),
		refusedFault(),
		connectTimeoutFault(),
		silentFault(),
		tlsTimeoutFault(),
		readTimeoutFault(),
		slowFault(),
		dripFault(),
		dripHeadFault(),
		stallFault(),
		truncateFault(),
		resetFault(),
		closeFault(),
		lostResponseFault(),
		malformedFault(),
		informationalFault(),
		slowReadFault(),
		statusFault(),
		rateLimitFault(),
		overloadFault(),
	}
}
