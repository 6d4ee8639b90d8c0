// opm with those of its commands that tests run. The others need most of Kubernetes' client, which is a third of what opm compiles.
package main

import (
	"os"

	"github.com/spf13/cobra"

	converttemplate "github.com/operator-framework/operator-registry/cmd/opm/alpha/convert-template"
	rendergraph "github.com/operator-framework/operator-registry/cmd/opm/alpha/render-graph"
	"github.com/operator-framework/operator-registry/cmd/opm/alpha/template"
	"github.com/operator-framework/operator-registry/cmd/opm/generate"
	"github.com/operator-framework/operator-registry/cmd/opm/render"
	"github.com/operator-framework/operator-registry/cmd/opm/serve"
	"github.com/operator-framework/operator-registry/cmd/opm/validate"
	"github.com/operator-framework/operator-registry/cmd/opm/version"
)

func main() {
	opm := &cobra.Command{Use: "opm"}
	// Commands that read images expect these flags.
	for _, name := range []string{"skip-tls", "skip-tls-verify", "use-http"} {
		opm.PersistentFlags().Bool(name, false, "")
	}
	alpha := &cobra.Command{Use: "alpha"}
	alpha.AddCommand(converttemplate.NewCmd(), rendergraph.NewCmd(), template.NewCmd())
	opm.AddCommand(alpha, generate.NewCmd(), render.NewCmd(true), serve.NewCmd(), validate.NewCmd())
	version.AddCommand(opm)
	if opm.Execute() != nil {
		os.Exit(1)
	}
}
