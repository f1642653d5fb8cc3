// Package folder lays a student's folder for an exercise and keeps the progress
// in it.
//
//	f, err := folder.Lay(lab, "python", "01-three-failures")
//	…
//	f, err = folder.Open("01-three-failures")
//	p := f.Progress
//
// A folder holds the task (TASK.md), a starter, the file "run" with the command
// that starts it, predict.txt and, under .lab, the progress and the last grading.
// It can be moved, copied and handed in as it is.
//
// It leaves out running anything: see package referee.
package folder
