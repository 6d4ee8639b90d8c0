// The validators of `operator-sdk bundle validate` and of `opm`, as a program: a directory a line, what they say of it a line.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/validation"
	"github.com/operator-framework/api/pkg/validation/errors"
	interfaces "github.com/operator-framework/api/pkg/validation/interfaces"
	"github.com/operator-framework/operator-registry/pkg/lib/bundle"
	"github.com/sirupsen/logrus"
)

type said struct {
	Validator string `json:"validator"`
	Level     string `json:"level"`
	Type      string `json:"type"`
	Field     string `json:"field,omitempty"`
	Detail    string `json:"detail"`
}

type answer struct {
	Directory string `json:"directory"`
	Said      []said `json:"said"`
}

// What `--select-optional` can ask for, without the one that pulls images. The order of a map is of no matter: whoever
// reads the answers compares sets.
var optional = map[string]interfaces.Validator{
	"operatorhubv2":        validation.OperatorHubV2Validator,
	"standardcapabilities": validation.StandardCapabilitiesValidator,
	"standardcategories":   validation.StandardCategoriesValidator,
	"deprecated-apis":      validation.AlphaDeprecatedAPIsValidator,
	"good-practices":       validation.GoodPracticesValidator,
	"object":               validation.ObjectValidator,
	"community":            validation.CommunityOperatorValidator,
}

func main() {
	logrus.SetOutput(io.Discard)
	out := json.NewEncoder(os.Stdout)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		directory := lines.Text()
		if err := out.Encode(answer{directory, validate(directory)}); err != nil {
			panic(err)
		}
	}
}

func validate(directory string) []said {
	all := []said{}
	opm := bundle.NewImageValidator(nil, logrus.NewEntry(logrus.StandardLogger()))
	all = append(all, refused("opm-format", opm.ValidateBundleFormat(directory))...)
	all = append(all, refused("opm-content", opm.ValidateBundleContent(filepath.Join(directory, "manifests")))...)
	// As operator-sdk loads it: from the manifests with the metadata beside them.
	loaded, err := manifests.GetBundleFromDir(directory)
	if err != nil {
		return append(all, refused("load", err)...)
	}
	objects := loaded.ObjectsToValidate()
	all = append(all, results("bundle", validation.DefaultBundleValidators.Validate(objects...))...)
	for name, validator := range optional {
		all = append(all, results(name, ofOptional(validator, objects))...)
	}
	return all
}

// One that panics has said so: operator-sdk would end with it.
func ofOptional(validator interfaces.Validator, objects []interface{}) (found []errors.ManifestResult) {
	defer func() {
		if cause := recover(); cause != nil {
			found = []errors.ManifestResult{{Errors: []errors.Error{{
				Level: errors.LevelError, Type: "Panic", Detail: fmt.Sprint(cause),
			}}}}
		}
	}()
	return validator.Validate(objects...)
}

func results(validator string, found []errors.ManifestResult) []said {
	all := []said{}
	for _, result := range found {
		for _, list := range [][]errors.Error{result.Errors, result.Warnings} {
			for _, one := range list {
				level := "warning"
				if one.Level == errors.LevelError {
					level = "error"
				}
				all = append(all, said{validator, level, string(one.Type), one.Field, one.Error()})
			}
		}
	}
	return all
}

func refused(validator string, err error) []said {
	if err == nil {
		return nil
	}
	if several, ok := err.(bundle.ValidationError); ok {
		all := []said{}
		for _, one := range several.Errors {
			kind := ""
			field := ""
			if typed, ok := one.(errors.Error); ok {
				kind = string(typed.Type)
				field = typed.Field
			}
			all = append(all, said{validator, "error", kind, field, one.Error()})
		}
		return all
	}
	return []said{{validator, "error", "", "", err.Error()}}
}
