package referee

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"chaoslab/labs/sandbox"
)

// privateLab is an exercise with one scenario in a private network and one beside it.
func privateLab(t *testing.T) *Lab {
	t.Helper()
	lab, err := Load(fstest.MapFS{"lab.yaml": &fstest.MapFile{Data: []byte(`
number: 99
name: test
title: a test
minutes: 1
hints: [a, b, c]
scenarios:
  - name: inside
    tells: nothing
    syn_retries: 1
    partners: [{name: shop, faults: [connect-timeout]}]
    checks: [{check: said, word: "` + blackHoleURL() + ` inside 1 refused"}]
  - name: beside
    tells: nothing
    partners: [{name: shop, faults: [ok]}]
    checks: [{check: said, word: done}]
`)}})
	if err != nil {
		t.Fatal(err)
	}
	return lab
}

// TestPrivateNetwork holds that the program is in a network of its own, confined
// there too, and that nothing of it is left.
func TestPrivateNetwork(t *testing.T) {
	t.Parallel()
	if err := sandbox.Available(); err != nil {
		t.Skip(err)
	}
	p := prepare(t, `case $LAB_URL in http://127.*) echo done; exit ;; esac
n=$(grep -c blackhole0 /proc/net/dev)
sleep 60 &
if (echo x >../new) 2>/dev/null; then w=written; else w=refused; fi
echo "$LAB_URL inside $n $w"
`)
	if !p.confined {
		t.Skip("without Landlock nothing is refused")
	}
	g, err := Run(t.Context(), privateLab(t), p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range g.Scenarios {
		for _, f := range r.Findings {
			if f.Verdict != Pass {
				t.Errorf("%s: %+v; %+v", r.Name, f, r.Seen.Lines)
			}
		}
	}
	if len(g.Scenarios) != 2 || len(g.LeftOut) != 0 {
		t.Errorf("%d scenarios run, left out %v; want two and none", len(g.Scenarios), g.LeftOut)
	}
	stillThere(t, p)
}

// TestLeftOut holds that a scenario that cannot be run fails nobody and is named.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/"+RunFile, []byte("echo done\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := Prepare(t.Context(), ProgramConfig{Dir: dir, Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	g, err := Run(t.Context(), privateLab(t), p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if g.Verdict != Pass || g.Confined || len(g.Scenarios) != 1 || len(g.LeftOut) != 1 || g.LeftOut[0].Name != "inside" || !strings.Contains(g.LeftOut[0].Why, "private network") {
		t.Errorf("verdict %s, confined %v, %d run, left out %v; want a pass and that inside was left out", g.Verdict, g.Confined, len(g.Scenarios), g.LeftOut)
	}
}
