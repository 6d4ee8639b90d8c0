// Prints a Compose project as JSON, loaded as Docker Compose loads it. Usage: compose FILE [OVERLAY]
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	text, err := load(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(string(text))
}

func load(files []string) ([]byte, error) {
	options, err := cli.NewProjectOptions(files,
		cli.WithWorkingDirectory(filepath.Dir(files[0])),
		cli.WithOsEnv, cli.WithEnvFiles(), cli.WithDotEnv)
	if err != nil {
		return nil, err
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		return nil, err
	}
	// Resolves env_file as `docker compose up` does.
	if project, err = project.WithServicesEnvironmentResolved(true); err != nil {
		return nil, err
	}
	return project.MarshalJSON()
}
