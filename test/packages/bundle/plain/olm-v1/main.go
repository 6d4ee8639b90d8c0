// What OLM v1 says of bundles and of upgrades of CustomResourceDefinitions, for comparison: one request a line in, one
// answer a line out. Its module lies below OLM's by name, so that it may import what is internal there.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/operator-framework/operator-controller/internal/operator-controller/rukpak/bundle/source"
	"github.com/operator-framework/operator-controller/internal/operator-controller/rukpak/preflights/crdupgradesafety"
	"github.com/operator-framework/operator-controller/internal/operator-controller/rukpak/render"
	"github.com/operator-framework/operator-controller/internal/operator-controller/rukpak/render/certproviders"
	"github.com/operator-framework/operator-controller/internal/operator-controller/rukpak/render/registryv1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

type request struct {
	Directory        string   `json:"directory"`
	InstallNamespace string   `json:"installNamespace"`
	WatchNamespaces  []string `json:"watchNamespaces"`
	Certificates     string   `json:"certificates"`
	// An upgrade instead of a bundle.
	Old []json.RawMessage `json:"old"`
	New []json.RawMessage `json:"new"`
}

type answer struct {
	Objects []client.Object `json:"objects"`
	Error   string          `json:"error"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<28)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		if err := out.Encode(answerTo(lines.Bytes())); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func answerTo(line []byte) (result answer) {
	defer func() {
		if problem := recover(); problem != nil {
			result = answer{Error: fmt.Sprintf("panic: %v", problem)}
		}
	}()
	var asked request
	if err := json.Unmarshal(line, &asked); err != nil {
		return answer{Error: "request: " + err.Error()}
	}
	objects, err := rendered(asked)
	if asked.Directory == "" {
		objects, err = nil, upgraded(asked)
	}
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Objects: objects}
}

func rendered(asked request) ([]client.Object, error) {
	if asked.Directory == "" {
		return nil, nil
	}
	bundle, err := source.FromFS(os.DirFS(asked.Directory)).GetBundle()
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	var provider render.CertificateProvider
	switch asked.Certificates {
	case "cert-manager":
		provider = certproviders.CertManagerCertificateProvider{}
	case "openshift-service-ca":
		provider = certproviders.OpenshiftServiceCaCertificateProvider{}
	}
	return registryv1.Renderer.Render(bundle, asked.InstallNamespace,
		render.WithTargetNamespaces(asked.WatchNamespaces...),
		render.WithCertificateProvider(provider))
}

// A cluster that has the old definitions and nothing else.
type installed struct {
	crdclient.CustomResourceDefinitionInterface
	definitions map[string]*apiextensionsv1.CustomResourceDefinition
}

func (i installed) Get(_ context.Context, name string, _ metav1.GetOptions) (*apiextensionsv1.CustomResourceDefinition, error) {
	if found, ok := i.definitions[name]; ok {
		return found, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "customresourcedefinitions"}, name)
}

func upgraded(asked request) error {
	before := installed{definitions: map[string]*apiextensionsv1.CustomResourceDefinition{}}
	for _, text := range asked.Old {
		crd, err := definition(text)
		if err != nil {
			return fmt.Errorf("load: %w", err)
		}
		before.definitions[crd.Name] = crd
	}
	var after []client.Object
	for _, text := range asked.New {
		crd, err := definition(text)
		if err != nil {
			return fmt.Errorf("load: %w", err)
		}
		after = append(after, crd)
	}
	return crdupgradesafety.NewPreflight(before).Upgrade(context.Background(), after)
}

func definition(text json.RawMessage) (*apiextensionsv1.CustomResourceDefinition, error) {
	object := unstructured.Unstructured{}
	if err := object.UnmarshalJSON(text); err != nil {
		return nil, err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	return crd, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, crd)
}
