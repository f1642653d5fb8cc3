//go:build linux || darwin || freebsd

package sqlite

import (
	"io/fs"
	"syscall"
)

// writable says whether this process may write to path. A file that nobody may
// write to is not, for root either: somebody has meant that.
func writable(path string, info fs.FileInfo) bool {
	const toWrite = 2
	return info.Mode().Perm()&0o222 != 0 && syscall.Access(path, toWrite) == nil
}

// diskFull says whether hardly any room is left on the disk of dir, or none for
// another file.
func diskFull(dir string) bool {
	var st syscall.Statfs_t
	if syscall.Statfs(dir, &st) != nil {
		return false
	}
	return uint64(st.Bavail)*uint64(st.Bsize) < 64<<10 || st.Files > 0 && st.Ffree == 0
}
