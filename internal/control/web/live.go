package web

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/nudge"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

const (
	// calm is the least time between two drawings of a page.
	calm = 500 * time.Millisecond
	// again is when a page is drawn although nothing was told of: some of what pages show, such as the
	// state of terminals, changes without an event.
	again = 5 * time.Second
	// heartbeat is how often a stream says that it is alive.
	heartbeat = 15 * time.Second
	// maxStreams is how many streams there are at once, in all browsers.
	maxStreams = 64
)

// feed is one page that at least one browser shows. It is drawn once for all of these.
type feed struct {
	watchers int
	stop     context.CancelFunc

	mu   sync.Mutex
	now  drawn
	nav  []byte
	next nudge.Bell // now or nav are others
}

// get is what the page is, and a channel that is closed when it is something else.
func (f *feed) get() (drawn, []byte, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now, f.nav, f.next.Rung()
}

func (f *feed) set(d drawn, nav []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.now.hash == d.hash && bytes.Equal(f.nav, nav) {
		return
	}
	f.now, f.nav = d, nav
	f.next.Ring()
}

// feeds are those that there are, by the address of the page.
type feeds struct {
	mu  sync.Mutex
	all map[string]*feed
}

// join takes the feed of a page, which begins with the first that does.
func (s *Site) join(p *Page, r *Request) (f *feed, leave func()) {
	key := r.URL.RequestURI()
	s.feeds.mu.Lock()
	defer s.feeds.mu.Unlock()

	f = s.feeds.all[key]
	if f == nil {
		ctx, stop := context.WithCancel(context.WithoutCancel(r.Context()))
		f = &feed{stop: stop}
		s.feeds.all[key] = f
		s.run(func(life context.Context) {
			defer context.AfterFunc(life, stop)()
			s.keep(ctx, f, p, r)
		})
	}

	f.watchers++
	return f, func() {
		s.feeds.mu.Lock()
		defer s.feeds.mu.Unlock()
		if f.watchers--; f.watchers == 0 {
			f.stop()
			delete(s.feeds.all, key)
		}
	}
}

// keep draws a page whenever something has changed, until the context ends. A page that cannot be read
// stays as it was.
func (s *Site) keep(ctx context.Context, f *feed, p *Page, asked *Request) {
	refresh := time.NewTicker(again)
	defer refresh.Stop()
	for ctx.Err() == nil {
		work, journal := s.Plane.Changes()
		d, nav, err := s.drawAgain(ctx, p, asked)
		if err == nil {
			f.set(d, nav)
		}
		_ = pause.For(ctx, calm) // what follows looks whether it has ended
		select {
		case <-work:
		case <-journal:
		case <-refresh.C:
		case <-ctx.Done():
		}
	}
}

func (s *Site) drawAgain(ctx context.Context, p *Page, asked *Request) (d drawn, nav []byte, err error) {
	defer func() {
		if trouble := recover(); trouble != nil {
			s.Log.Error("a page failed", "path", asked.URL.Path, "error", trouble)
			err = http.ErrAbortHandler
		}
	}()
	r := &Request{Request: asked.WithContext(ctx), Plane: s.Plane, Now: s.Now(), site: s, way: asked.way}
	if d, err = s.draw(p, r); err == nil {
		nav, err = s.navigation(r, asked.URL.Path)
	}
	return d, nav, err
}

// live sends a browser what the page that it shows has become, until it goes, or its session ends.
func (h *handler) live(w http.ResponseWriter, r *Request, csrf string) error {
	select {
	case h.streams <- struct{}{}:
		defer func() { <-h.streams }()
	default:
		return &api.Error{Status: http.StatusServiceUnavailable}
	}

	p, shown, err := h.shown(r)
	if err != nil {
		return err
	}

	w.Header().Set("Content-Type", "text/event-stream")
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // it has no body
	f, leave := h.join(p, shown)
	defer leave()

	s := &stream{ResponseWriter: w, csrf: csrf, have: r.Value("have")}
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		s.have = last
	}
	if s.send("version", "", []byte(h.Version)) != nil {
		return nil
	}

	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	ends := api.Ending(r.Context())
	for {
		ended := h.book.gone.Rung()
		if !h.book.find(r.Context(), r.token(), h.way.name) {
			return nil
		}
		now, nav, next := f.get()
		if s.update(now, nav) != nil {
			return nil // the browser has gone, or is too slow
		}

		select {
		case <-next:
		case <-ended:
		case <-beat.C:
			if s.write([]byte(":\n\n")) != nil {
				return nil
			}
		case <-r.Context().Done():
			return nil
		case <-ends:
			return nil
		}
	}
}

// shown is the page that a browser shows, and the request that led to it.
func (h *handler) shown(r *Request) (*Page, *Request, error) {
	address, err := url.ParseRequestURI(r.Value("page"))
	if err != nil || address.Host != "" || address.Scheme != "" || cleaned(address.Path) != address.Path {
		return nil, nil, missing("There is no such page.")
	}
	asked, err := http.NewRequestWithContext(r.Context(), http.MethodGet, address.RequestURI(), http.NoBody)
	if err != nil {
		return nil, nil, missing("There is no such page.")
	}

	_, pattern := h.mux.Handler(asked)
	for _, p := range Pages() {
		if "GET "+p.Path == pattern {
			if err := setPathValues(asked, p.Path); err != nil {
				return nil, nil, err
			}
			return &p, h.request(asked), nil
		}
	}
	return nil, nil, missing("There is no such page.")
}

// stream is what is sent to one browser.
type stream struct {
	http.ResponseWriter
	csrf string
	have string // hash of what the browser shows
	nav  []byte
}

// update sends what the browser does not have yet.
func (s *stream) update(now drawn, nav []byte) error {
	if now.hash != "" && now.hash != s.have {
		if err := s.send("main", now.hash, fill(now.main, s.csrf)); err != nil {
			return err
		}
		s.have = now.hash
	}
	if nav != nil && !bytes.Equal(nav, s.nav) {
		if err := s.send("nav", "", fill(nav, s.csrf)); err != nil {
			return err
		}
		s.nav = nav
	}
	return nil
}

// send sends one event.
func (s *stream) send(name, id string, data []byte) error {
	var b bytes.Buffer
	b.WriteString("event: " + name + "\n")
	if id != "" {
		b.WriteString("id: " + id + "\n")
	}
	for line := range bytes.Lines(data) {
		b.WriteString("data: ")
		b.Write(bytes.ReplaceAll(bytes.TrimRight(line, "\n"), []byte("\r"), []byte(" ")))
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	return s.write(b.Bytes())
}

// write sees to it that it leaves now. A browser that does not take it in time is dropped: it connects
// again, and gets the newest.
func (s *stream) write(p []byte) error {
	control := http.NewResponseController(s.ResponseWriter)
	_ = control.SetWriteDeadline(time.Now().Add(writing))
	if _, err := s.ResponseWriter.Write(p); err != nil {
		return err
	}
	return control.Flush()
}

// setPathValues gives a request the parts of its path that a pattern names, as the mux does.
func setPathValues(r *http.Request, pattern string) error {
	names, parts := strings.Split(pattern, "/"), strings.Split(r.URL.EscapedPath(), "/")
	for i, name := range names {
		name, is := strings.CutPrefix(name, "{")
		if !is || name == "$}" || i >= len(parts) {
			continue
		}
		value, err := url.PathUnescape(parts[i])
		if err != nil {
			return missing("There is no such page.")
		}
		r.SetPathValue(strings.TrimSuffix(name, "}"), value)
	}
	return nil
}
