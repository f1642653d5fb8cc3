package referee

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// foreign says whether a socket belongs to processes of which none is the
// program's: neither has one of its marks nor descends from it. A port that was
// another's a moment ago may still be called by those who knew it. False if no
// owner is to be found.
func foreign(inode uint32, program []int, marks []string) bool {
	link := "socket:[" + strconv.FormatUint(uint64(inode), 10) + "]"
	ours := descendants(program)
	if inode == 0 || slices.ContainsFunc(ours, func(pid int) bool { return holds(pid, link) }) {
		return false
	}
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return false
	}
	found := false
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || !holds(pid, link) {
			continue
		}
		env, err := os.ReadFile(dir + "/environ")
		if err != nil || slices.Contains(ours, pid) || slices.ContainsFunc(marks, func(m string) bool { return hasEntry(env, mark+"="+m) }) {
			return false
		}
		found = true
	}
	return found
}

// holds says whether a process has the file open that the link names.
func holds(pid int, link string) bool {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd/"
	files, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(files, func(f os.DirEntry) bool {
		name, err := os.Readlink(dir + f.Name())
		return err == nil && name == link
	})
}

// descendants returns the processes and those that they have started.
func descendants(pids []int) []int {
	all := slices.Clone(pids)
	for i := 0; i < len(all) && len(all) < maxTasks; i++ {
		dir := "/proc/" + strconv.Itoa(all[i]) + "/task/"
		threads, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, t := range threads {
			all = append(all, readChildren(dir+t.Name()+"/children")...)
		}
	}
	return all
}
