package main

import (
	"encoding/json"
	"errors"
)

// The OCI image specification's structures, and Docker's older ones, as far as they decide anything.

type platform struct {
	Architecture string   `json:"architecture"`
	OS           string   `json:"os"`
	OSVersion    string   `json:"os.version,omitempty"`
	OSFeatures   []string `json:"os.features,omitempty"`
	Variant      string   `json:"variant,omitempty"`
	Features     []string `json:"features,omitempty"`
}

type descriptor struct {
	MediaType    string            `json:"mediaType"`
	Digest       string            `json:"digest"`
	Size         int64             `json:"size"`
	URLs         []string          `json:"urls,omitempty"`
	Annotations  map[string]string `json:"annotations,omitempty"`
	Data         []byte            `json:"data,omitempty"`
	Platform     *platform         `json:"platform,omitempty"`
	ArtifactType string            `json:"artifactType,omitempty"`
}

type manifest struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType,omitempty"`
	ArtifactType  string            `json:"artifactType,omitempty"`
	Config        descriptor        `json:"config"`
	Layers        []descriptor      `json:"layers"`
	Subject       *descriptor       `json:"subject,omitempty"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

type index struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType,omitempty"`
	ArtifactType  string            `json:"artifactType,omitempty"`
	Manifests     []descriptor      `json:"manifests"`
	Subject       *descriptor       `json:"subject,omitempty"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

type config struct {
	platform
	Created *string `json:"created,omitempty"`
	Author  string  `json:"author,omitempty"`
	Config  struct {
		User         string
		ExposedPorts map[string]struct{}
		Env          []string
		Entrypoint   []string
		Cmd          []string
		Volumes      map[string]struct{}
		WorkingDir   string
		Labels       map[string]string
		StopSignal   string
		ArgsEscaped  bool
	} `json:"config"`
	RootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	} `json:"rootfs"`
	History []struct {
		Created    *string `json:"created,omitempty"`
		CreatedBy  string  `json:"created_by,omitempty"`
		Author     string  `json:"author,omitempty"`
		Comment    string  `json:"comment,omitempty"`
		EmptyLayer bool    `json:"empty_layer,omitempty"`
	} `json:"history,omitempty"`
}

// What tells the kinds apart: a document that has several is refused by containers/image and containerd.
type kinds struct {
	Config    any `json:"config"`
	FSLayers  any `json:"fsLayers"`
	History   any `json:"history"`
	Layers    any `json:"layers"`
	Manifests any `json:"manifests"`
}

// What Go read, in the shape in which the comparison has ours.
func readDocument(kind string, document []byte) (any, error) {
	var marks kinds
	if err := json.Unmarshal(document, &marks); err != nil {
		return nil, err
	}
	switch kind {
	case "manifest":
		var read manifest
		if err := json.Unmarshal(document, &read); err != nil {
			return nil, err
		}
		if marks.Manifests != nil || marks.FSLayers != nil || marks.History != nil {
			return nil, errors.New("it is of several kinds")
		}
		return map[string]any{
			"version": read.SchemaVersion, "mediaType": read.MediaType,
			"config": described(read.Config), "layers": allDescribed(read.Layers),
		}, nil
	case "index":
		var read index
		if err := json.Unmarshal(document, &read); err != nil {
			return nil, err
		}
		if marks.Layers != nil || marks.FSLayers != nil || marks.History != nil || marks.Config != nil {
			return nil, errors.New("it is of several kinds")
		}
		return map[string]any{
			"version": read.SchemaVersion, "mediaType": read.MediaType, "manifests": allDescribed(read.Manifests),
		}, nil
	}
	var read config
	if err := json.Unmarshal(document, &read); err != nil {
		return nil, err
	}
	labels, ids := read.Config.Labels, read.RootFS.DiffIDs
	if labels == nil {
		labels = map[string]string{}
	}
	if ids == nil {
		ids = []string{}
	}
	return map[string]any{"labels": labels, "diffIds": ids, "platform": placed(&read.platform)}, nil
}

func allDescribed(list []descriptor) []any {
	all := make([]any, 0, len(list))
	for _, one := range list {
		all = append(all, described(one))
	}
	return all
}

func described(one descriptor) any {
	return map[string]any{
		"mediaType": one.MediaType, "digest": one.Digest, "size": one.Size, "platform": placed(one.Platform),
	}
}

// Without an operating system and an architecture a platform is none.
func placed(where *platform) string {
	if where == nil || where.OS == "" || where.Architecture == "" {
		return ""
	}
	return where.OS + "/" + where.Architecture + "/" + where.Variant
}
