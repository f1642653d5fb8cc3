// Package report writes a grading as one HTML page that needs nothing else: no
// script, no font, no picture from elsewhere.
//
//	err := report.Write(w, grade)
//
// For each scenario it draws two lanes over time, the program's and the
// partner's, with the limits as lines and what went on beyond the last of them
// shaded; under it stand all checks with what was seen and what was expected.
//
// What a program wrote is foreign text: html/template escapes it. It leaves out
// comparing several gradings: a page is one run.
package report
