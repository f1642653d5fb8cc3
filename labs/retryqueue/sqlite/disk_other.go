//go:build !linux && !darwin && !freebsd

package sqlite

import "io/fs"

func writable(_ string, info fs.FileInfo) bool { return info.Mode().Perm()&0o200 != 0 }

func diskFull(string) bool { return false }
