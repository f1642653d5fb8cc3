package budgetcaller

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func begin(t *testing.T, parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	t.Helper()
	ctx, cancel, err := Begin(parent, d)
	if err != nil {
		t.Fatal(err)
	}
	return ctx, cancel
}

// A budget's context behaves as context.WithTimeout's does.
func TestBudgetIsAContext(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		run  func(t *testing.T)
	}{
		{"Done at the deadline, not before", func(t *testing.T) {
			start := time.Now()
			ctx, cancel := begin(t, context.Background(), time.Second)
			defer cancel()
			<-ctx.Done()
			if took := time.Since(start); took != time.Second || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				t.Errorf("done after %v, %v", took, ctx.Err())
			}
		}},
		{"Err at the deadline though nobody waits", func(t *testing.T) {
			ctx, cancel := begin(t, context.Background(), time.Second)
			defer cancel()
			time.Sleep(999 * time.Millisecond)
			if err := ctx.Err(); err != nil {
				t.Errorf("before: %v", err)
			}
			time.Sleep(time.Millisecond)
			if err := ctx.Err(); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("after: %v", err)
			}
		}},
		{"cancel", func(t *testing.T) {
			ctx, cancel := begin(t, context.Background(), time.Second)
			cancel()
			<-ctx.Done()
			time.Sleep(2 * time.Second)
			if !errors.Is(ctx.Err(), context.Canceled) || !errors.Is(context.Cause(ctx), context.Canceled) {
				t.Errorf("got %v, cause %v", ctx.Err(), context.Cause(ctx))
			}
		}},
		{"the parent's cancel", func(t *testing.T) {
			parent, stop := context.WithCancel(context.Background())
			ctx, cancel := begin(t, parent, time.Second)
			defer cancel()
			stop()
			<-ctx.Done()
			if !errors.Is(ctx.Err(), context.Canceled) {
				t.Errorf("got %v", ctx.Err())
			}
		}},
		{"the parent's earlier deadline", func(t *testing.T) {
			start := time.Now()
			parent, stop := begin(t, context.Background(), time.Second)
			defer stop()
			ctx, cancel := begin(t, parent, time.Minute)
			defer cancel()
			if left, ok := Left(ctx); !ok || left != time.Second {
				t.Errorf("left %v", left)
			}
			<-ctx.Done()
			if took := time.Since(start); took != time.Second {
				t.Errorf("done after %v", took)
			}
		}},
		{"children end with it", func(t *testing.T) {
			ctx, cancel := begin(t, context.Background(), time.Second)
			defer cancel()
			var ended []context.Context
			for range 3 {
				child, stop := context.WithCancel(ctx)
				defer stop()
				ended = append(ended, child)
			}
			sooner, stop := context.WithTimeout(ctx, time.Millisecond)
			defer stop()
			<-sooner.Done()
			for _, child := range ended {
				<-child.Done()
			}
			if _, ok := Left(ended[0]); !ok || ctx.Err() == nil {
				t.Errorf("children ended before it")
			}
		}},
		{"AfterFunc and its stop", func(t *testing.T) {
			ctx, cancel := begin(t, context.Background(), time.Second)
			defer cancel()
			ran := make(chan string, 3)
			stop := context.AfterFunc(ctx, func() { ran <- "stopped" })
			context.AfterFunc(ctx, func() { ran <- "first" })
			if !stop() || stop() {
				t.Error("stop")
			}
			if got := <-ran; got != "first" {
				t.Errorf("ran %s", got)
			}
			context.AfterFunc(ctx, func() { ran <- "after the end" })
			if got := <-ran; got != "after the end" {
				t.Errorf("ran %s", got)
			}
		}},
		{"no limit", func(t *testing.T) {
			ctx, cancel := begin(t, context.Background(), NoLimit)
			time.Sleep(MaxLimit)
			if _, ok := ctx.Deadline(); ok || ctx.Err() != nil {
				t.Error("it has a deadline")
			}
			cancel()
			<-ctx.Done()
		}},
	} {
		t.Run(tt.name, func(t *testing.T) { synctest.Test(t, tt.run) })
	}
}
