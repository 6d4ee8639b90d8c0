// The commands that build, rebase, sign, verify, and serve catalog images.
import { Option, type Command } from 'commander'
import {
  createInsecureRegistryOption,
  createCommaSeparatedOption,
  createOutputOption,
  createPortOption,
  createRepeatableOption,
  createCreationTimeOption,
  addExamplesToHelp,
  runImported,
} from '../options.ts'

const defaultOpmImage = 'quay.io/operator-framework/opm:latest'

export function addImageCommands(program: Command): void {
  addBuildCommand(program)
  addRebaseCommand(program)
  addGenerateCommand(program)
  addVerifyCommand(program)
  addSignCommand(program)
  addServeCatalogCommand(program)
}

/** Creates a command with the options that `build` and `rebase` share. */
function createImageCommand(program: Command, name: string): Command {
  return program
    .command(name)
    .addOption(createRepeatableOption('-t, --tag <image>', 'name of the image, as REGISTRY/REPOSITORY:TAG'))
    .option('--push', "push the image with Docker's or Podman's credentials")
    .option('--dry-run', 'print what a push would change, but do not push')
    .option('--oci-layout <dir>', 'write the image to a directory as an OCI image layout')
    .addOption(
      createCommaSeparatedOption(
        '--platform <platform>',
        'platform to build for, such as linux/amd64 (default: all platforms of the base image)',
      ),
    )
    .addOption(
      createRepeatableOption(
        '--annotation <key=value>',
        'image annotation, such as org.opencontainers.image.source',
      ),
    )
    .option('--key <file>', 'with --push: private key for signing the image and its provenance')
    .option('--password-variable <name>', "environment variable with the key's password", 'COSIGN_PASSWORD')
    .option('--no-recursive', 'for a multi-platform image, sign only the index')
    .option('--no-provenance', 'with --push: do not attach an SBOM or provenance to the image')
    .addOption(createInsecureRegistryOption())
    .addOption(createOutputOption('text', 'json'))
}

function addBuildCommand(program: Command): void {
  const command = createImageCommand(program, 'build')
    .description('Build (and push) a catalog image')
    .argument('<source>', 'catalog directory or composite file')
    .option('-i, --base-image <image>', 'base image that contains opm, or scratch', defaultOpmImage)
    .addOption(createRepeatableOption('-l, --extra-labels <key=value>', 'image label'))
    .option('--no-serve-cache', "omit opm's cache, which opm then builds at each start")
    .option('--uncompressed', 'do not compress the catalog layer')
    .addOption(
      new Option('--format <format>', 'format of the image manifests')
        .choices(['oci', 'docker'])
        .default('oci'),
    )
    .addOption(createCreationTimeOption())
    .option('--force', 'push even if nothing changed')
    .option('--dockerfile', 'print a Dockerfile instead of building an image, as `generate dockerfile` does')
    .option('-b, --builder-image <image>', 'with --dockerfile: image for the build stage', defaultOpmImage)
    .action(runImported(async () => (await import('../build.ts')).runBuild))
  addExamplesToHelp(
    command,
    [
      'build catalog -t quay.io/org/catalog:v4.20 -t quay.io/org/catalog:latest --push',
      'build catalog -i scratch --oci-layout image',
      'build composite.yaml --dry-run',
      'build catalog -t quay.io/org/catalog:v4.20 --push --key cosign.key',
    ],
    `No container engine is required. Building a catalog again on the same base image always produces the same digest. If the tags already
have this content, nothing is pushed unless you use --force. A composite file is a YAML file with name, repo, tag, and references. Each reference has a name and an
image. For details, see docs/how-to/publish.md.

Exit codes:
  0  success
  1  opm would not serve the catalog
  2  the command could not run`,
  )
}

function addRebaseCommand(program: Command): void {
  const command = createImageCommand(program, 'rebase')
    .description('Rebase a catalog image onto a new base image')
    .argument('<image>', 'catalog image to rebase; its tag is updated unless --tag specifies other tags')
    .requiredOption('-i, --base-image <image>', 'new base image')
    .addOption(
      createRepeatableOption(
        '-l, --extra-labels <key=value>',
        'label that was set when the image was built (default: determined from the old base image)',
      ),
    )
    .action(runImported(async () => (await import('../build.ts')).runImageRebase))
  addExamplesToHelp(
    command,
    ['rebase quay.io/org/catalog:v4.20 -i quay.io/operator-framework/opm:v1.73.0 --push'],
    `The catalog itself does not change.

Exit codes:
  0  success
  1  the catalog image is not valid
  2  the command could not run`,
  )
}

function addGenerateCommand(program: Command): void {
  const group = program.command('generate').description('Generate a Dockerfile')
  addExamplesToHelp(group, ['generate dockerfile catalog'])
  const command = group
    .command('dockerfile')
    .description('Write <dir>.Dockerfile next to a catalog, like opm generate dockerfile')
    .argument('<dir>', 'catalog directory')
    .option('-i, --base-image <image>', 'base image for the catalog', defaultOpmImage)
    .option('-b, --builder-image <image>', 'image of the build stage', defaultOpmImage)
    .addOption(createRepeatableOption('-l, --extra-labels <key=value>', 'image label'))
    .action(runImported(async () => (await import('../generate-dockerfile.ts')).generateDockerfile))
  addExamplesToHelp(
    command,
    ['generate dockerfile catalog', 'generate dockerfile catalog -i scratch -l team=cats'],
    `The command does not overwrite an existing file. The build command requires neither a Dockerfile nor a container engine.

Exit codes:
  0  success
  2  the command could not run`,
  )
}

function addVerifyCommand(program: Command): void {
  const command = program
    .command('verify')
    .description('Verify an image signature and show its provenance')
    .argument('<image>', 'image reference, by tag or digest')
    .requiredOption('--key <file>', 'public key in PEM format (cosign.pub)')
    .option('--no-recursive', 'for a multi-platform image, verify only the signature of the index')
    .option('--signed-as <repository>', 'for a copied image: repository in which the original was signed')
    .addOption(createInsecureRegistryOption())
    .addOption(createOutputOption('text', 'json'))
    .action(runImported(async () => (await import('../sign.ts')).runVerify))
  addExamplesToHelp(
    command,
    ['verify quay.io/example/catalog:v4.20 --key cosign.pub'],
    `The command accepts the signatures that \`cosign verify --key cosign.pub --insecure-ignore-tlog=true\` accepts. In addition, the signatures
must be for this repository, and each platform's manifest must be signed. Attestations are optional, but if any are signed, at
least one must be signed with the key.

Exit codes:
  0  the image is verified
  1  the image is not verified
  2  the command could not run`,
  )
}

function addSignCommand(program: Command): void {
  const command = program
    .command('sign')
    .description('Sign an image (cosign-compatible)')
    .argument('<image>', 'image reference, by tag or digest')
    .requiredOption('--key <file>', "private key in cosign's format (cosign.key) or in PKCS #8 PEM format")
    .option('--password-variable <name>', "environment variable with the key's password", 'COSIGN_PASSWORD')
    .option('--no-recursive', 'for a multi-platform image, sign only the index')
    .addOption(createInsecureRegistryOption())
    .action(runImported(async () => (await import('../sign.ts')).runSign))
  addExamplesToHelp(
    command,
    ['sign quay.io/example/catalog:v4.20 --key cosign.key'],
    `The command signs the digest that the tag currently refers to and, unless you use --no-recursive, the manifest of each platform. It
keeps existing signatures, and does not change an image that is already signed with the key.

Exit codes:
  0  the image is signed
  2  the command could not run`,
  )
}

function addServeCatalogCommand(program: Command): void {
  const command = program
    .command('serve-catalog')
    .description('Serve a catalog over gRPC and HTTP')
    .argument('<catalog>', 'catalog directory or catalog image')
    .addOption(createPortOption('-p, --port <n>', 'port of the gRPC API').default(50051))
    .addOption(createPortOption('--http-port <n>', 'port of the HTTP API').default(8080))
    .option('--host <address>', 'address to listen on; use 0.0.0.0 for all addresses', '127.0.0.1')
    .addOption(createInsecureRegistryOption())
    .action(runImported(async () => (await import('../serve-catalog.ts')).serveCatalog))
  addExamplesToHelp(
    command,
    ['serve-catalog catalogs/v4.20', 'serve-catalog quay.io/example/catalog:v4.20 --host 0.0.0.0'],
    `The gRPC API matches that of opm serve, and the HTTP API matches that of catalogd. Example requests:
  curl 'http://127.0.0.1:8080/api/v1/metas?schema=olm.channel&package=example-operator'
  grpcurl -plaintext 127.0.0.1:50051 api.Registry/ListPackages

The command reads the catalog once, at startup. After SIGTERM, it waits up to 10 seconds for requests in progress, and then exits.

Exit codes:
  0  the server was stopped by a signal
  1  opm would not serve the catalog
  2  the command could not run`,
  )
}
