// The commands for a catalog on disk: judged, drawn, listed, looked up, installed.
import { Option, type Command } from 'commander'
import { addHelp } from '../help.ts'
import type { GraphCommandOptions } from '../graph.ts'
import type { ImagesOptions } from '../images.ts'
import type { InstallOptions } from '../install.ts'
import type { ListOptions } from '../list.ts'
import {
  insecureRegistryOption,
  listOption,
  outputOption,
  repeatableOption,
  integerOption,
} from '../options.ts'
import type { RenderGraphOptions } from '../render-graph.ts'
import type { ValidateCommandOptions } from '../validate.ts'

export function addCatalogCommands(program: Command): void {
  addValidateCommand(program)
  addGraphCommand(program)
  addListCommand(program)
  addImagesCommand(program)
  addInstallCommand(program)
}

function addValidateCommand(program: Command): void {
  const command = program
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
    .addOption(outputOption('text', 'json', 'sarif'))
    .action(async (directories: string[], options: ValidateCommandOptions) =>
      (await import('../validate.ts')).validate(directories, options),
    )
  addHelp(
    command,
    ['validate', 'validate catalogs/v4.20', 'validate --profile opm catalogs/v4.20', 'validate -o sarif'],
    `json prints one line for each directory. sarif prints one document, with paths from the current directory. Exit code: 0 if
there is no error, 1 if there is one, 2 if the command could not run. "catalog-bot rule ID" prints the page of a rule.`,
  )
}

function addGraphCommand(program: Command): void {
  const graph = program
    .command('graph')
    .description("draw the upgrade graphs of a catalog's packages")
    .argument(
      '[dir]',
      'a directory of file-based catalogs (default: the only catalog of the current repository)',
    )
    .addOption(repeatableOption('--package <name>', 'only this package'))
    .addOption(outputOption('mermaid', 'svg', 'short'))
    .addOption(new Option('--opm', 'the same as -o mermaid').implies({ output: 'mermaid' }).hideHelp())
    .option('--out <folder>', 'write a file for each package')
    .action(async (dir: string | undefined, options: GraphCommandOptions) =>
      (await import('../graph.ts')).printGraph(dir, options),
    )
  addHelp(
    graph,
    ['graph', 'graph catalogs/v4.20 --package foo', 'graph catalogs/v4.20 -o svg --out pictures'],
    `mermaid is the text of \`opm alpha render-graph\`: every entry, every edge. short is mermaid too, shortened to what
GitHub shows in a comment. svg is one picture of one package; for more packages, give a folder with --out. Exit code: 1
if files could not be read; the rest is drawn.`,
  )
  const renderGraph = program
    .command('render-graph')
    .description('print upgrade graphs in mermaid, as opm alpha render-graph does')
    .argument('<catalog...>', 'directories of file-based catalogs, or catalog images')
    .option('-p, --package-name <name>', 'only this package')
    .option('--minimum-edge <bundle>', 'only what upgrades from this bundle onwards')
    .option(
      '--draw-v0-semantics',
      'show what OLM v0 passes over: skipped bundles, and edges that do not count',
    )
    .addOption(insecureRegistryOption())
    .action(async (catalogs: string[], options: RenderGraphOptions) =>
      (await import('../render-graph.ts')).renderGraph(catalogs, options),
    )
  addHelp(
    renderGraph,
    [
      'render-graph catalogs/v4.20',
      'render-graph catalogs/v4.20 -p foo --draw-v0-semantics',
      'render-graph quay.io/example/catalog:v4.20 --minimum-edge foo.v1.2.0',
    ],
    `Exit code: 0; 1 in opm's words where the catalog cannot be drawn; 2 if the command could not run.`,
  )
}

function addListCommand(program: Command): void {
  const group = program.command('list').description('list what is in a catalog, as opm alpha list does')
  addHelp(group, ['list packages catalogs/v4.20', 'list bundles catalogs/v4.20 foo'])
  const lists = [
    [
      'packages',
      'list the packages: name, display name, default channel',
      '',
      'list packages catalogs/v4.20',
    ],
    [
      'channels',
      'list the channels of all packages, or of one, with their heads',
      '[package]',
      'list channels catalogs/v4.20 foo',
    ],
    [
      'bundles',
      'list the bundles of all packages, or of one, once for each channel',
      '[package]',
      'list bundles catalogs/v4.20 foo',
    ],
  ] as const
  for (const [kind, description, second, example] of lists) {
    const command = group
      .command(kind)
      .description(description)
      .argument('<catalog>', 'a directory of file-based catalogs, or a catalog image')
    if (second !== '') command.argument(second, 'only this package')
    command
      .addOption(outputOption('text', 'json'))
      .addOption(insecureRegistryOption())
      .action(async (catalog: string, ...rest: readonly unknown[]) => {
        const name = second === '' ? undefined : (rest[0] as string | undefined)
        const options = rest[second === '' ? 0 : 1] as ListOptions
        await (await import('../list.ts')).printList(kind, catalog, name, options)
      })
    addHelp(
      command,
      [example, `list ${kind} quay.io/example/catalog:v4.20 -o json`],
      `text is what opm prints. Exit code: 0; 1 in opm's words where it would not load the catalog; 2 if the command could not run.`,
    )
  }
}

function addImagesCommand(program: Command): void {
  const command = program
    .command('images')
    .description('look up every image that a catalog names in its registry')
    .argument('<dir>', 'a directory of file-based catalogs')
    .addOption(integerOption('--concurrency <n>', 'how many to look up at once', 1, 1000).default(64))
    .option('--resume <file>', 'save answers in this file, and continue from it')
    .addOption(insecureRegistryOption())
    .addOption(outputOption('text', 'json'))
    .action(async (dir: string, options: ImagesOptions) =>
      (await import('../images.ts')).checkImages(dir, options),
    )
  addHelp(
    command,
    ['images catalogs/v4.20', 'images catalogs/v4.20 --resume answers.jsonl -o json'],
    `Exit code: 0 if no image is certainly missing, 1 if one is, 2 if the command could not run.`,
  )
}

function addInstallCommand(program: Command): void {
  const command = program
    .command('install')
    .description(
      'install a package without a cluster: what OLM would resolve, unpack and create; then on one, where one is given',
    )
    .argument('<dir>', 'a directory of file-based catalogs, or a catalog image')
    .requiredOption('--package <name>', 'the package')
    .addOption(
      repeatableOption('--channel <name>', 'only this channel (default: the default channel)').conflicts(
        'allChannels',
      ),
    )
    .option('--all-channels', 'every channel of the package')
    .option(
      '--upgrade-from <dir>',
      'the catalog as it was: upgrade its versions (default: those of the catalog)',
    )
    .addOption(
      repeatableOption('--bundle <name=dir>', "a bundle's content from a directory instead of its image"),
    )
    .addOption(
      repeatableOption(
        '--beside <catalog>',
        'another catalog that dependencies may come from, as [NAME[:PRIORITY]=]DIR or image (priority default: 0)',
      ),
    )
    .addOption(
      listOption(
        '--with <target>',
        'it must install with olm-v0, olm-v1, rukpak-plain, rukpak-registry or rukpak-helm',
        ['olm-v0', 'olm-v1', 'rukpak-plain', 'rukpak-registry', 'rukpak-helm'],
      ),
    )
    .option('--objects', 'print the objects that would be created too')
    .option('--offline', 'contact no registry')
    .option(
      '--kubeconfig <file>',
      'install it on this cluster too, in a namespace of its own that is removed again',
    )
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option(
      '--catalog-host <host>',
      'where the cluster reaches this machine, which serves it the catalog (default: its first address)',
    )
    .option(
      '--installer-role <name>',
      'ClusterRole of the installer of OLM v1 before 1.11 (default: cluster-admin)',
    )
    .option(
      '--force-clean-up',
      "take off the finalizers of OLM's objects where OLM does not remove them in time",
    )
    .addOption(insecureRegistryOption())
    .addOption(outputOption('text', 'json'))
    .action(async (dir: string, options: InstallOptions) =>
      (await import('../install.ts')).runInstall(dir, options),
    )
  addHelp(
    command,
    [
      'install catalogs/v4.20 --package foo',
      'install catalogs/v4.20 --package foo --all-channels --upgrade-from published/v4.20',
      'install catalogs/v4.20 --package foo --bundle foo.v1.2.0=bundle --with olm-v0,olm-v1',
    ],
    `Without --with, a registry+v1 bundle must install with OLM v0, and any other with RukPak. Exit code: 0 if it installs, 1 if
it does not, 2 if that could not be found out (an image cannot be read, or the cluster does not suit, for example) or the
command could not run. With --kubeconfig what the cluster says counts.`,
  )
}
