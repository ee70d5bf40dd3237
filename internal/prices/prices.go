// Package prices tells what tokens of a model cost: from the small table in
// this folder, or from a file of the user's in the same form. A model that is
// not in the table has no price; nothing is guessed from a similar name.
package prices

import (
	_ "embed"
	"fmt"
	"os"
	"sync"

	"github.com/tapetree/tapetree/runtime"
)

// Table holds the price of each model that is known.
type Table struct {
	File   string // as messages name it
	AsOf   string // YYYY-MM-DD: when the prices were looked up
	Note   string // what a reader should know of them
	prices map[string]Price
}

// Price is what one token of each kind costs.
type Price struct {
	Input  Amount
	Cached Amount // of an input token that the upstream had in its cache
	Output Amount
}

//go:embed list.json
var list []byte

// List returns the table inside the program: list prices of a few vendors on
// one day.
var List = sync.OnceValue(func() *Table {
	table, err := Parse("builtin:prices", list)
	if err != nil {
		panic(fmt.Errorf("the price list inside the program: %w", err))
	}
	return table
})

// Read reads a table from a file. A file that is wrong gives a
// *transcripts.SyntaxError with its line.
func Read(path string) (*Table, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read prices: %w", err)
	}
	return Parse(path, data)
}

// Of returns the price of a model, and whether it is known. The name must be
// the very one in the table.
func (t *Table) Of(model string) (Price, bool) {
	price, known := t.prices[model]
	return price, known
}

// Cost is what usage of a model costs, and whether its price is known.
func (t *Table) Cost(model string, usage runtime.Usage) (Amount, bool) {
	price, known := t.Of(model)
	cached := min(usage.Cached, usage.Input)
	return price.Input*Amount(usage.Input-cached) + price.Cached*Amount(cached) + price.Output*Amount(usage.Output), known
}
