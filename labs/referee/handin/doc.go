// Package handin reads and writes the files of a student's folder as one who
// trusts nothing in it: a program that ran there may have left a pipe where a file
// is expected, which would hold up its reader for ever, or a link that leads out.
//
//	text, err := handin.Read("01-three-failures", "predict.txt", 16<<10)
//	…
//	err = handin.Write("01-three-failures", ".lab/progress.json", text)
//
// It leaves out what the files mean: see packages referee and folder.
package handin
