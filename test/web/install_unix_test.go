//go:build unix

package web

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// The page can be installed as an app: the browser has nothing to say against its manifest.
func TestIssue18ThePageCanBeInstalled(t *testing.T) {
	s := newStage(t, "")
	b := open(t, s.ui().Link)
	found, err := chromedp.Call(b.ctx, page.GetInstallabilityErrors, cdp.Empty{})
	check(t, err)
	for _, e := range found.InstallabilityErrors {
		t.Errorf("%s %v", e.ErrorID, e.ErrorArguments)
	}
	manifest, err := chromedp.Call(b.ctx, page.GetAppManifest, page.GetAppManifestParams{})
	check(t, err)
	for _, e := range manifest.Errors {
		t.Errorf("the manifest: %+v", e)
	}
	if manifest.URL == "" {
		t.Error("it has no manifest")
	}
}

// The service worker shows what is pushed. A browser without a window shows no notifications, so that what
// it would show is noted.
func TestIssue18WhatIsPushedIsShown(t *testing.T) {
	s := newStage(t, "")
	b := open(t, s.ui().Link)
	id, origin := b.registration(), b.eval("location.origin")
	worker := b.worker()
	_, err := chromedp.Run(worker, chromedp.Evaluate[string](`self.shown = []; self.registration.showNotification = async (title, options) => { self.shown.push({ title, ...options }); }; ""`))
	check(t, err)
	push := func(text string) {
		_, err := chromedp.Call(b.ctx, serviceworker.DeliverPushMessage, serviceworker.DeliverPushMessageParams{
			Origin: origin, RegistrationID: id, Data: text,
		})
		check(t, err)
	}
	type action struct{ Action, Title string }
	var shown []struct {
		Title, Body, Tag string
		Data             struct{ Path string }
		Actions          []action
	}
	eventually(t, "it is shown", func() bool {
		// The browser drops what is pushed before the worker is active.
		push("not JSON")
		push(`{"title":"fix waits","body":"Merge <b>it</b>?","tag":"0123","path":"/inbox/0123","actions":[{"title":"merge","path":"/act/x"}]}`)
		text, err := chromedp.Run(worker, chromedp.Evaluate[string]("JSON.stringify(self.shown)"))
		check(t, err)
		check(t, json.Unmarshal([]byte(text), &shown))
		return len(shown) > 0
	})
	for _, one := range shown {
		if one.Title != "fix waits" || one.Body != "Merge <b>it</b>?" || one.Tag != "0123" || one.Data.Path != "/inbox/0123" || !slices.Equal(one.Actions, []action{{"/act/x", "merge"}}) {
			t.Errorf("%+v", one)
		}
	}
}

// worker is where the site's service worker runs.
func (b *browser) worker() context.Context {
	b.t.Helper()
	var found *target.Info
	eventually(b.t, "the service worker runs", func() bool {
		all, err := chromedp.Targets(b.ctx)
		check(b.t, err)
		for _, one := range all {
			if one.Type == "service_worker" {
				found = one
			}
		}
		return found != nil
	})
	ctx, end := chromedp.NewContext(b.ctx, chromedp.WithTargetID(found.TargetID))
	b.t.Cleanup(end)
	return ctx
}

// registration is by what the browser knows the service worker.
func (b *browser) registration() (id serviceworker.RegistrationID) {
	b.t.Helper()
	updates := chromedp.Events(b.ctx, serviceworker.WorkerRegistrationUpdated)
	_, err := chromedp.Call(b.ctx, serviceworker.Enable, cdp.Empty{})
	check(b.t, err)
	for e, err := range updates {
		check(b.t, err)
		if len(e.Registrations) > 0 {
			return e.Registrations[0].RegistrationID
		}
	}
	b.t.Fatal("no service worker is registered")
	return ""
}
