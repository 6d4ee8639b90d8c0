// `init`: what a catalog repository needs for the bot, said and, where wanted, written. `init NAME`: an olm.package blob. Exit 1
// where no catalog is found, 2 when the command could not run.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { configPath } from '../config/config-path.ts'
import { defaultConfig } from '../config/config.ts'
import { getRequiredOwnChecks } from '../gate/required-own-checks.ts'
import { buildRecommendedRulesets } from '../gate/recommended-rulesets.ts'
import { toPrintable } from '../findings/printable.ts'
import { toCheckNames } from '../messages/report.ts'
import { initPackage, type InitPackageOptions } from './init-package.ts'
import { findLocalCatalogs } from './local-catalogs.ts'
import { setExitCode, print, printToStderr } from './output.ts'
import { findDefaultBase } from './pull-defaults.ts'
import { readVersion } from './version.ts'

export interface InitOptions extends InitPackageOptions {
  readonly action?: boolean
  readonly write?: boolean
  readonly app?: number
}

export async function runInit(name: string | undefined, options: InitOptions): Promise<void> {
  const { defaultChannel, description, icon, output, action, write, app } = options
  if (name !== undefined) {
    if (action !== undefined || write !== undefined || app !== undefined)
      throw new Error('--action, --write and --app set up a repository: leave the name of the package out')
    return initPackage(name, options)
  }
  if ([defaultChannel, description, icon, output].some((given) => given !== undefined))
    throw new Error('name the package: catalog-bot init NAME')
  if (action === true) return print(renderWorkflow())
  await initRepository(write === true, app)
}

async function initRepository(isToWrite: boolean, app: number | undefined): Promise<void> {
  const { top, roots } = await findLocalCatalogs()
  const hasConfig = existsSync(join(top, configPath))
  if (roots.length > 0) {
    print(`Catalogs: ${roots.map((root) => toPrintable(root)).join(', ')}`)
    print(
      hasConfig
        ? `${configPath} is there already, and stays as it is.`
        : 'They are found by their place: no configuration is needed.',
    )
  } else {
    print('No catalog is found here.')
    if (hasConfig) print(`List its directory under "catalogs" in ${configPath}.`)
    else if (isToWrite) {
      mkdirSync(dirname(join(top, configPath)), { recursive: true })
      writeFileSync(join(top, configPath), configTemplate, { flag: 'wx' })
      print(`Wrote ${configPath}: put the directory of your catalog into it.`)
    } else
      print(
        `Say where it is, in ${configPath} ("catalog-bot init --write" writes this file):\n\n${configTemplate}`,
      )
  }
  await printRulesets(top, app)
  print('\nWithout the App, a workflow can validate: catalog-bot init --action')
  setExitCode(roots.length > 0 ? 0 : 1)
}

const configTemplate = `# What catalog-bot does in this repository. Every field: docs/configuration.md of the project.
catalogs:
  - path: catalog # the directory of a file-based catalog
`

/** Both name the App's id; otherwise any App's check would count. */
async function printRulesets(top: string, app: number | undefined): Promise<void> {
  if (app === undefined) {
    print('\nThe rulesets to import need the id of your App: catalog-bot init --app ID')
    return
  }
  const branch = await findDefaultBase(top).then(
    ({ name }) => name,
    () => {
      printToStderr('The default branch is not known here; the rulesets are for main.')
      return 'main'
    },
  )
  const { a, b } = buildRecommendedRulesets(branch, app, toCheckNames(getRequiredOwnChecks(defaultConfig)))
  print('\nImport two rulesets (Settings, Rules, Rulesets, Import a ruleset). Save each as a file:')
  for (const [file, ruleset] of [
    ['ruleset-a.json', a],
    ['ruleset-b.json', b],
  ] as const)
    print(`\n${file}\n${JSON.stringify(ruleset, undefined, 2)}`)
}

/** Pins actions by commit, because tags can be moved. */
function renderWorkflow(): string {
  return `# .github/workflows/catalog.yml: judges the catalogs of each pull request. It merges nothing, and needs no App.
name: catalog
on: pull_request
permissions:
  contents: read
jobs:
  validate:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2
        with:
          fetch-depth: 2
          persist-credentials: false
      - uses: actions/setup-node@49933ea5288caeca8642d1e84afbd3f7d6820020 # v4.4.0
        with:
          node-version: 24
      # Not in the checkout: an .npmrc of the pull request's would say from where.
      - run: npm install --prefix "$RUNNER_TEMP/catalog-bot" --ignore-scripts @catalog-bot/cli@${readVersion()}
        working-directory: \${{ runner.temp }}
      - run: '"$RUNNER_TEMP/catalog-bot/node_modules/.bin/catalog-bot" action'
`
}
