package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
)

// Samples of waiting: one for each so many nanoseconds that goroutines wait, and one of so many contended locks.
const (
	blockRate     = 10_000
	mutexFraction = 10
)

// obey carries out lines until the input ends: the path of a file, without its ending, begins profiles there; "end" writes
// them.
func obey(in io.Reader) {
	end := func() {}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		end()
		end = func() {}
		if path := lines.Text(); path != "end" {
			end = beginProfiles(path)
		}
	}
	end()
}

func beginProfiles(path string) (end func()) {
	f, err := os.Create(path + ".cpu.pprof")
	if err == nil {
		err = pprof.StartCPUProfile(f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: profile:", err)
		return func() {}
	}
	runtime.SetBlockProfileRate(blockRate)
	runtime.SetMutexProfileFraction(mutexFraction)
	return func() {
		pprof.StopCPUProfile()
		for _, name := range []string{"block", "mutex", "allocs", "goroutine"} {
			if err := writeProfile(name, path); err != nil {
				fmt.Fprintln(os.Stderr, "bench: profile:", err)
			}
		}
		_ = f.Close() // pprof has told what it could not write
		runtime.SetBlockProfileRate(0)
		runtime.SetMutexProfileFraction(0)
	}
}

func writeProfile(name, path string) error {
	f, err := os.Create(path + "." + name + ".pprof")
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return pprof.Lookup(name).WriteTo(f, 0)
}

// profiled runs do while the processes write profiles into the folder; without a folder it only runs it.
func profiled(folder, name string, processes []*child, do func() error) error {
	if folder == "" {
		return do()
	}
	folder, err := filepath.Abs(folder) // the stores' working directory is another
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, p := range processes {
		if err := p.tell(filepath.Join(folder, name+"-"+p.role)); err != nil {
			return err
		}
		defer func() { _ = p.tell("end") }() // a process that is gone has failed already
	}
	return do()
}
