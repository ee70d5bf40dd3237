package scenarios

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tapetree/tapetree/runtime"
)

func setInterrupt(s *Scenario, value string) error {
	agent, turn, call, err := parsePlace(value)
	if err != nil {
		return err
	}
	s.Interrupt = &Interrupt{Agent: agent, Turn: turn, Call: call}
	return nil
}

func formatInterrupt(s *Scenario) string {
	if s.Interrupt == nil {
		return ""
	}
	return formatPlace(s.Interrupt.Agent, s.Interrupt.Turn, s.Interrupt.Call)
}

// parsePlace reads AGENT#TURN or AGENT#TURN.CALL; call is 0 when there is none.
func parsePlace(text string) (agent runtime.Path, turn, call int, err error) {
	wrong := fmt.Errorf("%q is no place AGENT#TURN or AGENT#TURN.CALL, as in root#2 or root/2.1#1.3", text)
	left, right, found := strings.Cut(text, "#")
	if !found {
		return "", 0, 0, wrong
	}
	if agent, err = runtime.ParsePath(left); err != nil {
		return "", 0, 0, err
	}
	before, after, dotted := strings.Cut(right, ".")
	if turn, err = positive(before); err != nil {
		return "", 0, 0, wrong
	}
	if dotted {
		if call, err = positive(after); err != nil {
			return "", 0, 0, wrong
		}
	}
	return agent, turn, call, nil
}

func formatPlace(agent runtime.Path, turn, call int) string {
	place := string(agent) + "#" + strconv.Itoa(turn)
	if call > 0 {
		place += "." + strconv.Itoa(call)
	}
	return place
}
