package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Server is a running PostgreSQL.
type Server struct {
	URL  string // of its database, for pgx
	dir  string
	cmd  *exec.Cmd
	done chan struct{}
}

// ErrMissing says that the machine has no PostgreSQL.
var ErrMissing = errors.New("no PostgreSQL on this machine (Debian: apt-get install postgresql)")

// startWait bounds the start of a server.
const startWait = 60 * time.Second

// Start starts a server in a new temporary folder. settings are added to its
// command line ("fsync=on").
func Start(ctx context.Context, settings ...string) (*Server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	// Short: the path of a Unix socket has at most 107 bytes.
	dir, err := os.MkdirTemp("", "pg-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, done: make(chan struct{})}
	if err := s.start(ctx, bin, settings); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

func (s *Server) start(ctx context.Context, bin string, settings []string) error {
	data := filepath.Join(s.dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		return err
	}
	// The server refuses to run as root.
	var as *user.User
	if os.Geteuid() == 0 {
		var err error
		if as, err = user.Lookup("postgres"); err != nil {
			if as, err = user.Lookup("nobody"); err != nil {
				return err
			}
		}
		for _, path := range []string{s.dir, data} {
			uid, gid := ids(as)
			if err := os.Chown(path, uid, gid); err != nil {
				return err
			}
		}
	}
	init := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	own(init, as, s.dir)
	if out, err := init.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, bytes.TrimSpace(out))
	}
	args := []string{"-D", data, "-k", s.dir}
	for _, set := range append([]string{"listen_addresses=", "fsync=off", "max_connections=200"}, settings...) {
		args = append(args, "-c", set)
	}
	s.cmd = exec.Command(filepath.Join(bin, "postgres"), args...)
	own(s.cmd, as, s.dir)
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		return err
	}
	go func() {
		_ = s.cmd.Wait() // how it ended is of interest only before it was ready
		close(s.done)
	}()
	s.URL = "postgres://postgres@/postgres?host=" + s.dir
	if err := s.ready(ctx); err != nil {
		text, _ := os.ReadFile(log.Name())
		return errors.Join(fmt.Errorf("postgres: %w: %s", err, bytes.TrimSpace(text)), s.halt())
	}
	return nil
}

// ready waits until the server takes connections.
func (s *Server) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, s.URL)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-s.done:
			return errors.New("it ended at once")
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Stop ends the server and removes its folder.
func (s *Server) Stop() error {
	return errors.Join(s.halt(), os.RemoveAll(s.dir))
}

func (s *Server) halt() error {
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-s.done:
		return nil
	case <-time.After(startWait):
		return s.cmd.Process.Kill()
	}
}

// binaries returns the folder of the newest server that is installed.
func binaries() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", ErrMissing
	}
	major := func(path string) int {
		n, _ := strconv.Atoi(strings.Split(path, "/")[4])
		return n
	}
	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return major(a) - major(b) })), nil
}

func ids(u *user.User) (uid, gid int) {
	uid, _ = strconv.Atoi(u.Uid)
	gid, _ = strconv.Atoi(u.Gid)
	return uid, gid
}
