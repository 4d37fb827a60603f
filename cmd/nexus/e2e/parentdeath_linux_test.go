package e2e_test

import "syscall"

// dieWithParent has the kernel kill the process when the test binary ends without its clean-up, as after a timeout.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
