package tools

// commandRule says with which words a command may be called. An option that is
// not named here is not allowed, and neither are shortened names of options. No
// command here can write, run another program or reach the network with what
// its rule lets through; whatever can is left out, and so is what waits, such as
// tail -f.
type commandRule struct {
	letters string   // options of one letter, alone or together: -l, -la
	valued  string   // options of one letter with a value: -n5, -n 5
	whole   []string // options and expressions as they stand
	named   []string // options in full with a value: --name=5, --name 5
	number  bool     // -5 is an option
	rest    operands
	sub     map[string]commandRule // the first word decides; the other fields are not used
}

// operands are the words that are no options.
type operands int

const (
	anyOperand operands = iota // that names nothing outside the workspace
	noOperand
	formatOperand // that begins with a plus sign
)

// listedCommands are the commands that run without a question. Left out on
// purpose, though they are read for the most part:
//   - go: a line of go.mod makes any of its commands fetch and run another
//     version of it
//   - env, xargs, sudo, nice, nohup, timeout, time, command, builtin, exec, eval,
//     sh, bash and the like: they run what stands behind them
//   - sed, awk, sort, tee, less, man, tar, curl: they can write or run something
//   - cd: what follows it would be read from another folder
var listedCommands = map[string]commandRule{
	"pwd":   {letters: "LP", rest: noOperand},
	"echo":  {letters: "neE"},
	"date":  {letters: "uR", whole: []string{"--utc", "--iso-8601"}, rest: formatOperand},
	"ls":    {letters: "1aABCdFghiklmnopqQrRsStuUxX", whole: []string{"--all", "--almost-all", "--human-readable", "--recursive", "--reverse"}},
	"cat":   {letters: "AbeEnstTuv"},
	"head":  {letters: "qv", valued: "nc", named: []string{"--lines", "--bytes"}, number: true},
	"tail":  {letters: "qv", valued: "nc", named: []string{"--lines", "--bytes"}, number: true},
	"wc":    {letters: "clLmw", whole: []string{"--lines", "--words", "--bytes", "--chars"}},
	"stat":  {letters: "t", valued: "c", named: []string{"--format"}},
	"file":  {letters: "bi", whole: []string{"--brief", "--mime", "--mime-type", "--mime-encoding"}},
	"which": {letters: "a"},
	"grep": {
		letters: "abcEFGhHiIlLnoPqrsvwxz", valued: "eABCm", number: true,
		whole: []string{
			"--ignore-case", "--line-number", "--recursive", "--count", "--files-with-matches", "--files-without-match",
			"--invert-match", "--word-regexp", "--only-matching", "--extended-regexp", "--fixed-strings", "--color=never",
		},
		named: []string{"--include", "--exclude", "--exclude-dir", "--regexp", "--context", "--after-context", "--before-context", "--max-count"},
	},
	"rg": { // not --pre, --search-zip and --hostname-bin, which run programs
		letters: "acFhHiIlnNopPsSUvwx", valued: "eABCgmtT",
		whole: []string{
			"--files", "--hidden", "--no-ignore", "--ignore-case", "--smart-case", "--line-number", "--no-heading", "--count",
			"--files-with-matches", "--invert-match", "--word-regexp", "--only-matching", "--fixed-strings", "--multiline",
			"--color=never", "--type-list",
		},
		named: []string{"--glob", "--iglob", "--type", "--type-not", "--regexp", "--context", "--after-context", "--before-context", "--max-count", "--max-depth"},
	},
	"find": { // not -exec, -ok, -delete, -fprint, -fls and -L
		whole: []string{
			"(", ")", "!", "-a", "-o", "-and", "-or", "-not", "-print", "-print0", "-ls", "-prune", "-empty", "-true", "-false",
			"-depth", "-xdev", "-mount", "-readable", "-writable", "-executable",
		},
		named: []string{
			"-name", "-iname", "-path", "-ipath", "-regex", "-iregex", "-type", "-maxdepth", "-mindepth", "-size",
			"-mtime", "-mmin", "-newer", "-perm",
		},
	},
	"git": {sub: map[string]commandRule{
		"status": {
			letters: "sbz",
			whole: []string{
				"--short", "--branch", "--long", "--porcelain", "--porcelain=v1", "--porcelain=v2", "--ignored",
				"-uno", "-unormal", "-uall", "--untracked-files=no", "--untracked-files=normal", "--untracked-files=all",
			},
		},
		"log":  gitHistory,
		"show": gitHistory,
		"diff": gitHistory,
		"branch": {
			letters: "arv", rest: noOperand,
			whole: []string{"-vv", "--list", "--all", "--remotes", "--show-current", "--verbose"},
		},
		"ls-files": {
			letters: "cdmostuz",
			whole:   []string{"--cached", "--deleted", "--modified", "--others", "--stage", "--exclude-standard", "--full-name"},
		},
		"rev-parse": {
			whole: []string{
				"--abbrev-ref", "--short", "--verify", "--quiet", "--symbolic-full-name", "--show-toplevel", "--show-prefix",
				"--git-dir", "--is-inside-work-tree", "--is-bare-repository",
			},
		},
	}},
}

// gitHistory are the options of git log, show and diff: not --output and -O,
// --ext-diff and --textconv, --no-index, --show-signature, and no format that
// checks signatures, which runs a program.
var gitHistory = commandRule{
	valued: "nLSGU", number: true,
	whole: []string{
		"-p", "-u", "-s", "-w", "-b", "-i", "-E", "-F", "-z", "-R", "-M", "-C", "--patch", "--no-patch", "--raw", "--stat", "--shortstat",
		"--numstat", "--summary", "--name-only", "--name-status", "--oneline", "--graph", "--all", "--branches", "--tags", "--remotes",
		"--decorate", "--no-decorate", "--no-color", "--color=never", "--abbrev-commit", "--reverse", "--merges", "--no-merges",
		"--first-parent", "--follow", "--cached", "--staged", "--word-diff", "--ignore-all-space", "--ignore-space-change",
		"--ignore-case", "--check", "--exit-code", "--quiet", "--no-ext-diff", "--no-textconv", "--minimal", "--histogram",
		"--date-order", "--topo-order", "--full-history", "--no-renames", "--find-renames", "--no-prefix", "--merge-base",
	},
	named: []string{
		"--format", "--pretty", "--date", "--since", "--after", "--until", "--before", "--author", "--committer", "--grep",
		"--max-count", "--skip", "--unified", "--diff-filter", "--abbrev", "--decorate-refs",
	},
}
