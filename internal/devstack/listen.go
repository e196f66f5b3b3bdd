package devstack

import (
	"fmt"
	"net"
	"strconv"
)

// listenAddress splits a listen address; empty means any free loopback port.
func listenAddress(listen string) (host string, port int, err error) {
	if listen == "" {
		return "127.0.0.1", 0, nil
	}
	host, text, err := net.SplitHostPort(listen)
	if err != nil {
		return "", 0, fmt.Errorf("listen address: %w", err)
	}
	port, err = strconv.Atoi(text)
	if err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("listen address: %q is not a port", text)
	}
	return host, port, nil
}

// freePort gives the port if nobody listens on it now; 0 stands for any.
func freePort(host string, port int) (int, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return 0, err
	}
	port = l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}
