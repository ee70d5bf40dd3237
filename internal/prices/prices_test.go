package prices

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
)

const own = `{
  "as_of": "2025-01-31",
  "currency": "USD",
  "note": "ours",
  "models": [
    {"model": "large", "input": 2.50, "cached": 1.25, "output": 10},
    {"model": "plain", "input": 0.000001, "output": 0}
  ]
}
`

func TestTokensCostWhatTheTableSays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own.json")
	assert.NilError(t, os.WriteFile(path, []byte(own), 0o600))
	table, err := Read(path)
	assert.NilError(t, err)
	assert.DeepEqual(t, []string{table.File, table.AsOf, table.Note}, []string{path, "2025-01-31", "ours"})
	for _, c := range []struct {
		model string
		usage runtime.Usage
		want  string
		known bool
	}{
		{"large", runtime.Usage{Input: 1_000_000}, "$2.500000", true},
		{"large", runtime.Usage{Input: 1000, Cached: 400, Output: 100, Reasoning: 50}, "$0.003000", true},
		{"large", runtime.Usage{Input: 1, Cached: 5}, "$0.000001", true}, // no more is cached than was sent
		{"plain", runtime.Usage{Input: 1_000_000, Cached: 1_000_000, Output: 9}, "$0.000001", true},
		{"large-2025-01-01", runtime.Usage{Input: 1_000_000}, "$0.000000", false}, // a name that is nearly known is not known
		{"", runtime.Usage{}, "$0.000000", false},
	} {
		cost, known := table.Cost(c.model, c.usage)
		assert.Equal(t, cost.String(), c.want, c.model)
		assert.Equal(t, known, c.known, c.model)
	}
}

func TestTheListInsideTheProgramIsWhole(t *testing.T) {
	price, known := List().Of("gpt-4.1-mini")
	assert.Equal(t, price, Price{Input: 400_000, Cached: 100_000, Output: 1_600_000})
	assert.Assert(t, known && List().Note != "")
	for model, price := range List().prices {
		assert.Assert(t, price.Cached <= price.Input && price.Input < price.Output, model)
	}
}

func TestATableThatIsWrongIsRefusedWithItsLine(t *testing.T) {
	table := func(models string) string {
		return "{\"as_of\": \"2025-01-31\",\n\"currency\": \"USD\",\n\"models\": [\n" + models + "\n]}\n"
	}
	for _, c := range []struct{ rule, text, want string }{
		{"nothing", "", "p.json:1: no JSON: EOF"},
		{"no object", "[]", "p.json:1: the table is an object"},
		{"a table that breaks off", "{\"as_of\": \"2025-01-31\",", "p.json:1: no JSON: unexpected EOF"},
		{"something behind", table("") + "{}", "p.json:6: something stands after the table"},
		{"an unknown member", "{\n\"asof\": 1}", `p.json:2: the table has no member "asof"`},
		{"a member twice", "{\"note\": \"a\",\n\"note\": \"b\"}", "p.json:1: a member is there twice"},
		{"a member missing", "{\"note\": \"a\"}", `p.json:1: the table needs the member "as_of"`},
		{"no date", "{\"as_of\": \"2025-13-01\"}", "p.json:1: \"2025-13-01\" is not a date, as in 2025-10-01"},
		{"another currency", "{\n\n\"currency\": \"EUR\"}", `p.json:3: "EUR" is not "USD"; other currencies are not known`},
		{"no list", "{\"models\": {}}", "p.json:1: models is a list"},
		{"no model", table("7"), "p.json:4: a model is an object"},
		{"a model without a name", table(`{"input": 1, "output": 1}`), `p.json:4: a model needs the member "model"`},
		{"a model without a price", table(`{"model": "a", "output": 1}`), `p.json:4: a model needs the member "input"`},
		{"a model twice", table("{\"model\": \"a\", \"input\": 1, \"output\": 1},\n{\"model\": \"a\", \"input\": 1, \"output\": 1}"), `p.json:5: the model "a" is there twice`},
		{"an empty name", table(`{"model": ""}`), `p.json:4: "" is not the name of a model`},
		{"a price below nothing", table(`{"model": "a", "input": -1}`), `p.json:4: price: "-1" is no plain decimal number, as in 0.25`},
		{"a price in words", table(`{"model": "a", "input": "1"}`), `p.json:4: price: "\"1\"" is no plain decimal number, as in 0.25`},
		{"a price with an exponent", table(`{"model": "a", "input": 1e3}`), `p.json:4: price: "1e3" is no plain decimal number, as in 0.25`},
		{"a price too fine", table(`{"model": "a", "input": 0.0000001}`), `p.json:4: price: "0.0000001" has more than 6 decimals`},
		{"a price too large", table(`{"model": "a", "input": 1000000.1}`), `p.json:4: price: "1000000.1" is more than 1000000`},
		{"a price far too large", table(`{"model": "a", "input": 99999999999999999999}`), `p.json:4: price: "99999999999999999999" is more than 1000000`},
	} {
		_, err := Parse("p.json", []byte(c.text))
		assert.Error(t, err, c.want, c.rule)
	}
	_, err := Read(filepath.Join(t.TempDir(), "none.json"))
	assert.Assert(t, errors.Is(err, fs.ErrNotExist))
}

func TestSumsAreReadAsTheyAreWritten(t *testing.T) {
	for text, shown := range map[string]string{"0.25": "$0.250000", "12": "$12.000000", "0.000001": "$0.000001", "1000000": "$1000000.000000"} {
		sum, err := Dollars(text)
		assert.NilError(t, err)
		assert.Equal(t, sum.String(), shown)
		assert.Equal(t, sum.Decimal(), text)
	}
	assert.Equal(t, Amount(1).Decimal(), "0.000000000001")
	for _, text := range []string{"", ".5", "5.", "01", "+1", "1_0", "1,5", "NaN", " 1"} {
		_, err := Dollars(text)
		assert.ErrorContains(t, err, "is no plain decimal number", text)
	}
}

func TestUsageIsSummedByTheModelThatWasAsked(t *testing.T) {
	child := func(model string, input int) *runtime.Run {
		return &runtime.Run{Model: model, Usage: runtime.Usage{Input: input, Output: 1}}
	}
	run := &runtime.Run{Model: "large", Usage: runtime.Usage{Input: 1_000_000}, Turns: []runtime.Turn{
		{Answer: &runtime.Answer{Usage: runtime.Usage{Input: 600_000}}, Calls: []runtime.CallRecord{
			{Child: child("small", 10)}, {Child: child("large", 2)}, {Child: child("small", 5)},
		}},
		{},
		{Answer: &runtime.Answer{Usage: runtime.Usage{Input: 400_000}}},
	}}
	assert.DeepEqual(t, ByModel(run), []ModelUsage{
		{Model: "large", Agents: 2, Usage: runtime.Usage{Input: 1_000_002, Output: 1}},
		{Model: "small", Agents: 2, Usage: runtime.Usage{Input: 15, Output: 2}},
	})
	assert.Equal(t, Context(run), 600_000)
	table, err := Parse("own.json", []byte(own))
	assert.NilError(t, err)
	cost, unknown := table.TreeCost(run)
	assert.Equal(t, cost.String(), "$2.500015")
	assert.DeepEqual(t, unknown, []string{"small"})
}

// A table never panics, and what it gives costs nothing below zero.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{own, string(list), "", "{}", `{"models":[{}]}`, `{"as_of":"2025-01-01","currency":"USD","models":[{"model":"a","input":1,"output":1}]}x`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := Parse("f.json", data)
		if err != nil {
			return
		}
		for model := range table.prices {
			cost, known := table.Cost(model, runtime.Usage{Input: 1 << 20, Cached: 5, Output: 1 << 20})
			assert.Assert(t, known && cost >= 0)
		}
	})
}
