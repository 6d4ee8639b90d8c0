// `init`: prints or writes what a catalog repository needs. `init NAME`: prints an olm.package blob.
import { existsSync, mkdirSync, writeFileSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { escapeNonPrintableCharacters } from '@catalog-bot/findings/printable'
import { sniffMediaType } from '@catalog-bot/fbc/load/parse-blobs'
import { formatCatalogJson } from '@catalog-bot/fbc/write/format-json'
import { formatCatalogYaml } from '@catalog-bot/fbc/write/format-yaml'
import type { WritableCatalog } from '@catalog-bot/fbc/write/writable-catalog'
import { decodeUtf8LikeGo } from '@catalog-bot/fbc/go/utf8'
import { configPath } from '../config/config-path.ts'
import { defaultConfig } from '../config/config.ts'
import { getRequiredBotChecks } from '../policy/decide.ts'
import { buildRecommendedRulesets } from '../policy/merge-advice.ts'
import { toPrefixedCheckNames } from '../report/report-options.ts'
import { findLocalCatalogRoots } from './local-catalogs.ts'
import { readPackageMetadata } from '../adapters/package-metadata.ts'
import { setExitCode, printToStdout, printToStderr } from './output.ts'
import { findDefaultBaseBranch } from './pull-defaults.ts'

interface InitPackageOptions {
  readonly defaultChannel?: string
  readonly description?: string
  readonly icon?: string
  readonly output?: 'json' | 'yaml'
}

export interface InitCommandOptions extends InitPackageOptions {
  readonly action?: boolean
  /** The action that the workflow uses, `OWNER/NAME@REF`. */
  readonly uses?: string
  readonly write?: boolean
  readonly app?: number
}

export async function runInit(name: string | undefined, options: InitCommandOptions): Promise<void> {
  const { defaultChannel, description, icon, output, action, uses, write, app } = options
  if (name !== undefined) {
    if ([action, uses, write, app].some((given) => given !== undefined))
      throw new Error(
        '--action, --uses, --write, and --app set up a repository and cannot be used with a package name',
      )
    return initPackage(name, options)
  }
  if ([defaultChannel, description, icon, output].some((given) => given !== undefined))
    throw new Error('specify a package name: catalog-bot init NAME')
  if (action === true) return printToStdout(renderGitHubWorkflow(uses))
  await initRepository(write === true, app)
}

async function initRepository(isToWrite: boolean, app: number | undefined): Promise<void> {
  const { top, roots } = await findLocalCatalogRoots()
  const hasConfig = existsSync(join(top, configPath))
  if (roots.length > 0) {
    printToStdout(`Catalogs: ${roots.map((root) => escapeNonPrintableCharacters(root)).join(', ')}`)
    printToStdout(
      hasConfig
        ? `${configPath} already exists and was not changed.`
        : 'catalog-bot finds these catalogs by their location. No configuration is required.',
    )
  } else {
    printToStdout('No catalog found in this repository.')
    if (hasConfig) printToStdout(`List the directory of the catalog under "catalogs" in ${configPath}.`)
    else if (isToWrite) {
      mkdirSync(dirname(join(top, configPath)), { recursive: true })
      writeFileSync(join(top, configPath), initialConfigYaml, { flag: 'wx' })
      printToStdout(`Wrote ${configPath}. In that file, set "path" to the directory of your catalog.`)
    } else
      printToStdout(
        `Specify the directory of the catalog in ${configPath}. To create this file, run "catalog-bot init --write":\n\n${initialConfigYaml}`,
      )
  }
  await printRulesets(top, app)
  printToStdout('\nTo validate catalogs in a workflow without the App, run: catalog-bot init --action')
  setExitCode(roots.length > 0 ? 0 : 1)
}

const initialConfigYaml = `# Configuration of catalog-bot for this repository. For all fields, see docs/reference/configuration.md in the catalog-bot repository.
catalogs:
  - path: catalog # the directory of a file-based catalog
`

/** Both rulesets contain the App's ID. Otherwise, a check of any App would satisfy them. */
async function printRulesets(top: string, app: number | undefined): Promise<void> {
  if (app === undefined) {
    printToStdout('\nTo print the rulesets to import, provide the ID of your App: catalog-bot init --app ID')
    return
  }
  const branch = await findDefaultBaseBranch(top).then(
    ({ name }) => name,
    () => {
      printToStderr('The default branch is unknown, so the rulesets apply to main.')
      return 'main'
    },
  )
  const { a, b } = buildRecommendedRulesets(
    branch,
    app,
    toPrefixedCheckNames(getRequiredBotChecks(defaultConfig)),
  )
  printToStdout(
    '\nSave each of these rulesets to a file, then import both (Settings > Rules > Rulesets > New ruleset > Import a ruleset):',
  )
  for (const [file, ruleset] of [
    ['ruleset-a.json', a],
    ['ruleset-b.json', b],
  ] as const)
    printToStdout(`\n${file}\n${JSON.stringify(ruleset, undefined, 2)}`)
}

/** Pins the checkout by commit, because tags can be moved. */
function renderGitHubWorkflow(action = readPackageMetadata().distribution?.action): string {
  if (action === undefined)
    throw new Error(
      'this copy of catalog-bot is not a release: push its repository to GitHub, and specify that repository with --uses OWNER/NAME@REF',
    )
  if (!/^[\w.-]+\/[\w./-]+@[\w./-]+$/.test(action)) throw new Error('--uses requires the form OWNER/NAME@REF')
  return `# .github/workflows/catalog.yml: checks the catalogs of each pull request. It does not merge, and it does not require the App.
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
      - uses: ${action}
`
}

/** `init NAME`: prints an olm.package blob with a description and an icon, like opm init. */
export function initPackage(name: string, options: InitPackageOptions): void {
  const { defaultChannel = '', description, icon, output = 'json' } = options
  if (name === '') throw new Error('the package name is empty')
  const text = description === undefined ? '' : decodeUtf8LikeGo(readFileSync(description))
  const catalog: WritableCatalog = {
    packages: [
      {
        schema: 'olm.package',
        name,
        defaultChannel,
        ...(icon !== undefined && { icon: readPackageIcon(icon) }),
        ...(text !== '' && { description: text }),
      },
    ],
    channels: [],
    bundles: [],
    deprecations: [],
    others: [],
  }
  printToStdout((output === 'yaml' ? formatCatalogYaml : formatCatalogJson)(catalog))
  setExitCode(0)
}

/** Also accepts SVG, which opm rejects although most Operators use it and consoles display it. */
function readPackageIcon(file: string): { readonly base64data: string; readonly mediatype: string } {
  const bytes = readFileSync(file)
  const found = sniffMediaType(bytes)
  if (found?.startsWith('image/') !== true)
    throw new Error(`${file} is not an image in a supported format: use SVG, PNG, JPEG, or GIF`)
  // The media type that opm uses.
  const mediatype = found === 'image/x-icon' ? 'image/vnd.microsoft.icon' : found
  return { base64data: bytes.toString('base64'), mediatype }
}
