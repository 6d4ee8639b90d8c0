// Evaluates an example of a rule with all rules for its subject, so that a bad example also shows which other rules
// it violates: a catalog like `validate`, a bundle like `bundle validate`, and a pull request like the App.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { checkBundleInstall } from '@catalog-bot/bundle/check-install'
import { bundleRules } from '@catalog-bot/bundle/rules'
import { validateBundle } from '@catalog-bot/bundle/validate-bundle'
import { type Catalog, assembleCatalog } from '@catalog-bot/fbc/facts/catalog'
import { fileUnreadableRule, linkLeadsOutRule } from '@catalog-bot/fbc/load/file-rules'
import { parseCatalogFile } from '@catalog-bot/fbc/load/parse-catalog-file'
import { allRules } from '../../src/checks/all-rules.ts'
import { addCatalogRuleFindings, defaultCatalogSizeLimits } from '../../src/checks/validation/catalog-rule.ts'
import { createCatalogView } from '../../src/checks/validation/view/catalog-view.ts'
import type { RuleSettings } from '../../src/checks/validation/rule-settings.ts'
import { catalogRules } from '../../src/checks/validation/rules.ts'
import { validateCatalogWithAllRules } from '../../src/checks/validation/validate-fully.ts'
import { listCatalogDirectoryFiles } from '../../src/catalogs/catalog-directory.ts'
import { FindingList } from '@catalog-bot/findings/finding-list'
import { compareFindings, type Finding } from '@catalog-bot/findings/finding'
import { createFinding, type RuleSuite } from '@catalog-bot/findings/rule'
import { listFilesRecursively, exampleCaseSettingsFileName, type ExampleCase } from './cases.ts'
import { evaluatePullRequestExample } from './evaluate-pull-example.ts'

export interface RuleExampleEvaluation {
  readonly findings: readonly Finding[]
  /** opm's message, if opm rejects the catalog. */
  readonly message?: string
}

/** All findings in the example, of any rule. By default, evaluates a bundle with the suite of the example's rule. */
export async function evaluateRuleExample(
  one: ExampleCase,
  { suites }: { readonly suites?: readonly RuleSuite[] } = {},
): Promise<RuleExampleEvaluation> {
  switch (one.judges) {
    case 'catalog':
      return evaluateCatalogExample(one)
    case 'bundle':
      return { findings: evaluateBundleExample(one, suites) }
    case 'pull request':
      return {
        findings: await evaluatePullRequestExample(one, allRules.find((rule) => rule.id === one.id)?.check),
      }
  }
}

function evaluateCatalogExample({ id, directory, settings }: ExampleCase): RuleExampleEvaluation {
  const opened = listCatalogDirectoryFiles(directory)
  if (opened.kind === 'not-a-directory') throw new Error(opened.message)
  if (opened.kind === 'unreadable')
    return {
      findings: [
        createFinding(fileUnreadableRule, createFileStartLocation(opened.file), { error: opened.message }),
      ],
    }
  const found: Finding[] = []
  const catalog = assembleCatalog(
    opened.files.flatMap((file) => {
      if (file.path === exampleCaseSettingsFileName) return []
      if (file.leadsOut) found.push(createFinding(linkLeadsOutRule, createFileStartLocation(file.path), {}))
      const bytes = file.read()
      if (!('error' in bytes)) return [{ path: file.path, facts: parseCatalogFile(bytes) }]
      found.push(
        createFinding(fileUnreadableRule, createFileStartLocation(file.path), { error: bytes.error }),
      )
      return []
    }),
  )
  const whole: Catalog = { ...catalog, findings: [...catalog.findings, ...found] }
  const { findings, message } = validateCatalogWithAllRules(whole, { settings: createRuleSettings(id) })
  const all = [
    ...findings,
    ...found.filter(
      ({ rule }) => rule === fileUnreadableRule.id && !findings.some((one) => one.rule === rule),
    ),
    ...(settings.limits ? findSizeLimitFindings(whole, settings.limits, findings) : []),
  ]
  return { findings: all.sort(compareFindings), ...(message !== undefined && { message }) }
}

/** A catalog does not show which bundles are new, so rules about new bundles are evaluated explicitly. */
function createRuleSettings(id: string): RuleSettings {
  const rule = allRules.find((each) => each.id === id)
  return rule?.ofNewBundles ? { [id]: rule.severity } : {}
}

/** Findings that exist only because of an example's lower limits. */
function findSizeLimitFindings(
  catalog: Catalog,
  limits: NonNullable<ExampleCase['settings']['limits']>,
  found: readonly Finding[],
): Finding[] {
  const list = new FindingList()
  for (const rule of catalogRules)
    addCatalogRuleFindings(rule, createCatalogView(catalog), { ...defaultCatalogSizeLimits, ...limits }, list)
  const known = new Set(found.map((one) => JSON.stringify(one)))
  return list.sorted().filter((one) => !known.has(JSON.stringify(one)))
}

/** Rules about problems that only an installation reveals. Examples of other rules need not suffice for them. */
const installRuleIds: ReadonlySet<string> = new Set(
  bundleRules.filter(({ check }) => check === 'install').map(({ id }) => id),
)

/** The bundle that an upgrade starts from is in `before/`. */
function evaluateBundleExample(
  { id, directory, settings }: ExampleCase,
  suites: readonly RuleSuite[] = findRuleSuitesByRuleId(id),
): readonly Finding[] {
  const all = listFilesRecursively(directory).map((path): [string, Uint8Array] => [
    path,
    readFileSync(join(directory, path)),
  ])
  const isBefore = ([path]: readonly [string, unknown]) => path.startsWith('before/')
  const files = new Map(all.filter((entry) => !isBefore(entry)))
  const before = new Map(all.filter(isBefore).map(([path, bytes]) => [path.slice('before/'.length), bytes]))
  for (const [path, length] of Object.entries(settings.noise ?? {}))
    files.set(path, renderConfigMap(createIncompressibleText(length)))
  for (const [path, length] of Object.entries(settings.padding ?? {}))
    files.set(path, renderConfigMap('a'.repeat(length)))
  const { findings } = validateBundle(files, {
    packedSize: (bytes) => gzipSync(bytes).length,
    suites,
    ...(settings.labels && { labels: settings.labels }),
  })
  if (!installRuleIds.has(id)) return findings
  const options = { installNamespace: 'operators' }
  return [...findings, ...checkBundleInstall(files, options, before.size > 0 ? before : undefined)]
}

function findRuleSuitesByRuleId(id: string): readonly RuleSuite[] {
  const suite = allRules.find((rule) => rule.id === id)?.suite
  return suite === undefined ? [] : [suite]
}

const renderConfigMap = (text: string): Uint8Array =>
  new TextEncoder().encode(
    `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: large\ndata:\n  text: ${text}\n`,
  )

/** Text that gzip cannot compress below the entropy of its letters. */
function createIncompressibleText(length: number): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  let state = 1
  const next = () => letters.charCodeAt((state = (state * 48271) % 2147483647) % 64)
  return Buffer.from(new Uint8Array(length).map(next)).toString('latin1')
}

/** The contents of a file in an example, or '' if it does not exist. */
export function readExampleFileOrEmpty({ directory }: Pick<ExampleCase, 'directory'>, file: string): string {
  const path = join(directory, file)
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

const createFileStartLocation = (file: string) => ({ file, line: 1, column: 1, endLine: 1, endColumn: 1 })
