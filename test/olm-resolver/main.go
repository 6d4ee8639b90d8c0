// OLM v0's own resolver, asked over standard input: a line of JSON in, a line of JSON out. Catalogs are blobs of
// file-based catalogs; they take the way that they take in a cluster, through opm's model and its API, without the network.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"time"

	"github.com/blang/semver/v4"
	"github.com/sirupsen/logrus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	listers "github.com/operator-framework/operator-lifecycle-manager/pkg/api/client/listers/operators/v1alpha1"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver/cache"
	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"github.com/operator-framework/operator-registry/alpha/model"
	"github.com/operator-framework/operator-registry/pkg/api"
	"github.com/operator-framework/operator-registry/pkg/client"
)

const namespace = "ns"

type question struct {
	Catalogs []struct {
		Name     string
		Priority int
		Blobs    []json.RawMessage
	}
	Installed []struct {
		Name       string
		Version    string
		Package    string
		Properties []property
		// Absent for one that no Subscription has.
		Subscription string
	}
	Subscriptions []struct {
		Name, Package, Channel, Catalog, StartingCSV, InstalledCSV string
	}
}

type property struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

type answer struct {
	// What opm says against a catalog; nothing is resolved then.
	Refused string   `json:"refused,omitempty"`
	Error   string   `json:"error,omitempty"`
	Set     []chosen `json:"set,omitempty"`
}

type chosen struct {
	Name     string `json:"name"`
	Package  string `json:"package"`
	Channel  string `json:"channel"`
	Catalog  string `json:"catalog"`
	Replaces string `json:"replaces"`
}

func main() {
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	replies := bufio.NewWriter(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked question
		if err := json.Unmarshal(line, &asked); err != nil {
			panic(err)
		}
		told, err := json.Marshal(answerTo(asked))
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(replies, "%s\n", told)
		if lines.Buffered() == 0 {
			replies.Flush()
		}
	}
}

func answerTo(asked question) answer {
	clients := clientsByCatalog{}
	sources := toolscache.NewIndexer(toolscache.MetaNamespaceKeyFunc, toolscache.Indexers{
		toolscache.NamespaceIndex: toolscache.MetaNamespaceIndexFunc,
	})
	priorities := priorityOf{}
	for _, catalog := range asked.Catalogs {
		served, err := serve(catalog.Blobs)
		if err != nil {
			return answer{Refused: err.Error()}
		}
		clients[registry.CatalogKey{Name: catalog.Name, Namespace: namespace}] = served
		priorities[cache.SourceKey{Name: catalog.Name, Namespace: namespace}] = catalog.Priority
		if err := sources.Add(&v1alpha1.CatalogSource{
			ObjectMeta: metav1.ObjectMeta{Name: catalog.Name, Namespace: namespace},
		}); err != nil {
			panic(err)
		}
	}
	logger := logrus.New()
	logger.SetOutput(io.Discard)
	subscriptions := map[string]*v1alpha1.Subscription{}
	var asSubscribed []*v1alpha1.Subscription
	for _, sub := range asked.Subscriptions {
		made := &v1alpha1.Subscription{
			ObjectMeta: metav1.ObjectMeta{Name: sub.Name, Namespace: namespace},
			Spec: &v1alpha1.SubscriptionSpec{
				Package:                sub.Package,
				Channel:                sub.Channel,
				CatalogSource:          sub.Catalog,
				CatalogSourceNamespace: namespace,
				StartingCSV:            sub.StartingCSV,
			},
			Status: v1alpha1.SubscriptionStatus{InstalledCSV: sub.InstalledCSV},
		}
		subscriptions[sub.Name] = made
		asSubscribed = append(asSubscribed, made)
	}
	provider := both{
		resolver.SourceProviderFromRegistryClientProvider(clients, listers.NewCatalogSourceLister(sources), logger),
		cache.StaticSourceProvider{cache.NewVirtualSourceKey(namespace): installed(asked, subscriptions)},
	}
	solver := resolver.NewDefaultResolver(
		cache.New(provider, cache.WithSourcePriorityProvider(priorities)), logger)
	entries, err := solver.Resolve([]string{namespace}, asSubscribed)
	if err != nil {
		return answer{Error: err.Error()}
	}
	set := []chosen{}
	for _, entry := range entries {
		set = append(set, chosen{
			Name:     entry.Name,
			Package:  entry.Package(),
			Channel:  entry.Channel(),
			Catalog:  entry.SourceInfo.Catalog.Name,
			Replaces: entry.Replaces,
		})
	}
	sort.Slice(set, func(i, j int) bool {
		return set[i].Catalog+"/"+set[i].Package+"/"+set[i].Name < set[j].Catalog+"/"+set[j].Package+"/"+set[j].Name
	})
	return answer{Set: set}
}

// What is installed, as OLM reads it from ClusterServiceVersions with the annotation that holds their properties.
func installed(asked question, subscriptions map[string]*v1alpha1.Subscription) *cache.Snapshot {
	snapshot := &cache.Snapshot{Valid: cache.ValidOnce()}
	for _, csv := range asked.Installed {
		entry := &cache.Entry{
			Name:    csv.Name,
			Version: &semver.Version{},
			SourceInfo: &cache.OperatorSourceInfo{
				Catalog:      cache.NewVirtualSourceKey(namespace),
				Package:      csv.Package,
				Subscription: subscriptions[csv.Subscription],
			},
		}
		if version, err := semver.Parse(csv.Version); err == nil {
			entry.Version = &version
		}
		for _, p := range csv.Properties {
			entry.Properties = append(entry.Properties, &api.Property{Type: p.Type, Value: string(p.Value)})
		}
		snapshot.Entries = append(snapshot.Entries, entry)
	}
	return snapshot
}

type both [2]cache.SourceProvider

func (providers both) Sources(namespaces ...string) map[cache.SourceKey]cache.Source {
	all := map[cache.SourceKey]cache.Source{}
	for _, provider := range providers {
		for key, source := range provider.Sources(namespaces...) {
			all[key] = source
		}
	}
	return all
}

type priorityOf map[cache.SourceKey]int

func (priorities priorityOf) Priority(key cache.SourceKey) int { return priorities[key] }

type clientsByCatalog map[registry.CatalogKey]client.Interface

func (clients clientsByCatalog) ClientsForNamespaces(...string) map[registry.CatalogKey]client.Interface {
	return clients
}

// What `opm serve` would answer.
type served struct {
	client.Interface
	packages map[string]*api.Package
	bundles  []*api.Bundle
}

func serve(blobs []json.RawMessage) (*served, error) {
	var text bytes.Buffer
	for _, blob := range blobs {
		text.Write(blob)
		text.WriteByte('\n')
	}
	config, err := declcfg.LoadReader(&text)
	if err != nil {
		return nil, err
	}
	packages, err := declcfg.ConvertToModel(*config)
	if err != nil {
		return nil, err
	}
	answers := &served{packages: map[string]*api.Package{}}
	for _, pkg := range packages {
		answers.packages[pkg.Name] = asPackage(pkg)
		for _, channel := range pkg.Channels {
			for _, bundle := range channel.Bundles {
				made, err := api.ConvertModelBundleToAPIBundle(*bundle)
				if err != nil {
					return nil, err
				}
				answers.bundles = append(answers.bundles, made)
			}
		}
	}
	return answers, nil
}

func asPackage(pkg *model.Package) *api.Package {
	made := &api.Package{Name: pkg.Name}
	if pkg.DefaultChannel != nil {
		made.DefaultChannelName = pkg.DefaultChannel.Name
	}
	for _, channel := range pkg.Channels {
		made.Channels = append(made.Channels, &api.Channel{Name: channel.Name})
	}
	return made
}

func (s *served) GetPackage(_ context.Context, name string) (*api.Package, error) {
	if found, ok := s.packages[name]; ok {
		return found, nil
	}
	return nil, errors.New("no such package")
}

func (s *served) ListBundles(context.Context) (*client.BundleIterator, error) {
	return client.NewBundleIterator(&stream{s.bundles}), nil
}

func (s *served) HealthCheck(context.Context, time.Duration) (bool, error) { return true, nil }
func (s *served) Close() error                                            { return nil }

type stream struct{ left []*api.Bundle }

func (s *stream) Recv() (*api.Bundle, error) {
	if len(s.left) == 0 {
		return nil, io.EOF
	}
	next := s.left[0]
	s.left = s.left[1:]
	return next, nil
}
