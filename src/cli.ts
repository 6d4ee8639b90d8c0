#!/usr/bin/env node
// The command line. Only what a command needs is loaded: `validate` starts in milliseconds.
import { Argument, Command, Option } from 'commander'
import type { BuildOptions, RebaseOptions } from './cli/build.ts'
import type { BundleOptions } from './cli/bundle.ts'
import type { CheckOptions } from './cli/check.ts'
import type { DemoOptions } from './cli/demo.ts'
import type { DiffOptions } from './cli/diff.ts'
import type { DoctorOptions } from './cli/doctor.ts'
import type { GraphOptions } from './cli/graph.ts'
import type { ImagesOptions } from './cli/images.ts'
import type { InstallOptions } from './cli/install.ts'
import type { LandingsOptions } from './cli/landings.ts'
import type { LocalPullOptions } from './cli/local-pull.ts'
import type { RenderCatalogOptions } from './cli/render.ts'
import type { ServeCatalogOptions } from './cli/serve-catalog.ts'
import type { SignOptions } from './cli/sign.ts'
import type { ValidateOptions } from './cli/validate.ts'
import type { VerifyCommandOptions } from './cli/verify.ts'
import { version } from './cli/version.ts'

// Who pipes into `head` has seen enough: that is no failure to tell of. A result that is known already counts.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(process.exitCode ?? 2)
  })

const program = new Command('catalog-bot')
  .description("Checks, merges and republishes Operator catalogs in OLM's file-based format.")
  .version(version())
  .showHelpAfterError()
  .exitOverride((error) => {
    // Help and version are no failures; everything else means that the command could not run.
    process.exit(error.exitCode === 0 ? 0 : 2)
  })

const migrateLevel = () =>
  new Option('--migrate-level <level>', 'none, or one olm.csv.metadata instead of the manifests, as for opm')
    .choices(['none', 'bundle-object-to-csv-metadata'])
    .default('none')

const role = () =>
  new Option('--role <role>', "the author's role on the repository")
    .choices(['none', 'read', 'triage', 'write', 'maintain', 'admin'])
    .default('read')

const outputs = (...choices: string[]) =>
  new Option('-o, --output <format>', 'what to print').choices(choices).default(choices[0])

program
  .command('validate')
  .description('validate directories of file-based catalogs')
  .argument(
    '[dir...]',
    'directories with one catalog each (default: every catalog of the current repository)',
  )
  .addOption(
    new Option('--profile <profile>', "opm: exactly opm's verdict; full: our rules too")
      .choices(['full', 'opm'])
      .default('full'),
  )
  .option('--opm <release>', 'the opm release whose verdict is wanted', 'v1.73')
  .option('--no-cache', 'do not use the cache')
  .option('--all', 'print every finding (default: all errors, and ten warnings of each rule)')
  .option(
    '--config <file>',
    "full: read the rules' settings from this file (default: the repository's .github/catalog-bot.yml)",
  )
  .option('--no-config', 'full: use the default severity of every rule')
  .addOption(outputs('text', 'json', 'sarif'))
  .addHelpText(
    'after',
    `
json prints one line for each directory. sarif prints one document, with paths from the current directory. Exit code: 0 if
there is no error, 1 if there is one, 2 if the command could not run. Each rule has a page in docs/rules.`,
  )
  .action(async (directories: string[], options: ValidateOptions) =>
    (await import('./cli/validate.ts')).validate(directories, options),
  )

program
  .command('check')
  .description('decide on a pull request in a local git repository, without GitHub')
  .requiredOption('--repo <path>', 'the repository')
  .requiredOption('--base <rev>', 'the base branch or commit')
  .requiredOption('--head <rev>', 'the branch or commit to merge')
  .requiredOption('--author <login[:id]>', 'who opens the pull request')
  .option('--approved-by <login...>', 'people who have approved exactly this head')
  .addOption(role())
  .option('--insecure-registry <host...>', 'registries to contact over plain HTTP')
  .option('--offline', 'contact no registry (the images check stays unknown)')
  .addOption(outputs('text', 'json'))
  .addHelpText(
    'after',
    `
Exit code: 0 if the bot would merge it, 1 if not (blocked, waiting for people, or a registry did not answer), 2 if the
command could not run.`,
  )
  .action(async (options: CheckOptions) => (await import('./cli/check.ts')).check(options))

program
  .command('explain')
  .description('print snapshot, facts, findings, verdict and actions of a decision, and stop')
  .requiredOption('--repo <path>', 'the repository')
  .requiredOption('--base <rev>', 'the base branch or commit')
  .requiredOption('--head <rev>', 'the branch or commit to merge')
  .requiredOption('--author <login[:id]>', 'who opens the pull request')
  .option('--approved-by <login...>', 'people who have approved exactly this head')
  .addOption(role())
  .option('--insecure-registry <host...>', 'registries to contact over plain HTTP')
  .option('--offline', 'contact no registry (the images check stays unknown)')
  .action(async (options: LocalPullOptions) => (await import('./cli/explain.ts')).explain(options))

program
  .command('doctor')
  .description('say what a branch on GitHub demands, how the App would merge there, and what is missing')
  .requiredOption('--repository <owner/name>', 'the repository')
  .option('--branch <name>', 'the branch (default: the default branch)')
  .option('--config <file>', 'a configuration (default: none)')
  .option('--app <id>', "the App's id, when a token is used")
  .option('--token-variable <name>', 'the environment variable that holds the token', 'GITHUB_TOKEN')
  .option('--rulesets <folder>', 'write the two recommended rulesets there, to be imported')
  .addOption(outputs('text', 'json'))
  .addHelpText(
    'after',
    `
Where APP_ID, the private key and the webhook secret are in the environment, the App itself asks; else the token does.
Exit code: 0 if the App can merge and nothing is missing, 1 if not, 2 if the command could not run.`,
  )
  .action(async (options: DoctorOptions) => (await import('./cli/doctor.ts')).doctor(options))

program
  .command('diff')
  .description('show what changes in the catalogs between two commits')
  .requiredOption('--repo <path>', 'the repository')
  .requiredOption('--base <rev>', 'before')
  .requiredOption('--head <rev>', 'after (compared once it is merged into the base)')
  .addOption(outputs('text', 'json', 'markdown', 'svg', 'mermaid'))
  .option('--out <folder>', 'svg: where to write a file for each package that changes')
  .addHelpText(
    'after',
    `
svg and mermaid draw the channels that change: new parts are green, removed parts are red. markdown ends with the
mermaid picture. Exit code: 0, also if nothing changes; 2 if the command could not run.`,
  )
  .action(async (options: DiffOptions) => (await import('./cli/diff.ts')).diff(options))

program
  .command('graph')
  .description("draw the upgrade graphs of a catalog's packages")
  .argument(
    '[dir]',
    'a directory of file-based catalogs (default: the only catalog of the current repository)',
  )
  .option('--package <name...>', 'only these packages')
  .addOption(outputs('mermaid', 'svg', 'short'))
  .addOption(new Option('--opm', 'the same as -o mermaid').implies({ output: 'mermaid' }).hideHelp())
  .option('--out <folder>', 'write a file for each package')
  .addHelpText(
    'after',
    `
mermaid is the text of \`opm alpha render-graph\`: every entry, every edge. short is mermaid too, shortened to what
GitHub shows in a comment. svg is one picture of one package; for more packages, give a folder with --out. Exit code: 1
if files could not be read; the rest is drawn.`,
  )
  .action(async (dir: string | undefined, options: GraphOptions) =>
    (await import('./cli/graph.ts')).graph(dir, options),
  )

program
  .command('images')
  .description('look up every image that a catalog names in its registry')
  .argument('<dir>', 'a directory of file-based catalogs')
  .option('--concurrency <n>', 'how many to look up at once', '64')
  .option('--resume <file>', 'save answers in this file, and continue from it')
  .option('--insecure-registry <host...>', 'registries to contact over plain HTTP')
  .addOption(outputs('text', 'json'))
  .action(async (dir: string, options: ImagesOptions) =>
    (await import('./cli/images.ts')).images(dir, options),
  )

program
  .command('install')
  .description('install a package without a cluster: what OLM would resolve, unpack and create')
  .argument('<dir>', 'a directory of file-based catalogs, or a catalog image')
  .requiredOption('--package <name>', 'the package')
  .addOption(
    new Option('--channel <name...>', 'only these channels (default: the default channel)').conflicts(
      'allChannels',
    ),
  )
  .option('--all-channels', 'every channel of the package')
  .option(
    '--upgrade-from <dir>',
    'the catalog as it was: upgrade its versions (default: those of the catalog)',
  )
  .option('--bundle <name=dir...>', "a bundle's content from a directory instead of its image")
  .option(
    '--beside <catalog...>',
    'other catalogs that dependencies may come from, as [NAME[:PRIORITY]=]DIR or image (priority default: 0)',
  )
  .option(
    '--with <target...>',
    'it must install with olm-v0, olm-v1, rukpak-plain, rukpak-registry or rukpak-helm',
  )
  .option('--objects', 'print the objects that would be created too')
  .option('--offline', 'contact no registry')
  .option('--insecure-registry <host...>', 'registries to contact over plain HTTP')
  .addOption(outputs('text', 'json'))
  .addHelpText(
    'after',
    `
Examples:
  catalog-bot install catalogs/v4.20 --package foo
  catalog-bot install catalogs/v4.20 --package foo --all-channels --upgrade-from published/v4.20
  catalog-bot install catalogs/v4.20 --package foo --bundle foo.v1.2.0=bundle --with olm-v0 olm-v1

Without --with, a registry+v1 bundle must install with OLM v0, and any other with RukPak. Exit code: 0 if it installs, 1 if
it does not, 2 if that could not be found out (an image cannot be read, for example) or the command could not run.`,
  )
  .action(async (dir: string, options: InstallOptions) =>
    (await import('./cli/install.ts')).install(dir, options),
  )

const bundle = program.command('bundle').description('a bundle, as an image or a directory')
bundle
  .command('validate')
  .description('check a bundle: registry+v1, plain+v0 or helm+v3')
  .argument('<bundle>', 'an image reference or a directory')
  .option('--suite <names>', 'additional suites of rules, separated by commas')
  .option('--insecure-registry <host...>', 'registries to contact over plain HTTP')
  .addOption(outputs('text', 'json'))
  .addHelpText(
    'after',
    `
Suites are operatorhub, good-practices, deprecated-apis, community, multiarch, objects and openshift; operatorframework
stands for the first three, as for operator-sdk, and all for every one. Exit code: 0 if there is no error, 1 if there is one,
2 if the bundle could not be read. Each rule has a page in docs/rules.`,
  )
  .action(async (name: string, options: BundleOptions) =>
    (await import('./cli/bundle.ts')).validateOne(name, options),
  )
bundle
  .command('render')
  .description('print the olm.bundle blob of a bundle, as opm render does')
  .argument('<bundle>', 'an image reference or a directory')
  .addOption(migrateLevel())
  .option('--insecure-registry <host...>', 'registries to contact over plain HTTP')
  .action(async (name: string, options: BundleOptions) =>
    (await import('./cli/bundle.ts')).renderOne(name, options),
  )

program
  .command('render')
  .description('print file-based catalogs, bundles and templates as one catalog, as opm writes it')
  .argument(
    '<source...>',
    'a catalog or bundle directory, a template or list (- for standard input), or an image',
  )
  .addOption(migrateLevel())
  .addOption(
    new Option('--migrate', 'apply all migrations').implies({
      migrateLevel: 'bundle-object-to-csv-metadata',
    }),
  )
  .option('--insecure-registry <host...>', 'registries to contact over plain HTTP')
  .addOption(outputs('json', 'yaml'))
  .addHelpText(
    'after',
    `
Templates are basic, semver and substitutes templates, recognised by their schema; the bundle images that they name
are pulled. A composite list is a YAML file with \`references\`, a name and an image each; all that the images hold,
bundles or whole catalogs, is printed. As with opm, the output is not validated: run \`validate\` on it.`,
  )
  .action(async (sources: string[], options: RenderCatalogOptions) =>
    (await import('./cli/render.ts')).render(sources, options),
  )

const opmImage = 'quay.io/operator-framework/opm:latest'

/** What building and rebasing have in common: a base, and where the image goes. */
const imageCommand = (name: string) =>
  program
    .command(name)
    .option('-t, --tag <image...>', 'the names of the image: REGISTRY/REPOSITORY:TAG')
    .option('--push', 'push it; credentials are those of docker and podman')
    .option('--dry-run', 'say what a push would change, and write nothing')
    .option('--oci-layout <dir>', 'write it to a directory as an OCI image layout')
    .option(
      '--platform <platform...>',
      'only these platforms, such as linux/amd64 (default: all of the base)',
    )
    .option('--annotation <key=value...>', 'annotations: where the image comes from')
    .option('--key <file>', 'with --push: sign the image and its provenance with this private key')
    .option('--password-variable <name>', 'the environment variable with its password', 'COSIGN_PASSWORD')
    .option('--no-provenance', 'with --push: put no bill of images and no provenance beside the image')
    .option('--insecure-registry <host...>', 'registries to contact over plain HTTP')
    .addOption(outputs('text', 'json'))

imageCommand('build')
  .description('build a catalog image without a container engine, and push it')
  .argument('<source>', 'a directory of a file-based catalog, or a composite list')
  .option('-i, --base-image <image>', 'the image with opm in it, or scratch', opmImage)
  .option('-l, --extra-labels <key=value...>', 'labels of the image')
  .option('--no-serve-cache', 'leave out the cache: opm builds one at each start')
  .option('--uncompressed', 'do not compress the layer')
  .addOption(
    new Option('--format <format>', 'the format of the documents').choices(['oci', 'docker']).default('oci'),
  )
  .option('--created <time>', 'the time in the image (default: SOURCE_DATE_EPOCH, or 1970)')
  .option('--force', 'push also if nothing has changed')
  .option('--dockerfile', 'print the Dockerfile of `opm generate dockerfile` instead, and stop')
  .option('-b, --builder-image <image>', 'the Dockerfile: the image of the build stage', opmImage)
  .addHelpText(
    'after',
    `
Examples:
  catalog-bot build catalog -t quay.io/org/catalog:v4.20 quay.io/org/catalog:latest --push
  catalog-bot build catalog -i scratch --oci-layout image
  catalog-bot build composite.yaml --dry-run
  catalog-bot build catalog -t quay.io/org/catalog:v4.20 --push --key cosign.key

The same catalog on the same base gives the same digest. If the tags hold the same content already, nothing is pushed. A
composite list is a YAML file with name, repo, tag, and references with a name and an image each. docs/publishing.md tells
more. Exit code: 0; 1 if opm would not serve the catalog; 2 if the command could not run.`,
  )
  .action(async (source: string, options: BuildOptions) =>
    (await import('./cli/build.ts')).build(source, options),
  )

imageCommand('rebase')
  .description('put a published catalog image on a new base, its catalog unchanged')
  .argument('<image>', 'the catalog image; it gets the tags, or keeps its own')
  .requiredOption('-i, --base-image <image>', 'the new base')
  .option(
    '-l, --extra-labels <key=value...>',
    'the labels that it was built with (default: asked of the old base)',
  )
  .addHelpText(
    'after',
    `
Example:
  catalog-bot rebase quay.io/org/catalog:v4.20 -i quay.io/operator-framework/opm:v1.73.0 --push

Exit code: 0; 2 if the command could not run.`,
  )
  .action(async (image: string, options: RebaseOptions) =>
    (await import('./cli/build.ts')).rebase(image, options),
  )

program
  .command('landings')
  .description('show where merging is stopped and why; stop and resume it')
  .addArgument(new Argument('[verb]', 'what to do').choices(['list', 'stop', 'resume']).default('list'))
  .option('--repository <owner/name>', 'the repository (stop and resume need it)')
  .option('--branch <branch>', 'only this branch (default: every branch)')
  .option('--reason <text>', 'why; people see it on every pull request')
  .option('--audit', 'resume: also where the branch does not hold what was checked')
  .option('--json', 'print one JSON document')
  .addHelpText(
    'after',
    `
It works on the store that DATABASE_URL or DATA_DIR names. With a store in DATA_DIR it asks the App that runs there, through
a socket in that folder. Maintainers can do the same with /freeze and /thaw in a comment. Exit code: 0; 1 if there was
nothing to resume; 2 if the command could not run.`,
  )
  .action(async (verb: string, options: LandingsOptions) =>
    (await import('./cli/landings.ts')).landings(verb, options),
  )

program
  .command('verify')
  .description('check that an image is signed by a key, and print what its provenance says')
  .argument('<image>', 'an image reference, by tag or digest')
  .requiredOption('--key <file>', 'the public key, in PEM (cosign.pub)')
  .option('--signed-as <repository>', 'the repository that it was signed in, where this is a copy of it')
  .option('--insecure-registry <host...>', 'registries to contact over plain HTTP')
  .addOption(outputs('text', 'json'))
  .addHelpText(
    'after',
    `
Example:
  catalog-bot verify quay.io/example/catalog:v4.20 --key cosign.pub

It accepts what \`cosign verify --key cosign.pub --insecure-ignore-tlog=true\` accepts, if the signature is for this
repository. Attestations may be missing; where there are some, one must be by the key. Exit code: 0 if the image is verified,
1 if not, 2 if the command could not run.`,
  )
  .action(async (image: string, options: VerifyCommandOptions) =>
    (await import('./cli/verify.ts')).verify(image, options),
  )

program
  .command('sign')
  .description("sign an image in its registry, in cosign's format")
  .argument('<image>', 'an image reference, by tag or digest')
  .requiredOption('--key <file>', 'the private key: as cosign keeps it (cosign.key), or PKCS #8 in PEM')
  .option('--password-variable <name>', 'the environment variable with its password', 'COSIGN_PASSWORD')
  .option('--insecure-registry <host...>', 'registries to contact over plain HTTP')
  .addHelpText(
    'after',
    `
Example:
  catalog-bot sign quay.io/example/catalog:v4.20 --key cosign.key

The digest that the tag names now is signed; signatures that are there stay. An image that the key has signed already is
left as it is. Exit code: 0, or 2 if the command could not run.`,
  )
  .action(async (image: string, options: SignOptions) => (await import('./cli/sign.ts')).sign(image, options))

program
  .command('serve-catalog')
  .description('serve a catalog to OLM: its gRPC API, as opm serve does, and the HTTP API of catalogd')
  .argument('<catalog>', 'a directory of file-based catalogs, or a catalog image')
  .option('-p, --port <n>', 'the port of the gRPC API; 0 takes any that is free', '50051')
  .option('--http-port <n>', 'the port of the HTTP API; 0 takes any that is free', '8080')
  .option('--host <address>', 'the address to listen on; 0.0.0.0 is all of them', '127.0.0.1')
  .option('--insecure-registry <host...>', 'registries to contact over plain HTTP')
  .addHelpText(
    'after',
    `
Examples:
  catalog-bot serve-catalog catalogs/v4.20
  catalog-bot serve-catalog quay.io/example/catalog:v4.20 --host 0.0.0.0
  curl 'http://127.0.0.1:8080/api/v1/metas?schema=olm.channel&package=example-operator'
  grpcurl -plaintext 127.0.0.1:50051 api.Registry/ListPackages

The catalog is read once, at the start. SIGTERM ends it when the calls that are under way have their answers. Exit code: 0
if it was told to stop, 1 if opm would not serve the catalog, 2 if the command could not run.`,
  )
  .action(async (catalog: string, options: ServeCatalogOptions) =>
    (await import('./cli/serve-catalog.ts')).serveCatalog(catalog, options),
  )

program
  .command('serve')
  .description('run the GitHub App')
  .action(async () => (await import('./cli/serve.ts')).serve())

program
  .command('demo')
  .description('run the bot against a simulated GitHub and registry, with good and bad pull requests')
  .option('--keep', 'keep it running at the end')
  .option('-v, --verbose', "print the bot's log")
  .action(async (options: DemoOptions) => (await import('./cli/demo.ts')).demo(options))

program.parseAsync().catch(async (error: unknown) => (await import('./cli/output.ts')).fail(error))
