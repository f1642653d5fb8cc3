package repo

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestREADMELibraryBuilds builds the README's program in a module of its own
// with the README's go.mod, the clone in the folder beside it, as the README
// says, and with no network.
func TestREADMELibraryBuilds(t *testing.T) {
	t.Parallel()
	var goMod, program string
	for _, block := range fence.FindAllStringSubmatch(readFile(t, "README.md"), -1) {
		switch block[1] {
		case "":
			goMod = block[2]
		case "go":
			program = block[2]
		}
	}
	if goMod == "" || program == "" {
		t.Fatalf("README.md holds go.mod %q and program %q, want both", goMod, program)
	}
	clone, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(clone, filepath.Join(dir, module)); err != nil {
		t.Fatal(err)
	}
	shop := filepath.Join(dir, "shop")
	if err := os.Mkdir(shop, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"go.mod": goMod, "main.go": program} {
		if err := os.WriteFile(filepath.Join(shop, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// -mod=mod adds what "go mod tidy" would, but asks for no more than the
	// program needs: that is in the module cache, as this test was built.
	cmd := exec.CommandContext(t.Context(), "go", "vet", "-mod=mod", ".")
	cmd.Dir = shop
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOPROXY=off", "GOSUMDB=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %v\n%s\ngo.mod:\n%s\nmain.go:\n%s", cmd, err, out, goMod, program)
	}
}
