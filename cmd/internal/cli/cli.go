package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The exit codes of both commands.
const (
	ExitOK           = 0   // done, whatever was measured
	ExitFailed       = 1   // an expectation or a check failed, or an error
	ExitUsage        = 2   // wrong usage
	ExitInconclusive = 3   // a lab's verdict is inconclusive
	ExitInterrupted  = 130 // SIGINT, SIGTERM or SIGQUIT
	exitQuit         = 131 // a second SIGQUIT
)

// Streams are where a command reads and writes.
type Streams struct {
	In  io.Reader
	Out io.Writer // results
	Err io.Writer // narration, progress and errors
}

// Main runs the command that build makes with the process's arguments and
// streams, and exits. SIGINT, SIGTERM and SIGQUIT cancel the command's context; a
// second one ends the process at once. SIGQUIT prints no stacks, as Go has it by
// default: Ctrl-\ is one more way to give up.
func Main(build func(Streams) *cobra.Command) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	ctx, quit := context.WithCancel(ctx)
	quits := make(chan os.Signal, 2)
	signal.Notify(quits, syscall.SIGQUIT)
	go func() {
		<-quits
		quit()
		<-quits
		os.Exit(exitQuit)
	}()
	os.Exit(Run(ctx, build, os.Args[1:], Streams{os.Stdin, os.Stdout, os.Stderr}))
}

// Run runs the command that build makes and returns its exit code. An error is
// written to s.Err as one line.
func Run(ctx context.Context, build func(Streams) *cobra.Command, args []string, s Streams) int {
	root := build(s)
	root.SetArgs(args)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetHelpCommand(newHelp())
	root.SetUsageFunc(usage)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return Usagef("%v; try %q", flagError(err), cmd.CommandPath()+" --help")
	})
	checkArgs(root)
	return report(root.Name(), root.ExecuteContext(ctx), s.Err)
}

// flagError says what pflag and strconv say of a number in words for people.
func flagError(err error) error {
	var value *pflag.InvalidValueError
	var number *strconv.NumError
	if !errors.As(err, &value) || !errors.As(err, &number) {
		return err
	}
	if errors.Is(number, strconv.ErrRange) {
		return fmt.Errorf("invalid argument %q for --%s: out of range", value.GetValue(), value.GetFlag().Name)
	}
	return fmt.Errorf("invalid argument %q for --%s: not a number it takes", value.GetValue(), value.GetFlag().Name)
}

// checkArgs makes the wrong number of arguments an error of usage, for cmd and
// all commands under it: cobra's own check says nothing of that.
func checkArgs(cmd *cobra.Command) {
	if cmd.Args == nil && cmd.HasParent() && cmd.HasSubCommands() {
		cmd.Args = onlyCommands // cobra has that for the root alone
	}
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			var coded *codedError
			if err == nil || errors.As(err, &coded) {
				return err
			}
			return Usagef("%w; try %q", err, cmd.CommandPath()+" --help")
		}
	}
	for _, sub := range cmd.Commands() {
		checkArgs(sub)
	}
}

// onlyCommands refuses what is no command under cmd, and names what was probably
// meant.
func onlyCommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	meant := ""
	cmd.SuggestionsMinimumDistance = 2 // cobra's own, which it sets for the root alone
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		meant = " Did you mean this? " + strings.Join(near, ", ")
	}
	return fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), meant)
}

// newHelp returns the help command. Unlike cobra's own it does not take an
// unknown topic for a success.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "help about a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return Usagef("no help on %q; try %q", strings.Join(args, " "), cmd.Root().Name()+" --help")
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

func report(name string, err error, w io.Writer) int {
	if err == nil {
		return ExitOK
	}
	var coded *codedError
	if !errors.As(err, &coded) {
		coded = &codedError{code: ExitFailed, err: err}
		// cobra has no type for an unknown command, the one error it makes
		// itself after the flags were parsed.
		if strings.HasPrefix(err.Error(), "unknown command") {
			coded = &codedError{ExitUsage, fmt.Errorf("%s; try %q", strings.TrimSpace(err.Error()), name+" --help")}
		}
	}
	if coded.err != nil {
		line := strings.Join(strings.Fields(coded.err.Error()), " ")
		fmt.Fprintf(w, "%s: %s\n", name, line)
	}
	return coded.code
}

// codedError is an error with the exit code it leads to.
type codedError struct {
	code int
	err  error // nil: exit without a line
}

func (e *codedError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *codedError) Unwrap() error { return e.err }

// Usagef returns an error that ends the command with ExitUsage.
func Usagef(format string, args ...any) error {
	return &codedError{ExitUsage, fmt.Errorf(format, args...)}
}

// Exit returns an error that ends the command with code, after the line of err
// if it is not nil.
func Exit(code int, err error) error { return &codedError{code, err} }
