package view

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"
)

// TestScreenshots makes the pictures of docs/view.md:
//
//	go test ./internal/view -run Screenshots -update
//
// Without -update it holds that they are there and of a modest size: no two
// versions of a browser draw the same bytes.
func TestScreenshots(t *testing.T) {
	pictures := []struct {
		name, hash    string
		width, height int64
		dark          bool
	}{
		{"view-overview.png", "#/0/overview", 1280, 920, false},
		{"view-messages.png", "#/0/messages/0/2", 1280, 860, false},
		{"view-diff.png", "#/diff/0/1", 1280, 860, false},
		{"view-dark.png", "#/0/messages/1/8", 1280, 860, true},
		{"view-narrow.png", "#/0/overview", 400, 860, false},
	}
	for _, picture := range pictures {
		path := filepath.Join("../../docs", picture.name)
		if !golden.FlagUpdate() {
			info, err := os.Stat(path)
			assert.NilError(t, err)
			assert.Assert(t, info.Size() < 200<<10, "%s has %d bytes", path, info.Size())
			continue
		}
		browser := chromium(t)
		scheme := "light"
		if picture.dark {
			scheme = "dark"
		}
		p := look(t, browser, serve(t, pictured(t))+picture.hash, picture.width, picture.height,
			&emulation.MediaFeature{Name: "prefers-color-scheme", Value: scheme})
		p.until("document.querySelector('.row.current, .lane-row, .diff-row')")
		p.do(chromedp.Sleep(300 * time.Millisecond)) // for what moves when the mouse does not
		image, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
		assert.NilError(t, err)
		assert.NilError(t, os.WriteFile(path, image, 0o644))
	}
}
