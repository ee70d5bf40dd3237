package view

import (
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
)

// tab is a page in headless Chromium, and all that it complained of and asked
// for.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	faults   []string
	requests []string
	bytes    int
}

// chromium starts the browser, once a test; the test is skipped where there is
// none.
func chromium(t *testing.T) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("chromium is not installed")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("hide-scrollbars", false), chromedp.WSURLReadTimeout(time.Minute))
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	assert.NilError(t, chromedp.Do(ctx))
	t.Cleanup(func() { _ = chromedp.Cancel(ctx) }) // waits for its end, so that its folder can go
	return ctx
}

// look opens an address in a tab of its own. The tab must end without a fault
// and without a request elsewhere.
func look(t *testing.T, browser context.Context, address string, width, height int64, features ...*emulation.MediaFeature) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	assert.NilError(t, chromedp.Do(ctx))
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	p := &tab{t: t, ctx: ctx}
	assert.NilError(t, chromedp.Listen(ctx, p.heard))
	call(p, network.Enable, network.EnableParams{})
	call(p, log.Enable, cdp.Empty{})
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1})
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
	p.do(chromedp.Navigate(address))
	p.until("document.querySelector('#main').childElementCount > 0 && !document.querySelector('#main noscript')")
	t.Cleanup(func() { p.clean(address) })
	return p
}

func call[P, R any](p *tab, command cdp.Command[P, R], params P) {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, command, params)
	assert.NilError(p.t, err)
}

func (p *tab) heard(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.faults = append(p.faults, fmt.Sprintf("exception: %s %s", e.ExceptionDetails.Text, describe(e.ExceptionDetails.Exception)))
	case *runtime.EventConsoleAPICalled:
		p.faults = append(p.faults, fmt.Sprintf("console.%s", e.Type))
	case *log.EventEntryAdded:
		p.faults = append(p.faults, fmt.Sprintf("log %s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	case *network.EventDataReceived:
		p.bytes += int(e.DataLength)
	}
}

func describe(object *runtime.RemoteObject) string {
	if object == nil {
		return ""
	}
	return object.Description
}

// clean fails the test for every fault, and every request to another origin.
func (p *tab) clean(address string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, fault := range p.faults {
		p.t.Errorf("%s: %s", address, fault)
	}
	own, err := url.Parse(address)
	assert.NilError(p.t, err)
	for _, asked := range p.requests {
		to, err := url.Parse(asked)
		switch {
		case err == nil && (to.Scheme == "data" || to.Scheme == "blob"):
		case err == nil && own.Scheme == "file" && to.Scheme == "file" && to.Path == own.Path:
		case err == nil && own.Scheme == "http" && to.Scheme == "http" && to.Host == own.Host:
		default:
			p.t.Errorf("%s asks for %s", address, asked)
		}
	}
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.fail(err)
	}
}

func (p *tab) fail(err error) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.t.Fatalf("%v; the page complained of %q", err, p.faults)
}

// until waits for an expression to be true.
func (p *tab) until(expression string) {
	p.t.Helper()
	poll.WaitOn(p.t, func(poll.LogT) poll.Result {
		ok, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		switch {
		case err != nil:
			return poll.Error(err)
		case ok:
			return poll.Success()
		}
		return poll.Continue("%s; it complained of %q and shows %s", expression, p.faults, p.text("body"))
	}, poll.WithTimeout(15*time.Second), poll.WithDelay(20*time.Millisecond))
}

// value evaluates an expression.
func value[T any](p *tab, expression string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.fail(err)
	}
	return v
}

// text is what an element shows, its beginning at least.
func (p *tab) text(selector string) string {
	text, _ := chromedp.Run(p.ctx, chromedp.Evaluate[string](fmt.Sprintf("(document.querySelector(%q)?.innerText ?? '').slice(0, 3000)", selector))) // "" in a message
	return strings.TrimSpace(text)
}

// at goes to an address of the page.
func (p *tab) at(hash string) {
	p.t.Helper()
	value[string](p, fmt.Sprintf("location.hash = %q", hash))
	view := "overview"
	for _, name := range []string{"messages", "diff", "sessions"} {
		if strings.Contains(hash, name) {
			view = name
		}
	}
	p.until(fmt.Sprintf("document.querySelector('#main > .%s')", view))
}

// keys presses keys, one after another.
func (p *tab) keys(keys string) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(keys))
}
