package main

import (
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"time"
)

// usage is what one process used, or those of a container: CPU time (user and system), and the most memory that each held
// at a time. Zero where the
// system does not tell (it does so on Linux).
type usage struct {
	CPU    float64 `json:"cpu_seconds"`
	Memory float64 `json:"peak_rss_mb"`
}

// meter measures processes by name.
type meter struct {
	pids   pids
	before map[string]float64
	began  time.Time
}

// clientsName is this process among those measured.
const clientsName = "clients"

// newMeter begins to measure: this process (the clients), the children, and others.
func newMeter(children []*child, others pids) *meter {
	m := &meter{pids: pids{clientsName: {os.Getpid()}}, before: map[string]float64{}}
	for _, c := range children {
		m.pids[c.role] = []int{c.cmd.Process.Pid}
	}
	maps.Copy(m.pids, others)
	for name, processes := range m.pids {
		for _, pid := range processes {
			_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0) // forget the peak so far
		}
		m.before[name] = sum(processes, cpuSeconds)
	}
	m.began = time.Now()
	return m
}

// read gives what each process used since.
func (m *meter) read() (elapsed float64, by map[string]usage) {
	elapsed = time.Since(m.began).Seconds()
	by = map[string]usage{}
	for name, processes := range m.pids {
		by[name] = usage{CPU: sum(processes, cpuSeconds) - m.before[name], Memory: sum(processes, peakMemory)}
	}
	return elapsed, by
}

func sum(processes []int, of func(pid int) float64) (total float64) {
	for _, pid := range processes {
		total += of(pid)
	}
	return total
}

// clockTick is how often a second the kernel counts for /proc/PID/stat, on every Linux that Go runs on.
const clockTick = 100

// cpuSeconds reads the fields utime and stime; the name before them may hold anything but ends in the last ")".
func cpuSeconds(pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const utime, stime = 11, 12
	if len(fields) <= stime {
		return 0
	}
	user, _ := strconv.ParseFloat(fields[utime], 64)
	system, _ := strconv.ParseFloat(fields[stime], 64)
	return (user + system) / clockTick
}

// peakMemory reads the highest resident size, in MB.
func peakMemory(pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 64)
			return kb / 1024
		}
	}
	return 0
}
