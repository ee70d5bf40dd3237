package agentcmd

import (
	"os"
	"os/signal"
	"syscall"
)

// signals are those that we get and pass on.
type signals struct {
	got            chan os.Signal
	done, finished chan struct{}
	ending         bool // one came that would have ended us; to be read after release
}

// catch begins to keep the signals that would end us. One that we were started
// to ignore, as nohup does it, stays ignored.
func catch() *signals {
	s := &signals{got: make(chan os.Signal, 8), done: make(chan struct{}), finished: make(chan struct{})}
	var passed []os.Signal
	for _, one := range forwarded {
		if !signal.Ignored(one) {
			passed = append(passed, one)
		}
	}
	signal.Notify(s.got, passed...)
	return s
}

// forward passes on to the program what came and what comes.
func (s *signals) forward(p *process) {
	go func() {
		defer close(s.finished)
		for {
			select {
			case one := <-s.got:
				s.note(one)
				p.signal(one)
			case <-s.done:
				return
			}
		}
	}()
}

// release gives the signals back. Nothing is forwarded when it returns.
func (s *signals) release(forwarding bool) {
	signal.Stop(s.got)
	close(s.done)
	if forwarding {
		<-s.finished
	}
	for len(s.got) > 0 { // what came as the program ended
		s.note(<-s.got)
	}
}

// note remembers a signal that asks to end.
func (s *signals) note(one os.Signal) {
	switch one {
	case os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGHUP:
		s.ending = true
	}
}
