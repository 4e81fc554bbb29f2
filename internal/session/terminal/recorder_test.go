package terminal

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"golang.org/x/term"
)

// record is the program that tests run in a pane: it passes on every byte that it is
// given. It shows TERMINAL_SCREEN first, and asks to be told of pastes.
func record(socket string) int {
	if err := pass(socket); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func pass(socket string) error {
	if _, err := term.MakeRaw(int(os.Stdin.Fd())); err != nil {
		return err
	}
	content, err := os.ReadFile(os.Getenv("TERMINAL_SCREEN"))
	if err != nil && os.Getenv("TERMINAL_SCREEN") != "" {
		return err
	}
	shown := strings.ReplaceAll(strings.TrimSuffix(string(content), "\n"), "\n", "\r\n")
	// The terminal says where its cursor is when it has done all the rest.
	fmt.Print(shown, "\x1b[?2004h\x1b[6n")
	in := bufio.NewReader(os.Stdin)
	if _, err := in.ReadString('R'); err != nil {
		return err
	}
	out, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	defer out.Close()
	_, err = io.Copy(out, in)
	return err
}
