package referee

import (
	"os/exec"
	"path/filepath"
	"strings"

	"chaoslab/labs/referee/confine"
)

// startConfined starts cmd so that it can write only where a program may.
func (p *Program) startConfined(cmd *exec.Cmd) error {
	child, err := confine.Wrap(cmd, p.writable())
	if err != nil {
		return err
	}
	if err := child.Started(cmd.Start()); err != nil {
		if cmd.Process != nil {
			_ = cmd.Wait() // it has ended by itself
		}
		return err
	}
	return nil
}

// writable returns where the program may write.
func (p *Program) writable() []string {
	all := []string{
		p.dir, p.scratch,
		"/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm",
	}
	return append(all, caches(p.env)...)
}

// caches returns the folders in which languages keep what they fetch and build, by
// the variables of an environment.
func caches(env []string) []string {
	set := map[string]string{}
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		set[name] = value
	}
	var all []string
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "XDG_CACHE_HOME", "npm_config_cache", "PYTHONPYCACHEPREFIX"} {
		if filepath.IsAbs(set[name]) {
			all = append(all, set[name])
		}
	}
	for path := range strings.SplitSeq(set["GOPATH"], string(filepath.ListSeparator)) {
		if filepath.IsAbs(path) {
			all = append(all, filepath.Join(path, "pkg", "mod"))
		}
	}
	if home := set["HOME"]; filepath.IsAbs(home) {
		for _, name := range []string{
			".cache", "go/pkg/mod", ".npm", ".m2", ".gradle", ".nuget/packages",
			".cargo/registry", ".cargo/.package-cache",
		} {
			all = append(all, filepath.Join(home, name))
		}
	}
	return all
}

// refused returns the first line in which a program complains that it was denied
// a thing, in the words of the system or of a language, or "".
func refused(lines []Line) string {
	for _, l := range lines {
		lower := strings.ToLower(l.Text)
		for _, word := range []string{"permission denied", "eacces", "permissionerror", "accessdenied"} {
			if l.Err && strings.Contains(lower, word) {
				return oneLine(l.Text)
			}
		}
	}
	return ""
}
