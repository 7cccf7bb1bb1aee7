// The overlay as a whole: changed files, added files, and the list of both.
//
// Everything is inserted at positions that the syntax tree gives and without line breaks, so that
// lines keep their numbers. A version of Go in which something is not where it is expected is refused
// with a sentence that says what and where.

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
)

func overlay(root, hooks, out string) error {
	files, err := additions(root, hooks)
	if err != nil {
		return err
	}
	for _, change := range changes() {
		path := filepath.Join(root, "src", filepath.FromSlash(change.file))
		if files[change.file], err = change.apply(path); err != nil {
			return err
		}
	}
	replace := map[string]string{}
	for file, text := range files {
		to := filepath.Join(out, flat(file))
		if err := os.WriteFile(to, text, 0o644); err != nil {
			return err
		}
		replace[filepath.Join(root, "src", filepath.FromSlash(file))] = to
	}
	list, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "overlay.json"), list, 0o644)
}

// additions are the files that GOROOT does not have.
func additions(root, hooks string) (map[string][]byte, error) {
	added := map[string][]byte{}
	for file, hook := range map[string]string{
		"runtime/strait_map.go":    "runtime_map.go",
		"runtime/strait_hooks.go":  "runtime_hooks.go",
		"runtime/strait_locks.go":  "runtime_locks.go",
		"runtime/strait_select.go": "runtime_select.go",
		"runtime/strait_judge.go":  "runtime_judge.go",
		"sync/strait.go":           "sync_strait.go",
		"syscall/strait_linux.go":  "syscall_strait_linux.go",
		"testing/strait.go":        "testing_strait.go",
	} {
		text, err := os.ReadFile(filepath.Join(hooks, hook))
		if err != nil {
			return nil, err
		}
		added[file] = text
	}
	text, err := compatibility(root)
	added["runtime/strait_version.go"] = text
	return added, err
}

// flat is the name of a file in the folder of the overlay.
func flat(file string) string {
	return filepath.Base(filepath.Dir(filepath.FromSlash(file))) + "_" + filepath.Base(file)
}
