package build

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/dbcanary/dbcanary"
)

func TestResolve(t *testing.T) {
	installed := t.TempDir()
	if err := writeServer(installed, "15.13"); err != nil {
		t.Fatal(err)
	}
	offline := errors.New("no route to host")
	for _, test := range []struct {
		name   string
		target string
		remote []string // versions that the provider has
		err    error    // of the provider
		cached string   // a version that was fetched before
		want   string   // version, or "error: text"
	}{
		{name: "an installed one satisfies", target: "postgres@15", remote: []string{"15.18"}, want: "15.13"},
		{name: "a newer cached one goes before an installed one", target: "postgres@15", cached: "15.18", want: "15.18"},
		{name: "an installed one goes before an older cached one", target: "postgres@15", cached: "15.4", want: "15.13"},
		{name: "exact version is fetched", target: "postgres@15.18", remote: []string{"15.18", "15.4"}, want: "15.18"},
		{name: "newest by number", target: "postgres@16", remote: []string{"16.9", "16.14", "17.1"}, want: "16.14"},
		{name: "cached without a network", target: "postgres@17", cached: "17.2", err: offline, want: "17.2"},
		{name: "no version means the newest", target: "postgres", remote: []string{"17.5", "18.4"}, cached: "17.2", want: "18.4"},
		{name: "no version without a network", target: "postgres", cached: "17.2", err: offline, want: "17.2"},
		{name: "no version with older ones to fetch", target: "postgres", remote: []string{"14.1"}, want: "15.13"},
		{name: "not here and no network", target: "postgres@18", err: offline, want: "error: fetch postgres@18: no route to host"},
		{name: "one provider fails, another serves", target: "postgres@18", remote: []string{"18.4"}, err: offline, want: "18.4"},
		{name: "no such series", target: "postgres@19", remote: []string{"16.9", "18.4", "17.5"}, want: "error: there is no build postgres@19; did you mean postgres@1"},
		{name: "no such release", target: "postgres@18.9", remote: []string{"18.3", "18.4", "17.5"}, want: "error: there is no build postgres@18.9; did you mean postgres@18.3 or postgres@18.4?"},
		{name: "built in", target: "sqlite", want: "3.50.1"},
		{name: "built in, another version", target: "sqlite@3.1", want: "error: there is no build sqlite@3.1; did you mean sqlite@3.50?"},
		{name: "a path", target: "postgres:" + installed, err: offline, want: "15.13"},
		{name: "no such path", target: "postgres:/no/such/folder", want: "error: no build at /no/such/folder"},
		{name: "a path without a server", target: "postgres:/proc/self/fd", want: "error: no server below"},
		{name: "no provider has the family", target: "mysql@8.0", want: "error: no provider has a server of mysql"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cache := newStubCache(t, &stubProvider{versions: []string{test.cached}}, installed)
			if test.cached != "" {
				if _, err := cache.Fetch(t.Context(), spec(t, "postgres@"+test.cached), nil); err != nil {
					t.Fatal(err)
				}
			}
			cache.fetchers = []fetcher{&stubProvider{versions: test.remote, findErr: test.err}}
			got, err := cache.Resolve(t.Context(), spec(t, test.target), nil)
			if text, ok := strings.CutPrefix(test.want, "error: "); ok {
				if err == nil || !strings.HasPrefix(err.Error(), text) || strings.Contains(err.Error(), "\n") {
					t.Errorf("got %+v and error %v, want %q", got, err, text)
				}
				return
			}
			if err != nil || got.Version != test.want {
				t.Errorf("got %+v, %v; want version %s", got, err, test.want)
			}
		})
	}
}

func TestResolve_ErrorCodes(t *testing.T) {
	cache := newStubCache(t, &stubProvider{versions: []string{"18.4"}})
	if _, err := cache.Resolve(t.Context(), spec(t, "postgres@19"), nil); dbcanary.ErrorCode(err) != dbcanary.CodeUsage {
		t.Errorf("unknown version: %v has code %s", err, dbcanary.ErrorCode(err))
	}
	cache.fetchers = []fetcher{&stubProvider{findErr: errors.New("down")}}
	if _, err := cache.Resolve(t.Context(), spec(t, "postgres@18"), nil); dbcanary.ErrorCode(err) != dbcanary.CodeUnavailable {
		t.Errorf("no network: %v has code %s", err, dbcanary.ErrorCode(err))
	}
}

func TestResolve_DSNHidesThePassword(t *testing.T) {
	cache := newStubCache(t, &stubProvider{})
	got, err := cache.Resolve(t.Context(), spec(t, "postgres://me:secret@db:5432/x"), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := dbcanary.Build{Family: dbcanary.Postgres, Provider: "dsn", Origin: "postgres://me@db:5432/x"}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestResolve_CancelIsTold(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(dbcanary.Errorf(dbcanary.CodeInterrupted, "interrupted"))
	cache := newStubCache(t, &stubProvider{versions: []string{"18.4"}})
	if _, err := cache.Resolve(ctx, spec(t, "postgres@18"), nil); dbcanary.ErrorCode(err) != dbcanary.CodeInterrupted {
		t.Errorf("error %v, want the cause of the cancellation", err)
	}
}

func TestFetch_BringsTheNewest(t *testing.T) {
	provider := &stubProvider{versions: []string{"15.4"}}
	cache := newStubCache(t, provider)
	for _, version := range []string{"15.4", "15.18"} {
		provider.versions = []string{version}
		if got, err := cache.Fetch(t.Context(), spec(t, "postgres@15"), nil); err != nil || got.Version != version {
			t.Fatalf("got %+v, %v; want %s", got, err, version)
		}
	}
	if got, err := cache.Resolve(t.Context(), spec(t, "postgres@15"), nil); err != nil || got.Version != "15.18" {
		t.Errorf("got %+v, %v; want the newest of the cache", got, err)
	}
}

func TestFind_ShowsEachBuildOnce(t *testing.T) {
	installed := t.TempDir()
	if err := writeServer(installed, "15.13"); err != nil {
		t.Fatal(err)
	}
	cache := newStubCache(t, &stubProvider{versions: []string{"18.4", "15.18", "15.4"}}, installed)
	if _, err := cache.Fetch(t.Context(), spec(t, "postgres@15.18"), nil); err != nil {
		t.Fatal(err)
	}
	found, err := cache.Find(t.Context(), spec(t, "postgres@15"), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, candidate := range found {
		got = append(got, candidate.Version+" "+candidate.State)
	}
	if want := "15.18 cached, 15.13 installed, 15.4 available"; strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
