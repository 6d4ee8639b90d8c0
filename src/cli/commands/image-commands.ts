// The commands for catalog images: built, put on another base, signed, verified, served.
import { Option, type Command } from 'commander'
import type { BuildOptions, RebaseOptions } from '../build.ts'
import type { GenerateDockerfileOptions } from '../generate-dockerfile.ts'
import { addHelp } from '../help.ts'
import {
  insecureRegistryOption,
  listOption,
  outputOption,
  portOption,
  repeatableOption,
  timeOption,
} from '../options.ts'
import type { ServeCatalogOptions } from '../serve-catalog.ts'
import type { SignOptions } from '../sign.ts'
import type { VerifyCommandOptions } from '../verify.ts'

const defaultOpmImage = 'quay.io/operator-framework/opm:latest'

export function addImageCommands(program: Command): void {
  addBuildCommand(program)
  addRebaseCommand(program)
  addGenerateCommand(program)
  addVerifyCommand(program)
  addSignCommand(program)
  addServeCatalogCommand(program)
}

/** What building and rebasing have in common: a base, and where the image goes. */
function createImageCommand(program: Command, name: string): Command {
  return program
    .command(name)
    .addOption(repeatableOption('-t, --tag <image>', 'the name of the image, REGISTRY/REPOSITORY:TAG'))
    .option('--push', 'push it; credentials are those of docker and podman')
    .option('--dry-run', 'say what a push would change, and write nothing')
    .option('--oci-layout <dir>', 'write it to a directory as an OCI image layout')
    .addOption(
      listOption(
        '--platform <platform>',
        'only this platform, such as linux/amd64 (default: all of the base)',
      ),
    )
    .addOption(repeatableOption('--annotation <key=value>', 'an annotation: where the image comes from'))
    .option('--key <file>', 'with --push: sign the image and its provenance with this private key')
    .option('--password-variable <name>', 'the environment variable with its password', 'COSIGN_PASSWORD')
    .option('--no-recursive', 'of an image for several platforms, sign the index alone')
    .option('--no-provenance', 'with --push: put no bill of images and no provenance beside the image')
    .addOption(insecureRegistryOption())
    .addOption(outputOption('text', 'json'))
}

function addBuildCommand(program: Command): void {
  const command = createImageCommand(program, 'build')
    .description('build a catalog image without a container engine, and push it')
    .argument('<source>', 'a directory of a file-based catalog, or a composite list')
    .option('-i, --base-image <image>', 'the image with opm in it, or scratch', defaultOpmImage)
    .addOption(repeatableOption('-l, --extra-labels <key=value>', 'a label of the image'))
    .option('--no-serve-cache', 'leave out the cache: opm builds one at each start')
    .option('--uncompressed', 'do not compress the layer')
    .addOption(
      new Option('--format <format>', 'the format of the documents')
        .choices(['oci', 'docker'])
        .default('oci'),
    )
    .addOption(timeOption('--created <time>', 'the time in the image (default: SOURCE_DATE_EPOCH, or 1970)'))
    .option('--force', 'push also if nothing has changed')
    .option('--dockerfile', 'print the Dockerfile of `generate dockerfile` instead, and stop')
    .option('-b, --builder-image <image>', 'the Dockerfile: the image of the build stage', defaultOpmImage)
    .action(async (source: string, options: BuildOptions) =>
      (await import('../build.ts')).build(source, options),
    )
  addHelp(
    command,
    [
      'build catalog -t quay.io/org/catalog:v4.20 -t quay.io/org/catalog:latest --push',
      'build catalog -i scratch --oci-layout image',
      'build composite.yaml --dry-run',
      'build catalog -t quay.io/org/catalog:v4.20 --push --key cosign.key',
    ],
    `The same catalog on the same base gives the same digest. If the tags hold the same content already, nothing is pushed. A
composite list is a YAML file with name, repo, tag, and references with a name and an image each. docs/publishing.md tells
more. Exit code: 0; 1 if opm would not serve the catalog; 2 if the command could not run.`,
  )
}

function addRebaseCommand(program: Command): void {
  const command = createImageCommand(program, 'rebase')
    .description('put a published catalog image on a new base, its catalog unchanged')
    .argument('<image>', 'the catalog image; it gets the tags, or keeps its own')
    .requiredOption('-i, --base-image <image>', 'the new base')
    .addOption(
      repeatableOption(
        '-l, --extra-labels <key=value>',
        'a label that it was built with (default: asked of the old base)',
      ),
    )
    .action(async (image: string, options: RebaseOptions) =>
      (await import('../build.ts')).rebase(image, options),
    )
  addHelp(
    command,
    ['rebase quay.io/org/catalog:v4.20 -i quay.io/operator-framework/opm:v1.73.0 --push'],
    `Exit code: 0; 2 if the command could not run.`,
  )
}

function addGenerateCommand(program: Command): void {
  const group = program.command('generate').description('write files for building a catalog with other tools')
  addHelp(group, ['generate dockerfile catalog'])
  const command = group
    .command('dockerfile')
    .description('write <dir>.Dockerfile beside a catalog, as opm generate dockerfile does')
    .argument('<dir>', 'a directory of a file-based catalog')
    .option('-i, --base-image <image>', 'the image that the catalog is put on', defaultOpmImage)
    .option('-b, --builder-image <image>', 'the image of the build stage', defaultOpmImage)
    .addOption(repeatableOption('-l, --extra-labels <key=value>', 'a label of the image'))
    .action(async (dir: string, options: GenerateDockerfileOptions) =>
      (await import('../generate-dockerfile.ts')).generateDockerfile(dir, options),
    )
  addHelp(
    command,
    ['generate dockerfile catalog', 'generate dockerfile catalog -i scratch -l team=cats'],
    `A file that is there already is left as it is. "build" needs no Dockerfile and no container engine. Exit code: 0, or 2 if
the command could not run.`,
  )
}

function addVerifyCommand(program: Command): void {
  const command = program
    .command('verify')
    .description('check that an image is signed by a key, and print what its provenance says')
    .argument('<image>', 'an image reference, by tag or digest')
    .requiredOption('--key <file>', 'the public key, in PEM (cosign.pub)')
    .option('--no-recursive', "of an image for several platforms, check the index's signature alone")
    .option('--signed-as <repository>', 'the repository that it was signed in, where this is a copy of it')
    .addOption(insecureRegistryOption())
    .addOption(outputOption('text', 'json'))
    .action(async (image: string, options: VerifyCommandOptions) =>
      (await import('../verify.ts')).verify(image, options),
    )
  addHelp(
    command,
    ['verify quay.io/example/catalog:v4.20 --key cosign.pub'],
    `It accepts what \`cosign verify --key cosign.pub --insecure-ignore-tlog=true\` accepts, if the signature is for this
repository and each platform's manifest is signed, too. Attestations may be missing; where there are some, one must be by the key. Exit code: 0 if the image is verified,
1 if not, 2 if the command could not run.`,
  )
}

function addSignCommand(program: Command): void {
  const command = program
    .command('sign')
    .description("sign an image in its registry, in cosign's format")
    .argument('<image>', 'an image reference, by tag or digest')
    .requiredOption('--key <file>', 'the private key: as cosign keeps it (cosign.key), or PKCS #8 in PEM')
    .option('--password-variable <name>', 'the environment variable with its password', 'COSIGN_PASSWORD')
    .option('--no-recursive', 'of an image for several platforms, sign the index alone')
    .addOption(insecureRegistryOption())
    .action(async (image: string, options: SignOptions) => (await import('../sign.ts')).sign(image, options))
  addHelp(
    command,
    ['sign quay.io/example/catalog:v4.20 --key cosign.key'],
    `The digest that the tag names now is signed, with each platform's manifest below it; signatures that are there stay. An image that the key has signed already is
left as it is. Exit code: 0, or 2 if the command could not run.`,
  )
}

function addServeCatalogCommand(program: Command): void {
  const command = program
    .command('serve-catalog')
    .description('serve a catalog to OLM: its gRPC API, as opm serve does, and the HTTP API of catalogd')
    .argument('<catalog>', 'a directory of file-based catalogs, or a catalog image')
    .addOption(portOption('-p, --port <n>', 'the port of the gRPC API').default(50051))
    .addOption(portOption('--http-port <n>', 'the port of the HTTP API').default(8080))
    .option('--host <address>', 'the address to listen on; 0.0.0.0 is all of them', '127.0.0.1')
    .addOption(insecureRegistryOption())
    .action(async (catalog: string, options: ServeCatalogOptions) =>
      (await import('../serve-catalog.ts')).serveCatalog(catalog, options),
    )
  addHelp(
    command,
    ['serve-catalog catalogs/v4.20', 'serve-catalog quay.io/example/catalog:v4.20 --host 0.0.0.0'],
    `Then ask it:
  curl 'http://127.0.0.1:8080/api/v1/metas?schema=olm.channel&package=example-operator'
  grpcurl -plaintext 127.0.0.1:50051 api.Registry/ListPackages

The catalog is read once, at the start. SIGTERM ends it when the calls that are under way have their answers. Exit code: 0
if it was told to stop, 1 if opm would not serve the catalog, 2 if the command could not run.`,
  )
}
