// The commands for writing catalogs (blobs, templates, and bundles) and for reading about rules.
import { ruleSuiteNames } from '@catalog-bot/findings/rule'
import { Argument, Option, type Command } from 'commander'
import {
  createInsecureRegistryOption,
  createMigrateLevelOption,
  createOutputOption,
  createIntegerOption,
  addExamplesToHelp,
  runImported,
} from '../options.ts'

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
    .description('Set up a catalog repository, or create an olm.package blob')
    .argument('[package]', 'package name; if omitted, the command sets up the current repository')
    .option('-c, --default-channel <name>', 'package: default channel for subscriptions')
    .option('-d, --description <file>', 'package: file with the description, such as README.md')
    .option('-i, --icon <file>', 'package: file with the icon')
    .addOption(
      new Option('-o, --output <format>', 'package: output format (default: json)').choices(['json', 'yaml']),
    )
    .option('--action', 'repository: print a GitHub workflow that validates catalogs without the App')
    .option('--uses <action>', 'repository: catalog-bot action for the workflow, as OWNER/NAME@REF')
    .option('--write', 'repository: if a configuration file is needed, write it instead of printing it')
    .addOption(
      createIntegerOption(
        '--app <id>',
        'repository: ID of the App, used in the rulesets',
        1,
        Number.MAX_SAFE_INTEGER,
      ),
    )
    .action(runImported(async () => (await import('../init.ts')).runInit))
  addExamplesToHelp(
    command,
    ['init', 'init --write', 'init --action', 'init foo -c stable -d README.md -i icon.svg -o yaml'],
    `Without a name, the command lists the catalogs that it finds, the configuration that they require, and, with --app, the rulesets to import.
Without --write, it does not change anything.

Exit codes:
  0  success
  1  no catalog was found
  2  the command could not run`,
  )
}

function addRenderCommand(program: Command): void {
  const command = program
    .command('render')
    .description('Render catalogs, bundles, and templates to FBC')
    .argument(
      '<source...>',
      'catalog or bundle directory, template or composite file (- for standard input), or image',
    )
    .addOption(createMigrateLevelOption())
    .addOption(
      new Option('--migrate', 'apply all migrations').implies({
        migrateLevel: 'bundle-object-to-csv-metadata',
      }),
    )
    .addOption(createInsecureRegistryOption())
    .addOption(createOutputOption('json', 'yaml'))
    .action(runImported(async () => (await import('../render.ts')).runRender))
  addExamplesToHelp(
    command,
    [
      'render template.yaml -o yaml',
      'render catalogs/v4.20',
      'render quay.io/example/bundle:v1.2.0 --migrate',
    ],
    `The command recognizes basic, semver, and substitutes templates by their schema, and pulls the bundle images that they reference.
A composite file is a YAML file with a list of \`references\`. Each reference has a name and an image. The command prints the contents of all these
images, which can be bundles or catalogs. As with opm, the output is not validated. To validate the output, run \`validate\`.`,
  )
}

function addConvertCommand(program: Command): void {
  const command = program
    .command('convert-template')
    .description('Convert a catalog to a basic or substitutes template')
    .addArgument(new Argument('<kind>', 'type of template').choices(['basic', 'substitutes']))
    .argument('[file]', 'catalog file, or - for standard input (default: -)')
    .addOption(createOutputOption('json', 'yaml'))
    .action(runImported(async () => (await import('../render.ts')).convertTemplate))
  addExamplesToHelp(
    command,
    ['convert-template basic catalogs/v4.20/foo/catalog.yaml -o yaml', 'convert-template basic - -o yaml'],
    `The output matches that of \`opm alpha convert-template\`.

Exit codes:
  0  success
  1  the file is not a catalog (prints opm's error message)
  2  the command could not run`,
  )
}

function addBundleCommand(program: Command): void {
  const bundle = program.command('bundle').description('Validate or render a bundle')
  addExamplesToHelp(bundle, ['bundle validate bundle', 'bundle render quay.io/example/bundle:v1.2.0'])
  const validate = bundle
    .command('validate')
    .description('Validate a registry+v1, plain+v0, or helm+v3 bundle')
    .argument('<bundle>', 'image reference or directory')
    .option('--suite <names>', 'additional rule suites, comma-separated')
    .addOption(createInsecureRegistryOption())
    .addOption(createOutputOption('text', 'json'))
    .action(runImported(async () => (await import('../bundle.ts')).runBundleValidate))
  addExamplesToHelp(
    validate,
    ['bundle validate bundle', 'bundle validate quay.io/example/bundle:v1.2.0 --suite operatorhub,multiarch'],
    `The suites are ${ruleSuiteNames.join(', ')}.
As in operator-sdk, the suite operatorhub also selects capabilities, categories, and deprecated-apis, and the suite operatorframework also selects
good-practices. To select every suite, use all. To learn about a rule, run "catalog-bot rule ID".

Exit codes:
  0  the bundle has no errors
  1  the bundle has errors
  2  the bundle could not be read`,
  )
  const render = bundle
    .command('render')
    .description('Print the olm.bundle blob of a bundle, like opm render')
    .argument('<bundle>', 'image reference or directory')
    .addOption(createMigrateLevelOption())
    .addOption(createInsecureRegistryOption())
    .action(runImported(async () => (await import('../bundle.ts')).runBundleRender))
  addExamplesToHelp(render, ['bundle render bundle', 'bundle render quay.io/example/bundle:v1.2.0'])
}

function addRuleCommand(program: Command): void {
  const command = program
    .command('rule')
    .description('Explain a rule')
    .argument('[id]', 'rule ID as shown in findings (default: list all rules)')
    .addOption(createOutputOption('text', 'json'))
    .action(runImported(async () => (await import('../rule.ts')).printRuleOrRuleList))
  addExamplesToHelp(
    command,
    ['rule several-heads', 'rule'],
    `Exit codes:
  0  success
  2  the rule does not exist`,
  )
}
