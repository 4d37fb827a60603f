package engine

import "syscall"

// processAttributes also asks the kernel to kill the engine when its owner dies, in addition to the data's lock.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
