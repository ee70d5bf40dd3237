package prices

import (
	"fmt"
	"strings"
)

// Amount is a sum of money in millionths of a millionth of the table's currency
// unit: fine enough that a price per million tokens with six decimals is a
// whole number for one token, so that sums are exact in any order.
type Amount int64

// decimals is how many decimals a price or a sum can be written with.
const (
	decimals = 6
	million  = 1_000_000
)

// Dollars reads a sum such as 0.05 or 12, with at most six decimals.
func Dollars(text string) (Amount, error) {
	micros, err := parseDecimal(text)
	if err != nil {
		return 0, err
	}
	return Amount(micros) * million, nil
}

// String is the sum in dollars with six decimals, the last one rounded.
func (a Amount) String() string {
	micros := (int64(a) + million/2) / million
	return fmt.Sprintf("$%d.%06d", micros/million, micros%million)
}

// Decimal is the exact sum as a plain decimal number, without decimals that say
// nothing: what Dollars has read, it gives back.
func (a Amount) Decimal() string {
	const unit = million * million
	text := fmt.Sprintf("%d.%012d", int64(a)/unit, int64(a)%unit)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// most is the largest number that can be written: a million, so that no sum of
// a session comes near the end of an Amount.
const most = 1_000_000

// parseDecimal reads a plain decimal number from 0 to most as a number of
// millionths.
func parseDecimal(text string) (int64, error) {
	whole, part, hasPart := strings.Cut(text, ".")
	ok := isDigits(whole) && (whole == "0" || whole[0] != '0') && (!hasPart || isDigits(part))
	switch {
	case !ok:
		return 0, fmt.Errorf("%q is no plain decimal number, as in 0.25", text)
	case len(part) > decimals:
		return 0, fmt.Errorf("%q has more than %d decimals", text, decimals)
	case len(whole) > len("1000000"):
		return 0, fmt.Errorf("%q is more than %d", text, most)
	}
	var micros int64
	for _, digit := range whole + part + strings.Repeat("0", decimals-len(part)) {
		micros = micros*10 + int64(digit-'0')
	}
	if micros > most*million {
		return 0, fmt.Errorf("%q is more than %d", text, most)
	}
	return micros, nil
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
