package cli

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"gotest.tools/v3/assert"
)

// TestThePageShowsWhatDoctorPrints holds docs/doctor.md against the script that
// holds doctor.
func TestThePageShowsWhatDoctorPrints(t *testing.T) {
	page, err := os.ReadFile("../../docs/doctor.md")
	assert.NilError(t, err)
	script, err := txtar.ParseFile("testdata/script/doctor.txtar")
	assert.NilError(t, err)
	at := slices.IndexFunc(script.Files, func(f txtar.File) bool { return f.Name == "proposed.txt" })
	_, shown, _ := strings.Cut(string(page), "```text\n")
	shown, _, _ = strings.Cut(shown, "```")
	assert.Equal(t, shown, string(script.Files[at].Data))
}

// moodyMain is a program that asks something else in every run: what its flags
// say, by the number of its runs, which a file counts.
func moodyMain() int {
	flags := flag.NewFlagSet("moody", flag.ExitOnError)
	counter := flags.String("count", "runs", "")
	date := flags.Bool("date", false, "")
	word := flags.Bool("word", false, "")
	shuffle := flags.Bool("shuffle", false, "")
	system := flags.String("system", "You are a parent.", "")
	_ = flags.Parse(os.Args[1:])
	data, _ := os.ReadFile(*counter) // none: the first run
	run, _ := strconv.Atoi(strings.TrimSpace(string(data)))
	_ = os.WriteFile(*counter, []byte(strconv.Itoa(run+1)), 0o644)

	prompt := []string{"How is the fruit?"}
	if *date {
		prompt = append(prompt, fmt.Sprintf("Today is 2026-01-%02d.", run+1))
	}
	if *word {
		prompt = append(prompt, fmt.Sprintf("Your session is s-%08x.", uint32(run+1)*0x9e3779b1))
	}
	if *shuffle {
		fruit := []string{"apples", "pears", "plums"}
		fruit = slices.Concat(fruit[run%3:], fruit[:run%3])
		prompt = append(prompt, "There are:", strings.Join(fruit, "\n"))
	}
	answer, err := (&agent{}).run(*system, strings.Join(prompt, "\n"), true)
	if err != nil {
		fmt.Fprintln(os.Stderr, "moody:", err)
		return 9
	}
	fmt.Println(answer)
	return 0
}
