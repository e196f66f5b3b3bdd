package cluster

import "syscall"

// dieWithUs ends a process when the test does, however that ends.
func dieWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
