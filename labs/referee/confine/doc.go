// Package confine starts a command that can write only where it is told, by
// Landlock, which the Linux kernel has had since 5.13. No root is needed.
//
//	if code, handled := confine.Main(os.Args); handled {
//		os.Exit(code) // first in main
//	}
//	…
//	cmd := exec.Command("python3", "main.py")
//	c, err := confine.Wrap(cmd, []string{dir, tmp}) // before Start
//	…
//	err = cmd.Start()
//	err = c.Started(err) // why the command itself did not start, if so
//
// What the command may not write fails with EACCES, for its children too. It can
// read and execute everything that its user can. Where the kernel allows it
// (6.12), it cannot send signals to processes that it did not start.
//
// The program runs itself again to get confined, and becomes the command by
// exec: nothing of what is done to the process reaches the one that started it.
//
// Left out: it bounds accidents, not malice. Reading and the network are free, a
// file's mode and times can be changed anywhere, and what has been opened stays
// open.
package confine
