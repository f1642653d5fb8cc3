package sandbox

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// explain adds to an error of making or using namespaces which setting of this
// machine is behind it, as far as the machine tells.
func explain(err error, userNS bool) error {
	if why := reason(err, userNS, readSetting); why != "" {
		return fmt.Errorf("%w (%s)", err, why)
	}
	return err
}

// reason looks settings up with read, which returns "" for one that is not there.
func reason(err error, userNS bool, read func(path string) string) string {
	switch {
	case errors.Is(err, unix.ENOSPC):
		for _, kind := range []string{"user", "net", "pid", "mnt"} {
			name := "max_" + kind + "_namespaces"
			if read("/proc/sys/user/"+name) == "0" {
				return "user." + name + "=0"
			}
		}
		return "a limit in /proc/sys/user is reached"
	case errors.Is(err, unix.EINVAL):
		return "this kernel lacks one of the namespaces"
	case errors.Is(err, unix.EUSERS):
		return "user namespaces are nested too deep"
	case !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EACCES):
		return ""
	case !userNS:
		return "needs CAP_SYS_ADMIN"
	}
	if read("/proc/sys/kernel/unprivileged_userns_clone") == "0" {
		return "kernel.unprivileged_userns_clone=0"
	}
	if read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1" {
		return "kernel.apparmor_restrict_unprivileged_userns=1"
	}
	return "forbidden by the system or by the container this runs in"
}

func readSetting(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
