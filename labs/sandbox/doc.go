// Package sandbox runs a command in a private network where 192.0.2.0/24
// (TEST-NET-1, RFC 5737) really is a black hole: a connect to any of its
// addresses gets no answer at all, neither a refusal nor "no route".
//
// On an ordinary machine 192.0.2.1 is only meant to lead nowhere; a gateway, a
// VPN or a proxy often refuses, rejects or even answers. Inside the sandbox
// there is a loopback interface, a veth pair whose far end drops every frame,
// and nothing else:
//
//	cmd, err := sandbox.Command(ctx, sandbox.Options{SynRetries: 1}, "curl", "http://192.0.2.1/")
//	if err != nil {
//		return err // errors.Is(err, sandbox.ErrUnavailable): this machine does not allow it
//	}
//	cmd.Stdout = os.Stdout
//	err = cmd.Run() // curl gives up when the kernel does, after about 3 s
//
// The program runs itself again as the first process of the new namespaces, so
// main, and TestMain of a test that uses this package, starts with
//
//	if code, handled := sandbox.Main(os.Args); handled {
//		os.Exit(code)
//	}
//
// No root is needed where unprivileged user namespaces are allowed. When the
// command ends, or whoever started it is killed, the kernel takes everything
// away: every process left in there, the interfaces and the namespaces.
//
// Left out: it is a network without an exit, not a security boundary. Files and
// sockets in the file system stay within reach. There is no way to open a hole
// (ports, proxies), no DNS, and no packet loss or delay by degrees, for which
// tc-netem is the tool. Linux only: elsewhere every call says so.
package sandbox
