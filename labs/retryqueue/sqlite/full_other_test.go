//go:build !linux

package sqlite_test

import "errors"

func onFullDisk(string) error { return errors.ErrUnsupported }
