package tools

import (
	"os/exec"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"mvdan.cc/sh/v3/syntax"
)

// readingCommands run without a question.
var readingCommands = []string{
	"pwd", "ls", "ls\n", " ls  -la   src ", "ls -- src", "ls -1 'a folder'", `ls "a folder"`,
	"cat a.txt b/c.txt", "cat -n a.txt", "cat a..b ...", "cat .hidden", "cat -",
	"head -20 a.txt", "head -n 20 a.txt", "head -n20 a.txt", "head --lines=3 a.txt", "head --lines 3 a.txt", "tail -n +5 a.txt", "tail -c 10 a.txt", "tail -n -3 a",
	"wc -l a.txt", "stat a.txt", "stat -c '%n %s' a.txt", "file a.txt", "which go", "which -a go",
	"date", "date -u", "date +%F", "date -u '+%H:%M'",
	"echo", "echo hello world", "echo -n 'a; b && c | d > e $(f) `g` $h *'", `echo "it's"`, `echo ""`, "echo ''", `echo "a\"b\\c\$d"`, "echo '日本'",
	"grep -rn TODO .", "grep -rn 'func .*(' src", `grep -n "a\|b" f`, "grep -e one -e two f", "grep -A 3 -B2 x f", "grep -5 x f", "grep -m1 -iw x f",
	"grep -r --include '*.go' x .", "grep -r --include=x.go x .", "grep --color=never x f",
	"rg x", "rg -n -g '*.go' x src", "rg --files", "rg -tgo x", "rg --type go x", "rg -C2 x",
	"find", "find . -name '*.go'", "find src -type f -maxdepth 2", "find . -mtime -7 -size +10k", "find . '(' -name a -o -name b ')' '!' -empty", "find . -newer a.txt -print",
	"git status", "git status -sb", "git status --porcelain=v2 -uno", "git log", "git log --oneline -5", "git log -n 3 --stat -- src/a.go", "git log --format '%h %s' --no-merges",
	"git log main..HEAD", "git log HEAD~3", "git log HEAD^ --since=yesterday", "git log -S needle -p", "git log -L 1,5:a.go", "git log '--format=%h %an'",
	"git diff", "git diff --cached --stat", "git diff HEAD~1 HEAD -- a.go", "git diff -U3", "git show", "git show HEAD:src/a.go", "git show -s --format=%H HEAD",
	"git branch", "git branch -a", "git branch -vv", "git branch --list", "git branch --show-current",
	"git ls-files", "git ls-files -mo --exclude-standard", "git rev-parse HEAD", "git rev-parse --abbrev-ref HEAD", "git rev-parse 'HEAD^{tree}'",
}

// askedCommands must not run without a question, by what is wrong with them.
var askedCommands = map[string][]string{
	"case 5.10": {
		"git status; touch x", "git status && touch x", "git status\ntouch x", "git status $(touch x)", "git statusx", "git status || touch x",
		"git status | tee x", "git status & touch x", "git status `touch x`", "git status;touch x", "git status |& tee x", "touch x; git status",
		"git status\r\ntouch x", "git status\n\n touch x", "git status # a\ntouch x", "git 'status; touch x'", "gitstatus", "git-status", "gits tatus",
		"ls \\\n; touch x", "ls \\\n-la", "git status;", "git status &", "git status ;;", "git status\x00; touch x", "git status\v; touch x", "git status\u2028touch x",
	},
	"case 5.11": {
		"X=`touch /tmp/z` git status", "X=1 git status", "PATH=. git status", "LD_PRELOAD=e ls", "GIT_EXTERNAL_DIFF=./x git diff", "GIT_PAGER=./x git log",
		"X=1 Y=2 ls", "X= ls", "X+=1 ls", "X[0]=1 ls", "X=(a b) ls", "X=1", "PATH=.", "GIT_DIR=evil git status", "AWS_PROFILE=p ls",
		`bash -c "ls"`, `bash -c "aws x"`, "sh -c ls",
	},
	"redirections": {
		"ls > x", "ls >x", "ls>x", "ls >> x", "ls 2> x", "ls &> x", "ls >| x", "ls <> x", "cat < x", "cat <x", "cat << E\nx\nE", "cat <<< x", "> x", ">x ls", "ls 2>&1", "ls 2>/dev/null", "ls {fd}>x", "cat <<E", "echo a>b",
	},
	"substitutions and expansions": {
		"ls $(pwd)", "ls `pwd`", "cat <(ls)", "cat >(ls)", "ls $x", "ls ${x}", "ls $((1+1))", "ls $[1+1]", "ls \"$x\"", "ls \"$(pwd)\"", "ls \"`pwd`\"", "ls \"a$x\"", "ls $'a'", "ls $\"a\"",
		"ls *", "ls *.go", "ls a?", "ls [ab]", "ls {a,b}", "ls {1..3}", "ls @(a|b)", "ls !(a)", "ls +(a)", "ls ~", "ls ~/x", "ls ~root", "ls a:~", "ls a=~/x", "ls $1", "ls $@", "ls $!", "ls ${x:=touch}", "$x", "$(echo ls)", "`echo ls`", "ls !!", "ls a\\ b", "ls \\~", "ls a#b",
	},
	"words in parts": {
		`l"s"`, `"l"s`, `"ls"`, `'ls'`, `l\s`, `\ls`, `ls a"b"`, `ls ""a`, `ls 'a'b`, `ls "a"'b'`, `grep --include="*.go" x .`, `find . -na"me" x`, `find . -"delete"`, `find . '-delete'`, `find . "-exec" ls`, `git "branch" "x"`, `''ls`, `ls ''''`, "git log --format='%h %s'", "echo 日本",
	},
	"more than one simple command": {
		"(ls)", "{ ls; }", "if ls; then ls; fi", "while ls; do ls; done", "until ls; do ls; done", "for x in a; do ls; done", "for ((;;)); do ls; done", "case x in x) ls;; esac", "select x in a; do ls; done", "f() { ls; }", "function f { ls; }", "[[ -f x ]]", "((1))", "let x=1",
		"! ls", "time ls", "time -p ls", "coproc ls", "declare x=1", "export X=1", "local x", "readonly x=1", "typeset x", "ls && ls", "ls || ls", "ls | ls", "ls | cat", "ls; ls", "ls & ls", "ls &", "ls |& cat", "ls\nls", "", " ", "\n", "# ls", ";", "&", "ls )", "ls 'a", `ls "a`, "ls \\", "ls $(",
	},
	"wrappers": {
		"env ls", "env", "env X=1 ls", "env -S 'touch x'", "xargs ls", "sudo ls", "doas ls", "su -c ls", "bash -c ls", "sh -c ls", "zsh -c ls", "dash -c ls", "eval ls", "exec ls", "nice ls", "nohup ls", "timeout 5 ls", "command ls", "command -v ls", "builtin pwd", "stdbuf -o0 ls", "setsid ls", "strace ls", "watch ls", "busybox ls",
		"parallel ls", "ssh host ls", "chroot . ls", "unshare ls", "script -c ls", "time -v ls", "ionice ls", "taskset 1 ls", "flock x ls", "python -c x", "perl -e x", "awk x", "sed -n p f", "make", "npm --version", "go version", "go env", "go env -w X=1", "go list ./...", "source x", ". x", ". ./x", "trap ls EXIT", "alias ls=x", "xargs", "sh", "bash",
	},
	"commands that are not listed": {
		"rm x", "touch x", "mv a b", "cp a b", "mkdir x", "tee x", "sort -o x y", "chmod 777 x", "ln -s a b", "dd", "truncate -s0 x", "cd src", "cd", "less x", "more x", "man ls", "curl x", "wget x", "kill 1", "set -x", "unset x", "read x", "printf %s x", "printf -v x y", "test -f x", "[ -f x ]", "true", "LS", "Ls", "ls.exe", "l", "lss",
		"./ls", "/bin/ls", "../ls", "bin/ls", "./git status", "/usr/bin/git status", "~/ls", "git/status", ".", "-", "--", "-ls", "ls\u00a0-la", "ls\u3000x", "\ufeffls",
	},
	"paths that lead outside": {
		"cat /etc/passwd", "cat ../x", "cat a/../../x", "cat ..", "cat a/..", "ls /", "ls ..", "ls -la ../..", "head -n 5 /etc/passwd", "grep x /etc/passwd", "grep -e/etc x", "grep x -r ..", "find / -name x", "find .. -name x", "wc -l ../x", "cat '/etc/passwd'", `cat "../x"`, "cat '~/x'", "cat ~/.ssh/id_rsa", "stat /", "file /x",
		"git diff -- ../x", "git diff /a /b", "git log -- /x", "git show HEAD:../x", "git log -L 1,2:../x", "rg x ..", "rg x /", "rg -g../x y", "rg --glob=../x y", "rg --glob ../x y", "find . -newer ../x", "find . -newer /x", "grep --include=../x y", "ls -- ..", "ls -- /", "cat -- ../x", "ls //", "ls .//..", "which /bin/ls", `cat ..\x`,
	},
	"options that write, run or wait": {
		"find . -delete", "find . -exec rm x ';'", "find . -exec ls {} +", "find . -execdir ls ';'", "find . -ok ls ';'", "find . -okdir ls ';'", "find . -fprint x", "find . -fprintf x y", "find . -fprint0 x", "find . -fls x", "find -L . -name x", "find -H .", "find . -follow", "find -files0-from x", "find . -name -delete", "find . -- -delete", "find -- -delete", "find -- . -delete", "find . -printf %p", "find . -name", "find -D exec .", "find . -name=x", "find . -regextype x", "find . -quit",
		"grep --pre x y", "grep -f pats x", "grep --file=pats x", "grep -R x .", "grep --devices=read x", "grep -d read x", "grep --include", "grep -A", "grep -A -r", "grep --reg x", "grep -e --", "grep -e -- -f", "grep -rf pats x", "grep --line-buffered x",
		"rg --pre ./x y", "rg --pre=./x y", "rg -z x", "rg --search-zip x", "rg --hostname-bin ./x y", "rg -L x", "rg --follow x", "rg -f x", "rg --ignore-file x y", "rg --pre-glob x y", "rg -nz x", "rg -uuu x",
		"tail -f x", "tail -F x", "tail --follow x", "tail -5f x", "tail -n5 -f x", "tail -qf x", "tail --pid=1 x", "wc --files0-from=x", "wc --files0-from x", "file -C", "file -m x y", "file -f x", "file -z x", "date -s 2020-01-01", "date --set=x", "date 010100002020", "date -r x", "date -f x", "date -u 0101", "ls --foo", "ls -w 5", "cat --foo", "echo -x", "which --read-alias x", "pwd x", "stat -f x", "stat --printf=x y",
	},
	"git": {
		"git", "git help", "git -c core.pager=x log", "git -c alias.status='!x' status", "git -C x status", "git --exec-path=. status", "git --exec-path . status", "git -p log", "git --paginate log", "git --git-dir=x status", "git --work-tree=x status", "git --namespace=x log", "git --config-env=a=b status", "git --no-pager log", "git --literal-pathspecs status", "git --attr-source=x diff",
		"git st", "git lg", "git push", "git pull", "git fetch", "git commit -m x", "git add .", "git checkout x", "git switch x", "git restore x", "git stash", "git stash list", "git reset", "git clean -fd", "git config x y", "git config --list", "git remote -v", "git tag", "git tag x", "git blame x", "git grep x", "git grep -O x", "git archive HEAD", "git bisect run x", "git submodule foreach x", "git gc", "git difftool", "git reflog expire", "git worktree add x", "git ls-remote --upload-pack=x .", "git cat-file --textconv HEAD:x", "git format-patch HEAD",
		"git log --output=x", "git log --output x", "git diff --output=x", "git diff -O x", "git diff -Ox", "git log -Ox", "git diff --ext-diff", "git log --ext-diff -p", "git show --textconv", "git diff --no-index a b", "git log --show-signature", "git log --format=%G?", "git log --format=%+GG", "git log --format '%h % GS'", "git log --pretty=format:%GK", "git log '--format=%-G?'", "git diff --out=x", "git log --outp x", "git log --exec=x", "git log --upload-pack x", "git show --output=x", "git diff --submodule=log", "git diff -Stext --output=x", "git log -- --output=x", "git log -n", "git log -n --output=x",
		"git branch x", "git branch -d x", "git branch -D x", "git branch -m x", "git branch -c x", "git branch -f x", "git branch -v x", "git branch -a x", "git branch --list x", "git branch -- x", "git branch --edit-description", "git branch -u x", "git branch --set-upstream-to=x", "git branch --unset-upstream", "git branch -av x", "git branch -l", "git branch -t x", "git branch --contains x",
		"git ls-files --with-tree=x", "git ls-files -X x", "git ls-files --exclude-from=x", "git ls-files -x x", "git rev-parse --parseopt", "git rev-parse --sq-quote x", "git rev-parse --git-path x", "git rev-parse --resolve-git-dir x", "git status --foo", "git status -v --column",
	},
}

func TestPlainReadingCommandsRunWithoutAQuestion(t *testing.T) {
	for _, command := range readingCommands {
		assert.Check(t, allowedCommand(command), "%q", command)
	}
}

func TestEverythingElseAsks(t *testing.T) {
	for kind, commands := range askedCommands {
		t.Run(kind, func(t *testing.T) {
			for _, command := range commands {
				assert.Check(t, !allowedCommand(command), "%q", command)
			}
		})
	}
}

// What makes a command a second one spoils each of those that are allowed.
func TestNoAllowedCommandStaysSoWithAnotherBesideIt(t *testing.T) {
	for _, command := range readingCommands {
		for _, form := range []string{
			"%; touch x", "% && touch x", "% || touch x", "% | tee x", "% & touch x", "%\ntouch x", "% &", "% > x", "% 2>x", "% >>x", "% <x", "% $(touch x)", "% `touch x`",
			"X=1 %", "PATH=. %", "! %", "time %", "(%)", "{ %; }", "env %", "sudo %", "nohup %", "timeout 1 %", "command %", "exec %", "eval %", "xargs %", "./%", "/bin/%", "bash -c '%'", "% *", "% $x", "% ~", "% ../x", "% /x", "touch x; %", "touch x\n%", "%\r\ntouch x", "% <(touch x)",
		} {
			spoiled := strings.ReplaceAll(form, "%", strings.Trim(command, " \n"))
			assert.Check(t, !allowedCommand(spoiled), "%q", spoiled)
		}
	}
}

// The shells read the words of an allowed command as the rules do.
func TestShellsReadTheSameWords(t *testing.T) {
	for _, shell := range []string{"sh", "bash", "dash", "zsh"} {
		t.Run(shell, func(t *testing.T) {
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skipf("no %s here", shell)
			}
			var script strings.Builder
			var want []string
			for _, command := range readingCommands {
				words, ok := allowedWords(command)
				if !ok {
					continue
				}
				script.WriteString("printf '<%s>' " + strings.TrimSpace(command) + "\nprintf '\\n'\n")
				want = append(want, "<"+strings.Join(words, "><")+">")
			}
			cmd := exec.Command(path, "-c", script.String())
			cmd.Dir = t.TempDir()
			got, err := cmd.Output()
			assert.NilError(t, err)
			assert.DeepEqual(t, strings.Split(strings.TrimSpace(string(got)), "\n"), want)
		})
	}
}

// The arguments are read as the tool reads them: what it would refuse is not
// allowed, an escape is the character it stands for.
func TestAutoAllowedReadsArgumentsAsTheToolDoes(t *testing.T) {
	if !knownShell {
		assert.Check(t, !AutoAllowed(`{"command":"ls"}`), "PowerShell is not judged")
		t.Skip("nothing is allowed in PowerShell")
	}
	for arguments, want := range map[string]bool{
		`{"command":"ls"}`:                       true,
		` {"command":"ls","timeout_seconds":5} `: true,
		`{"command":"\u006cs"}`:                  true,
		`{"command":"git status\u003b touch x"}`: false,
		`{"command":"git status\ntouch x"}`:      false,
		`{"command":"ls","command":"touch x"}`:   false,
		`{"command":"touch x","command":"ls"}`:   false,
		`{"command":"ls","Command":"touch x"}`:   false,
		`{"Command":"ls"}`:                       false,
		`{"command":"ls"} {"command":"touch x"}`: false,
		`{"command":"ls","x":1}`:                 false,
		`{"command":["ls"]}`:                     false,
		`{"command":"ls`:                         false,
		`{"command":"ls","timeout_seconds":"x"}`: false,
		`"{\"command\":\"ls\"}"`:                 false,
		`["ls"]`:                                 false,
		`ls`:                                     false,
		``:                                       false,
		`null`:                                   false,
		`{}`:                                     false,
		`{"command":""}`:                         false,
		`{"command":null}`:                       false,
		"{\"command\":\"ls\xff\"}":               false,
		`{"command":"` + strings.Repeat(" ", maxCommand) + `ls"}`: false,
	} {
		assert.Check(t, AutoAllowed(arguments) == want, "%.80s", arguments)
	}
}

// A link that leads out of the workspace is a path outside under another name.
func TestAWorkspaceFollowsLinksBeforeItAllows(t *testing.T) {
	if !knownShell {
		t.Skip("nothing is allowed in PowerShell")
	}
	p := newPlace(t, Options{})
	p.put(t, "folder/file", "")
	p.link(t, "out", p.outside)
	p.link(t, "folder/secret", "../../outside/secret.txt")
	p.link(t, "in", "folder")
	for command, want := range map[string]bool{
		"ls": true, "cat folder/file": true, "cat in/file": true, "cat missing": true, "grep -rn x folder": true, "git status": true,
		"ls out": false, "ls out/": false, "cat folder/secret": false, "cat in/secret": false, "cat ./out/secret.txt": false, "find out -name x": false, "rm x": false,
	} {
		assert.Check(t, p.AutoAllowed(`{"command":"`+command+`"}`) == want, command)
	}
}

// A file tool can write where git looks for what to run.
func TestGitWithSettingsThatCouldRunSomethingAsks(t *testing.T) {
	if !knownShell {
		t.Skip("nothing is allowed in PowerShell")
	}
	const common = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n" +
		"[remote \"origin\"]\n\turl = https://host/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n" +
		"[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n[user]\n\tname = A B\n\temail = a@b\n# note\n; note\n\n"
	for name, tt := range map[string]struct {
		files map[string]string
		want  bool
	}{
		"common":           {map[string]string{".git/config": common}, true},
		"CRLF":             {map[string]string{".git/config": strings.ReplaceAll(common, "\n", "\r\n")}, true},
		"no repository":    {map[string]string{"a": ""}, true},
		"fsmonitor":        {map[string]string{".git/config": common + "[core]\n\tfsmonitor = ./evil\n"}, false},
		"on one line":      {map[string]string{".git/config": common + "[core] fsmonitor = ./evil\n"}, false},
		"letter case":      {map[string]string{".git/config": common + "[core]\n\tFsMonitor = ./evil\n"}, false},
		"filter":           {map[string]string{".git/config": common + "[filter \"x\"]\n\tclean = ./evil\n"}, false},
		"include":          {map[string]string{".git/config": common + "[include]\n\tpath = ../evil\n"}, false},
		"a continued line": {map[string]string{".git/config": common + "[user]\n\tname = a\\\n[core]\n\tfsmonitor = x\n"}, false},
		"hooks elsewhere":  {map[string]string{".git/config": common + "[core]\n\thooksPath = evil\n"}, false},
		"another folder":   {map[string]string{".git": "gitdir: evil\n"}, false},
		"another config":   {map[string]string{".git/config": common, ".git/commondir": "../evil\n"}, false},
		"submodules":       {map[string]string{".git/config": common, ".gitmodules": ""}, false},
		"bare":             {map[string]string{"HEAD": "ref: refs/heads/main\n", "objects/x": "", "refs/x": "", "config": "[core]\n\tfsmonitor = ./evil\n"}, false},
		"no config":        {map[string]string{".git/HEAD": ""}, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, Options{})
			for file, content := range tt.files {
				p.put(t, file, content)
			}
			assert.Equal(t, p.AutoAllowed(`{"command":"git status"}`), tt.want)
			assert.Check(t, p.AutoAllowed(`{"command":"ls"}`))
		})
	}
}

// FuzzAllowedCommand: whatever is allowed is one simple call of literal words,
// stays allowed when it is printed and read again, with the same words, and has
// no word that is a path outside or an unknown option.
func FuzzAllowedCommand(f *testing.F) {
	for _, command := range readingCommands {
		f.Add(command)
	}
	for _, commands := range askedCommands {
		for _, command := range commands {
			f.Add(command)
		}
	}
	f.Fuzz(func(t *testing.T, command string) {
		words, ok := allowedWords(command)
		again, okAgain := allowedWords(command)
		assert.Equal(t, ok, okAgain)
		assert.DeepEqual(t, words, again)
		if !ok {
			return
		}
		file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
		assert.NilError(t, err)
		calls := 0
		syntax.Walk(file, func(node syntax.Node) bool {
			switch node.(type) {
			case nil, *syntax.File, *syntax.Stmt, *syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted:
			case *syntax.CallExpr:
				calls++
			default:
				t.Errorf("%q is allowed with a %T", command, node)
			}
			return true
		})
		assert.Equal(t, calls, 1)
		var printed strings.Builder
		assert.NilError(t, syntax.NewPrinter().Print(&printed, file))
		reread, ok := allowedWords(printed.String())
		assert.Check(t, ok, "%q printed as %q", command, printed.String())
		assert.DeepEqual(t, reread, words)
		_, listed := listedCommands[words[0]]
		assert.Check(t, listed)
		for _, word := range words[1:] {
			assert.Check(t, word[:min(1, len(word))] != "/" && !strings.HasPrefix(word, "~") && word != ".." && !strings.Contains(word, "../"), "%q", command)
		}
	})
}
