package scenarios

import (
	"testing"

	"gotest.tools/v3/assert"
)

func TestVolatileUsesAreInOrder(t *testing.T) {
	assert.Equal(t, volatileUses(map[string]int{"rule 10": 3, "rule 2": 2, "uuids": 4, "dates": 1}), "dates 1, rule 2 2, rule 10 3, uuids 4")
	assert.Equal(t, volatileUses(nil), "")
}
