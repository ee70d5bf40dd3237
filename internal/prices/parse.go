package prices

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/transcripts"
)

// Parse reads a table:
//
//	{"as_of": "2025-10-01", "currency": "USD", "note": "…", "models": [
//	  {"model": "NAME", "input": 2.00, "cached": 0.50, "output": 8.00}
//	]}
//
// Prices are dollars for a million tokens; without cached, cached input costs
// what other input costs. A member that is unknown, twice or missing, a model
// that is twice and a price that is no plain decimal number are errors with
// file and line.
func Parse(file string, data []byte) (*Table, error) {
	p := &parser{file: file, data: data, d: jsontext.NewDecoder(bytes.NewReader(data))}
	table := &Table{File: file, prices: map[string]Price{}}
	err := p.object("the table", []string{"as_of", "currency", "models"}, map[string]func() error{
		"as_of": func() error {
			return p.text(&table.AsOf, func(v string) bool { _, err := time.Parse(time.DateOnly, v); return err == nil }, "a date, as in 2025-10-01")
		},
		"currency": func() error {
			var currency string
			return p.text(&currency, func(v string) bool { return v == "USD" }, `"USD"; other currencies are not known`)
		},
		"note":   func() error { return p.text(&table.Note, func(string) bool { return true }, "a text") },
		"models": func() error { return p.models(table) },
	})
	if err != nil {
		return nil, err
	}
	if _, err := p.d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, p.errorf("something stands after the table")
	}
	return table, nil
}

type parser struct {
	file string
	data []byte
	d    *jsontext.Decoder
}

func (p *parser) errorf(format string, args ...any) error {
	at := min(int(p.d.InputOffset()), len(p.data))
	return &transcripts.SyntaxError{File: p.file, Line: 1 + bytes.Count(p.data[:at], []byte("\n")), Msg: fmt.Sprintf(format, args...)}
}

// broken is the error of text that is no JSON.
func (p *parser) broken(err error) error {
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return p.errorf("a member is there twice")
	}
	return p.errorf("no JSON: %s", cause(err))
}

// cause is what is wrong, without where: the line says that.
func cause(err error) string {
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) && syntactic.Err != nil {
		return syntactic.Err.Error()
	}
	return err.Error()
}

// object reads an object whose members are those of read, needed ones among
// them.
func (p *parser) object(what string, needed []string, read map[string]func() error) error {
	if err := p.open('{', what+" is an object"); err != nil {
		return err
	}
	seen := map[string]bool{}
	for p.d.PeekKind() != '}' {
		token, err := p.d.ReadToken()
		if err != nil {
			return p.broken(err)
		}
		name := token.String()
		member := read[name]
		if member == nil {
			return p.errorf("%s has no member %q", what, name)
		}
		seen[name] = true
		if err := member(); err != nil {
			return err
		}
	}
	if _, err := p.d.ReadToken(); err != nil {
		return p.broken(err)
	}
	for _, name := range needed {
		if !seen[name] {
			return p.errorf("%s needs the member %q", what, name)
		}
	}
	return nil
}

func (p *parser) open(kind jsontext.Kind, rule string) error {
	token, err := p.d.ReadToken()
	if err != nil {
		return p.broken(err)
	}
	if token.Kind() != kind {
		return p.errorf("%s", rule)
	}
	return nil
}

func (p *parser) text(into *string, valid func(string) bool, rule string) error {
	token, err := p.d.ReadToken()
	if err != nil {
		return p.broken(err)
	}
	if *into = token.String(); token.Kind() != '"' || !valid(*into) {
		return p.errorf("%q is not %s", *into, rule)
	}
	return nil
}

func (p *parser) price(into *Amount) func() error {
	return func() error {
		value, err := p.d.ReadValue()
		if err != nil {
			return p.broken(err)
		}
		micros, err := parseDecimal(string(value))
		if err != nil {
			return p.errorf("price: %v", err)
		}
		*into = Amount(micros) // of a million tokens: so many millionths of a millionth for one
		return nil
	}
}

// models reads the list of models.
func (p *parser) models(table *Table) error {
	if err := p.open('[', "models is a list"); err != nil {
		return err
	}
	for p.d.PeekKind() != ']' {
		name, cached := "", Amount(-1)
		var price Price
		err := p.object("a model", []string{"model", "input", "output"}, map[string]func() error{
			"model":  func() error { return p.text(&name, func(v string) bool { return v != "" }, "the name of a model") },
			"input":  p.price(&price.Input),
			"cached": p.price(&cached),
			"output": p.price(&price.Output),
		})
		if err != nil {
			return err
		}
		if _, twice := table.prices[name]; twice {
			return p.errorf("the model %q is there twice", name)
		}
		if price.Cached = cached; cached < 0 {
			price.Cached = price.Input
		}
		table.prices[name] = price
	}
	if _, err := p.d.ReadToken(); err != nil {
		return p.broken(err)
	}
	return nil
}
