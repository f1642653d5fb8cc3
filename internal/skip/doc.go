// Package skip leaves a test out where the machine lacks what it needs, and never
// where everything it needs was installed for it.
//
//	_, err := exec.LookPath("curl")
//	skip.Missing(t, err)
//
// It leaves out what no package brings, such as namespaces or Landlock: a test that
// the kernel or its policy does not let run is skipped in CI too, and says why.
package skip
