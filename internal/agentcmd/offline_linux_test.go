package agentcmd

import "testing"

func TestAnAgentThatIsNotRunLeavesNothing(t *testing.T) {
	command := play(t)
	command.Offline = true
	agent := prepareOffline(t, command)
	agent.Close()
	<-agent.confined.process.exited
}
