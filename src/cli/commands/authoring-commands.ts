// The commands that write what a catalog is made of: blobs, templates, bundles; and the pages of the rules about them.
import { Argument, Option, type Command } from 'commander'
import type { BundleOptions } from '../bundle.ts'
import type { ConvertTemplateOptions } from '../convert-template.ts'
import { addHelp } from '../help.ts'
import type { InitOptions } from '../init.ts'
import { insecureRegistryOption, migrateLevelOption, outputOption, integerOption } from '../options.ts'
import type { RenderCatalogOptions } from '../render.ts'

export function addAuthoringCommands(program: Command): void {
  addInitCommand(program)
  addRenderCommand(program)
  addConvertCommand(program)
  addBundleCommand(program)
  addRuleCommand(program)
}

function addInitCommand(program: Command): void {
  const command = program
    .command('init')
    .description(
      'set up a catalog repository for the bot; or, with a name, print an olm.package blob as opm init does',
    )
    .argument('[package]', 'the name of a package (default: set up the current repository)')
    .option('-c, --default-channel <name>', 'package: the channel that subscriptions get')
    .option('-d, --description <file>', 'package: a file with its description, such as README.md')
    .option('-i, --icon <file>', 'package: a file with its icon')
    .addOption(
      new Option('-o, --output <format>', 'package: what to print (default: json)').choices(['json', 'yaml']),
    )
    .option('--action', 'repository: print a GitHub workflow that validates, for those without the App')
    .option('--write', 'repository: write the configuration, where one is needed, instead of printing it')
    .addOption(
      integerOption('--app <id>', "repository: the App's id, for the rulesets", 1, Number.MAX_SAFE_INTEGER),
    )
    .action(async (name: string | undefined, options: InitOptions) =>
      (await import('../init.ts')).runInit(name, options),
    )
  addHelp(
    command,
    ['init', 'init --write', 'init --action', 'init foo -c stable -d README.md -i icon.svg -o yaml'],
    `Without a name it says which catalogs it finds, what the configuration needs to say, and which rulesets to import; it
changes nothing without --write. Exit code: 0; 1 if no catalog is found; 2 if the command could not run.`,
  )
}

function addRenderCommand(program: Command): void {
  const command = program
    .command('render')
    .description('print file-based catalogs, bundles and templates as one catalog, as opm writes it')
    .argument(
      '<source...>',
      'a catalog or bundle directory, a template or list (- for standard input), or an image',
    )
    .addOption(migrateLevelOption())
    .addOption(
      new Option('--migrate', 'apply all migrations').implies({
        migrateLevel: 'bundle-object-to-csv-metadata',
      }),
    )
    .addOption(insecureRegistryOption())
    .addOption(outputOption('json', 'yaml'))
    .action(async (sources: string[], options: RenderCatalogOptions) =>
      (await import('../render.ts')).render(sources, options),
    )
  addHelp(
    command,
    [
      'render template.yaml -o yaml',
      'render catalogs/v4.20',
      'render quay.io/example/bundle:v1.2.0 --migrate',
    ],
    `Templates are basic, semver and substitutes templates, recognised by their schema; the bundle images that they name
are pulled. A composite list is a YAML file with \`references\`, a name and an image each; all that the images hold,
bundles or whole catalogs, is printed. As with opm, the output is not validated: run \`validate\` on it.`,
  )
}

function addConvertCommand(program: Command): void {
  const command = program
    .command('convert-template')
    .description('print a template from which a catalog can be rendered, as opm alpha convert-template does')
    .addArgument(new Argument('<kind>', 'the kind of template').choices(['basic', 'substitutes']))
    .argument('[file]', 'a file of a file-based catalog (default, and -: standard input)')
    .addOption(outputOption('json', 'yaml'))
    .action(
      async (kind: 'basic' | 'substitutes', file: string | undefined, options: ConvertTemplateOptions) =>
        (await import('../convert-template.ts')).convertTemplate(kind, file, options),
    )
  addHelp(
    command,
    ['convert-template basic catalogs/v4.20/foo/catalog.yaml -o yaml', 'convert-template basic - -o yaml'],
    `Exit code: 0; 1 in opm's words where the file is no catalog; 2 if the command could not run.`,
  )
}

function addBundleCommand(program: Command): void {
  const bundle = program.command('bundle').description('a bundle, as an image or a directory')
  addHelp(bundle, ['bundle validate bundle', 'bundle render quay.io/example/bundle:v1.2.0'])
  const validate = bundle
    .command('validate')
    .description('check a bundle: registry+v1, plain+v0 or helm+v3')
    .argument('<bundle>', 'an image reference or a directory')
    .option('--suite <names>', 'additional suites of rules, separated by commas')
    .addOption(insecureRegistryOption())
    .addOption(outputOption('text', 'json'))
    .action(async (name: string, options: BundleOptions) =>
      (await import('../bundle.ts')).runBundleValidate(name, options),
    )
  addHelp(
    validate,
    ['bundle validate bundle', 'bundle validate quay.io/example/bundle:v1.2.0 --suite operatorhub,multiarch'],
    `Suites are operatorhub, good-practices, deprecated-apis, community, multiarch, objects and openshift; operatorframework
stands for the first three, as for operator-sdk, and all for every one. Exit code: 0 if there is no error, 1 if there is one,
2 if the bundle could not be read. "catalog-bot rule ID" prints the page of a rule.`,
  )
  const render = bundle
    .command('render')
    .description('print the olm.bundle blob of a bundle, as opm render does')
    .argument('<bundle>', 'an image reference or a directory')
    .addOption(migrateLevelOption())
    .addOption(insecureRegistryOption())
    .action(async (name: string, options: BundleOptions) =>
      (await import('../bundle.ts')).runBundleRender(name, options),
    )
  addHelp(render, ['bundle render bundle', 'bundle render quay.io/example/bundle:v1.2.0'])
}

function addRuleCommand(program: Command): void {
  const command = program
    .command('rule')
    .description('print the page of a rule: what is wrong, why it matters, what to do')
    .argument('[id]', 'the rule, as findings name it (default: list all rules)')
    .addOption(outputOption('text', 'json'))
    .action(async (id: string | undefined, options: { output: 'text' | 'json' }) =>
      (await import('../rule.ts')).printRule(id, options),
    )
  addHelp(command, ['rule several-heads', 'rule'], `Exit code: 0; 2 if there is no such rule.`)
}
