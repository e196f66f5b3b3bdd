//go:build !linux

package cluster

import "syscall"

// dieWithUs is for Linux only: elsewhere a test that is killed leaves its processes behind.
func dieWithUs() *syscall.SysProcAttr { return nil }
