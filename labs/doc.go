// Package labs holds the exercises, each a numbered folder with its task, its
// scenarios, starters, solutions and wrong programs that must fail.
//
//	lab, err := labs.Find(1)
//
// The folders are data: nobody imports them, they are embedded here, one line an
// exercise. What judges them is package referee; what a student's folder is like,
// package referee/folder. The other packages beside the folders are what
// exercises rest on.
//
// It leaves out everything that runs: see caller lab.
package labs
