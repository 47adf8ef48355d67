package arena

import (
	"fmt"
	"os/exec"
	"path/filepath"
)

// Programs are the two builds of the program under test.
type Programs struct {
	Plain  string // as it is shipped
	Tagged string // with the tag faultpoints
}

// Build builds both programs from the module at root into a folder.
func Build(root, folder string) (Programs, error) {
	p := Programs{Plain: filepath.Join(folder, "creditonce"), Tagged: filepath.Join(folder, "creditonce-faultpoints")}
	for out, tags := range map[string]string{p.Plain: "", p.Tagged: "faultpoints"} {
		cmd := exec.Command("go", "build", "-trimpath", "-tags", tags, "-o", out, ".")
		cmd.Dir = root
		if text, err := cmd.CombinedOutput(); err != nil {
			return p, fmt.Errorf("build the program: %w\n%s", err, text)
		}
	}
	return p, nil
}
