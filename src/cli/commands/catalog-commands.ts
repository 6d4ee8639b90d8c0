// The commands that validate, draw, list, look up, and install a catalog.
import { Option, type Command } from 'commander'
import {
  createInsecureRegistryOption,
  createCommaSeparatedOption,
  createOutputOption,
  createRepeatableOption,
  createIntegerOption,
  addExamplesToHelp,
  runImported,
} from '../options.ts'
import type { ListCommandOptions } from '../list.ts'

const targets = ['olm-v0', 'olm-v1', 'rukpak-plain', 'rukpak-registry', 'rukpak-helm']

export function addCatalogCommands(program: Command): void {
  addValidateCommand(program)
  addGraphCommand(program)
  addListCommand(program)
  addImagesCommand(program)
  addInstallCommand(program)
}

export function addValidateCommand(program: Command): void {
  const command = program
    .command('validate')
    .description('Validate file-based catalogs')
    .argument('[dir...]', 'catalog directories (default: every catalog in the current repository)')
    .addOption(
      new Option(
        '--profile <profile>',
        "opm: apply only opm's rules and return opm's result; full: also apply catalog-bot's rules",
      )
        .choices(['full', 'opm'])
        .default('full'),
    )
    .option('--opm <release>', 'opm release whose validation rules apply', 'v1.73')
    .option('--no-cache', 'do not use the cache')
    .option('--all', 'print every finding (default: all errors and ten warnings per rule)')
    .option(
      '--config <file>',
      "full: read rule settings from this file (default: the repository's .github/catalog-bot.yml)",
    )
    .option('--no-config', 'full: use the default severity of every rule')
    .addOption(createOutputOption('text', 'json', 'sarif'))
    .action(runImported(async () => (await import('../validate.ts')).runValidate))
  addExamplesToHelp(
    command,
    ['validate', 'validate catalogs/v4.20', 'validate --profile opm catalogs/v4.20', 'validate -o sarif'],
    `The json format prints one line per directory. The sarif format prints one document with paths relative to the current directory. To learn about a
rule, run "catalog-bot rule ID".

Exit codes:
  0  no errors
  1  at least one error
  2  the command could not run`,
  )
}

function addGraphCommand(program: Command): void {
  const graph = program
    .command('graph')
    .description('Draw upgrade graphs (Mermaid or SVG)')
    .argument('[dir]', 'catalog directory (default: the only catalog in the current repository)')
    .addOption(createRepeatableOption('--package <name>', 'package to draw (default: all packages)'))
    .addOption(createOutputOption('mermaid', 'svg', 'short'))
    .addOption(new Option('--opm', 'the same as -o mermaid').implies({ output: 'mermaid' }).hideHelp())
    .option('--out <folder>', 'folder in which to write one file per package')
    .action(runImported(async () => (await import('../graph.ts')).printGraph))
  addExamplesToHelp(
    graph,
    ['graph', 'graph catalogs/v4.20 --package foo', 'graph catalogs/v4.20 -o svg --out pictures'],
    `The mermaid format prints every entry and every edge, like \`opm alpha render-graph\`. The short format also prints Mermaid, but shortens or omits large
channels to fit a GitHub comment. The svg format draws one package. To draw several packages, use --out.

Exit codes:
  0  success
  1  some files could not be read (the rest of the catalog is drawn)
  2  the command could not run`,
  )
  const renderGraph = program
    .command('render-graph')
    .description("Print upgrade graphs in opm's Mermaid format")
    .argument('<catalog...>', 'catalog directories or catalog images')
    .option('-p, --package-name <name>', 'package to print (default: all packages)')
    .option('--minimum-edge <bundle>', 'print only the upgrades that start at this bundle')
    .option('--draw-v0-semantics', 'mark the bundles that are skipped and the edges that OLM v0 ignores')
    .addOption(createInsecureRegistryOption())
    .action(runImported(async () => (await import('../graph.ts')).renderGraph))
  addExamplesToHelp(
    renderGraph,
    [
      'render-graph catalogs/v4.20',
      'render-graph catalogs/v4.20 -p foo --draw-v0-semantics',
      'render-graph quay.io/example/catalog:v4.20 --minimum-edge foo.v1.2.0',
    ],
    `The arguments and the output match those of \`opm alpha render-graph\`.

Exit codes:
  0  success
  1  the catalog cannot be drawn (prints opm's error message)
  2  the command could not run`,
  )
}

function addListCommand(program: Command): void {
  const group = program.command('list').description('List packages, channels, or bundles')
  addExamplesToHelp(group, ['list packages catalogs/v4.20', 'list bundles catalogs/v4.20 foo'])
  const lists = [
    [
      'packages',
      'List packages with their display names and default channels',
      '',
      'list packages catalogs/v4.20',
    ],
    [
      'channels',
      'List channels and their heads, for all packages or for one',
      '[package]',
      'list channels catalogs/v4.20 foo',
    ],
    [
      'bundles',
      'List bundles by channel, for all packages or for one',
      '[package]',
      'list bundles catalogs/v4.20 foo',
    ],
  ] as const
  for (const [kind, description, second, example] of lists) {
    const command = group
      .command(kind)
      .description(description)
      .argument('<catalog>', 'catalog directory or catalog image')
    if (second !== '') command.argument(second, 'package to list (default: all packages)')
    command
      .addOption(createOutputOption('text', 'json'))
      .addOption(createInsecureRegistryOption())
      .action(async (catalog: string, ...rest: readonly unknown[]) => {
        const name = second === '' ? undefined : (rest[0] as string | undefined)
        const options = rest[second === '' ? 0 : 1] as ListCommandOptions
        await (await import('../list.ts')).printCatalogObjects(kind, catalog, name, options)
      })
    addExamplesToHelp(
      command,
      [example, `list ${kind} quay.io/example/catalog:v4.20 -o json`],
      `The text format matches the output of \`opm alpha list\`.

Exit codes:
  0  success
  1  opm could not load the catalog, or the package was not found (prints opm's error message)
  2  the command could not run`,
    )
  }
}

function addImagesCommand(program: Command): void {
  const command = program
    .command('images')
    .description('Verify that all referenced images exist')
    .argument('<dir>', 'catalog directory')
    .addOption(
      createIntegerOption('--concurrency <n>', 'maximum number of simultaneous lookups', 1, 1000).default(64),
    )
    .option('--resume <file>', 'file in which to store results, so that you can resume an interrupted run')
    .addOption(createInsecureRegistryOption())
    .addOption(createOutputOption('text', 'json'))
    .action(runImported(async () => (await import('../list.ts')).checkCatalogImages))
  addExamplesToHelp(
    command,
    ['images catalogs/v4.20', 'images catalogs/v4.20 --resume answers.jsonl -o json'],
    `Exit codes:
  0  every image exists
  1  at least one image does not exist
  2  the result is inconclusive for some images, or the command could not run`,
  )
}

function addInstallCommand(program: Command): void {
  const command = program
    .command('install')
    .description('Simulate installing a package, or install it on a cluster with --kubeconfig')
    .argument('<dir>', 'catalog directory or catalog image')
    .requiredOption('--package <name>', 'package to install')
    .addOption(
      createRepeatableOption(
        '--channel <name>',
        'channel to install from (default: the default channel)',
      ).conflicts('allChannels'),
    )
    .option('--all-channels', 'install from every channel of the package')
    .option(
      '--upgrade-from <dir>',
      'earlier version of the catalog to upgrade from (default: the catalog itself)',
    )
    .addOption(
      createRepeatableOption(
        '--bundle <name=dir>',
        'read the content of a bundle from a directory instead of its image',
      ),
    )
    .addOption(
      createRepeatableOption(
        '--beside <catalog>',
        'another catalog that can provide dependencies, as [NAME[:PRIORITY]=]DIR or image (default priority: 0)',
      ),
    )
    .addOption(
      createCommaSeparatedOption(
        '--with <target>',
        'target that must be able to install the package: olm-v0, olm-v1, rukpak-plain, rukpak-registry, or rukpak-helm',
        (target) => (targets.includes(target) ? undefined : `Allowed choices are ${targets.join(', ')}.`),
      ),
    )
    .option('--objects', 'also print the objects that would be created')
    .option('--verbose', "print the installers' full messages")
    .option('--offline', 'do not contact any registry')
    .option(
      '--kubeconfig <file>',
      'also install the package on this cluster, in a temporary namespace; if the simulation passes, the result on the cluster determines the exit code',
    )
    .option('--context <name>', 'kubeconfig context (default: the current context)')
    .option(
      '--catalog-host <host>',
      "address at which the cluster can load the catalog from this machine (default: the machine's first address)",
    )
    .option(
      '--installer-role <name>',
      'ClusterRole of the installer for OLM v1 before 1.11 (default: cluster-admin)',
    )
    .option('--force-clean-up', "remove the finalizers of OLM's objects if OLM does not remove them in time")
    .addOption(createInsecureRegistryOption())
    .addOption(createOutputOption('text', 'json'))
    .action(runImported(async () => (await import('../install.ts')).runInstall))
  addInstallExamples(command)
}

function addInstallExamples(command: Command): void {
  addExamplesToHelp(
    command,
    [
      'install catalogs/v4.20 --package foo',
      'install catalogs/v4.20 --package foo --all-channels --upgrade-from published/v4.20',
      'install catalogs/v4.20 --package foo --bundle foo.v1.2.0=bundle --with olm-v0,olm-v1',
    ],
    `Without --with, OLM v0 must be able to install registry+v1 bundles, and RukPak must be able to install other bundles.

Exit codes:
  0  the package can be installed
  1  the package cannot be installed
  2  the result is inconclusive (for example, an image cannot be read or the cluster is unsuitable), or the command could not run`,
  )
}
