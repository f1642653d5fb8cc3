package sandbox

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestParseJob(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
		want job
		err  string
	}{
		{"run", []string{"run", "net:[1]", "2", "/bin/a", "a", "-b", ""}, job{false, "net:[1]", 2, "/bin/a", []string{"a", "-b", ""}}, ""},
		{"probe", []string{"probe", "net:[1]", "0", "-"}, job{true, "net:[1]", 0, "-", []string{}}, ""},
		{"nothing", nil, job{}, "too few arguments"},
		{"no command", []string{"run", "net:[1]", "0", "/bin/a"}, job{}, "no command"},
		{"another verb", []string{"walk", "net:[1]", "0", "/bin/a", "a"}, job{}, `verb "walk"`},
		{"no namespace", []string{"run", "", "0", "/bin/a", "a"}, job{}, "outer network namespace"},
		{"no number", []string{"run", "net:[1]", "x", "/bin/a", "a"}, job{}, "syn retries"},
		{"out of range", []string{"run", "net:[1]", "128", "/bin/a", "a"}, job{}, "from 1 to 127"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := parseJob(c.args)
			switch {
			case c.err == "" && (err != nil || !reflect.DeepEqual(got, c.want)):
				t.Errorf("parseJob(%q) = %+v, %v; want %+v", c.args, got, err, c.want)
			case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
				t.Errorf("parseJob(%q) = %v, want an error with %q", c.args, err, c.err)
			}
		})
	}
}

func FuzzParseJob(f *testing.F) {
	f.Add("run\x00net:[4026531840]\x001\x00/usr/bin/true\x00true\x00-x")
	f.Add("probe\x00net:[1]\x00127\x00-")
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, "\x00")
		j, err := parseJob(args)
		if err != nil {
			return
		}
		again, err := parseJob(j.args()[1:])
		if err != nil || !reflect.DeepEqual(again, j) {
			t.Errorf("parseJob(%q) = %+v; its own arguments give %+v, %v", args, j, again, err)
		}
	})
}

// Started by hand it must not touch the network of the machine.
func TestMainRefusesOurOwnNamespace(t *testing.T) {
	t.Parallel()
	if code, handled := Main([]string{"caller", "sandbox"}); handled || code != 0 {
		t.Errorf("Main of an ordinary start = %d, %v; want 0, false", code, handled)
	}
	own, err := os.Readlink(netNamespace)
	if err != nil {
		t.Fatal(err)
	}
	for _, outside := range []string{own, "net:[1]"} {
		var out, said strings.Builder
		code := runInit([]string{"run", outside, "0", "/bin/true", "true"}, &out, &said)
		if code != exitFailed || !strings.HasPrefix(said.String(), "sandbox: not in namespaces of its own") {
			t.Errorf("init outside, told %s: code %d, %q; want %d and a refusal", outside, code, said.String(), exitFailed)
		}
	}
}

func TestReason(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		err      error
		without  bool // a user namespace
		settings map[string]string
		want     string
	}{
		{"another error", unix.EOPNOTSUPP, false, nil, ""},
		{"no user namespaces", unix.ENOSPC, false, map[string]string{"/proc/sys/user/max_user_namespaces": "0"}, "user.max_user_namespaces=0"},
		{"no network namespaces", unix.ENOSPC, false, map[string]string{"/proc/sys/user/max_user_namespaces": "9", "/proc/sys/user/max_net_namespaces": "0"}, "user.max_net_namespaces=0"},
		{"too many", unix.ENOSPC, false, nil, "a limit in /proc/sys/user is reached"},
		{"old Debian", unix.EPERM, false, map[string]string{"/proc/sys/kernel/unprivileged_userns_clone": "0"}, "kernel.unprivileged_userns_clone=0"},
		{"Ubuntu", unix.EACCES, false, map[string]string{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1"}, "kernel.apparmor_restrict_unprivileged_userns=1"},
		{"container", unix.EPERM, false, map[string]string{"/proc/sys/kernel/unprivileged_userns_clone": "1"}, "forbidden by the system or by the container this runs in"},
		{"not root", unix.EPERM, true, nil, "needs CAP_SYS_ADMIN"},
		{"small kernel", unix.EINVAL, false, nil, "this kernel lacks one of the namespaces"},
		{"nested", unix.EUSERS, false, nil, "user namespaces are nested too deep"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := errors.Join(c.err)
			if got := reason(err, !c.without, func(path string) string { return c.settings[path] }); got != c.want {
				t.Errorf("reason(%v) with %v = %q, want %q", c.err, c.settings, got, c.want)
			}
		})
	}
}
