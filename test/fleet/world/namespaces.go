//go:build unix

package world

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// namespaces are network namespaces that a bridge connects. Each is held by a process, so that it is gone when the
// last process in it has ended, also after a panic.
type namespaces struct {
	machines []holder
	bridge   holder
}

// holder is a process that does nothing in a namespace of its own.
type holder struct {
	cmd  *exec.Cmd
	link string // what /proc says of its namespace
}

// Namespaces is a network of namespaces. Only root can make it.
func Namespaces(machines int, mark []string) (_ Network, err error) {
	n := &namespaces{}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.Close())
		}
	}()
	if n.bridge, err = hold(mark); err != nil {
		return nil, err
	}
	if err := n.bridge.run("ip", "link", "add", "name", "bridge", "type", "bridge"); err != nil {
		return nil, err
	}
	if err := n.bridge.run("ip", "link", "set", "bridge", "up"); err != nil {
		return nil, err
	}
	for i := range machines {
		h, err := hold(mark)
		if err != nil {
			return nil, err
		}
		n.machines = append(n.machines, h)
		if err := n.plug(i); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// hold starts a holder.
func hold(mark []string) (holder, error) {
	cmd := exec.Command("unshare", "--net", "sh", "-c", "ip link set lo up && echo ready && exec sleep infinity")
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, mark...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return holder{}, err
	}
	if err := cmd.Start(); err != nil {
		return holder{}, err
	}
	h := holder{cmd: cmd}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return h, errors.Join(fmt.Errorf("make a network namespace: %q: %w", line, err), h.end())
	}
	h.link, err = os.Readlink(h.path())
	return h, err
}

func (h holder) path() string { return fmt.Sprintf("/proc/%d/ns/net", h.cmd.Process.Pid) }

func (h holder) end() error {
	_ = h.cmd.Process.Kill() // it may have ended
	_ = h.cmd.Wait()         // it was killed
	return nil
}

// inside has a command run in the namespace, under the same process id.
func (h holder) inside(cmd *exec.Cmd) {
	program := cmd.Path
	nsenter, err := exec.LookPath("nsenter")
	if err != nil {
		cmd.Err = err
		return
	}
	cmd.Args = append([]string{"nsenter", "--net=" + h.path(), "--", program}, cmd.Args[1:]...)
	cmd.Path = nsenter
}

func (h holder) run(name string, args ...string) error { return h.feed("", name, args...) }

// feed runs a command that reads a text.
func (h holder) feed(text, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	h.inside(cmd)
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// rules drop what comes from the addresses in a set: on the receiver's side, so that the sender hears nothing.
const rules = `
table inet fleet {
	set cut { type ipv4_addr; }
	chain input {
		type filter hook input priority 0;
		ip saddr @cut drop
	}
}
`

// plug connects a machine to the bridge.
func (n *namespaces) plug(i int) error {
	h, port := n.machines[i], fmt.Sprintf("port%d", i)
	for _, step := range []struct {
		in   holder
		args []string
	}{
		{n.bridge, []string{"link", "add", "name", port, "type", "veth", "peer", "name", "eth0", "netns", fmt.Sprint(h.cmd.Process.Pid)}},
		{n.bridge, []string{"link", "set", port, "master", "bridge", "up"}},
		{h, []string{"addr", "add", n.Address(i) + "/24", "dev", "eth0"}},
		{h, []string{"link", "set", "eth0", "up"}},
	} {
		if err := step.in.run("ip", step.args...); err != nil {
			return err
		}
	}
	return h.feed(rules, "nft", "-f", "-")
}

func (n *namespaces) Name() string { return "namespaces" }

func (n *namespaces) Address(i int) string { return fmt.Sprintf("10.77.0.%d", i+1) }

// firstPort is the port of those who want any: nothing else listens in a namespace of ours.
const firstPort = 4222

func (n *namespaces) Behind(i int) string { return n.Address(i) }

func (n *namespaces) Open(_, port int) (int, error) { return cmp.Or(port, firstPort), nil }

func (n *namespaces) Inside(i int, cmd *exec.Cmd) { n.machines[i].inside(cmd) }

func (n *namespaces) Cut(from, to int) error { return n.element("add", from, to) }

// An element that is not there cannot be deleted: it is added first, in the same transaction.
func (n *namespaces) Heal(from, to int) error {
	return errors.Join(n.element("add", from, to), n.element("delete", from, to))
}

func (n *namespaces) element(do string, from, to int) error {
	return n.machines[to].run("nft", do, "element", "inet", "fleet", "cut", "{ "+n.Address(from)+" }")
}

// Left are the processes in our namespaces: each keeps one alive.
func (n *namespaces) Left() (left []string) {
	ours := map[string]bool{}
	for _, h := range append([]holder{n.bridge}, n.machines...) {
		ours[h.link] = true
	}
	links, _ := filepath.Glob("/proc/[0-9]*/ns/net")
	for _, path := range links {
		if link, err := os.Readlink(path); err == nil && ours[link] {
			left = append(left, strings.Split(path, "/")[2]+" in "+link)
		}
	}
	return left
}

func (n *namespaces) Close() (err error) {
	for _, h := range append([]holder{n.bridge}, n.machines...) {
		if h.cmd != nil {
			err = errors.Join(err, h.end())
		}
	}
	return err
}
