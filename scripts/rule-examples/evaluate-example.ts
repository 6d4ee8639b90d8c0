// Judges an example of a rule with everything that the project has for such a thing, so that a bad example shows also
// which other rules it would wake: a catalog as `validate` does, a bundle as `bundle validate`, a pull request as the App.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { checkInstall } from '../../src/bundle/check-install.ts'
import { bundleRules } from '../../src/bundle/rules.ts'
import { validateBundle } from '../../src/bundle/validate-bundle.ts'
import { assembleCatalog } from '../../src/catalog/facts/assemble-catalog.ts'
import type { Catalog } from '../../src/catalog/facts/catalog.ts'
import { fileUnreadable, linkLeadsOut } from '../../src/catalog/load/file-rules.ts'
import { parseCatalogFile } from '../../src/catalog/load/parse-catalog-file.ts'
import { allRules } from '../../src/checks/all-rules.ts'
import { collectRuleFindings } from '../../src/checks/validation/catalog-rule.ts'
import { createCatalogView } from '../../src/checks/validation/view/catalog-view.ts'
import { defaultSizeLimits } from '../../src/checks/validation/limits.ts'
import type { RuleSettings } from '../../src/checks/validation/rule-settings.ts'
import { catalogRules } from '../../src/checks/validation/rules.ts'
import { validateWithAllRules } from '../../src/checks/validation/validate-fully.ts'
import { openCatalogDirectory } from '../../src/evaluate/catalogs/catalog-directory.ts'
import { FindingList } from '../../src/findings/finding-list.ts'
import { compareFindings, type Finding } from '../../src/findings/finding.ts'
import { createFinding } from '../../src/findings/rule.ts'
import type { RuleSuite } from '../../src/findings/suites.ts'
import { listFilesBelow, caseSettingsFile, type ExampleCase } from './cases.ts'
import { evaluatePullExample } from './evaluate-pull-example.ts'

export interface ExampleEvaluation {
  readonly findings: readonly Finding[]
  /** opm's words, where opm itself refuses the catalog. */
  readonly message?: string
}

/**
 * What the example's findings are: all that are found, whatever rule they are of. A bundle is judged with the suite of the
 * example's rule, unless other `suites` are asked for.
 */
export async function evaluateExample(
  one: ExampleCase,
  { suites }: { readonly suites?: readonly RuleSuite[] } = {},
): Promise<ExampleEvaluation> {
  switch (one.judges) {
    case 'catalog':
      return evaluateCatalogExample(one)
    case 'bundle':
      return { findings: evaluateBundleExample(one, suites) }
    case 'pull request':
      return { findings: await evaluatePullExample(one, allRules.find((rule) => rule.id === one.id)?.check) }
  }
}

function evaluateCatalogExample({ id, directory, settings }: ExampleCase): ExampleEvaluation {
  const opened = openCatalogDirectory(directory)
  if (opened.kind === 'not-a-directory') throw new Error(opened.message)
  if (opened.kind === 'unreadable')
    return {
      findings: [
        createFinding(fileUnreadable, createFileStartPosition(opened.file), { error: opened.message }),
      ],
    }
  const found: Finding[] = []
  const catalog = assembleCatalog(
    opened.files.flatMap((file) => {
      if (file.path === caseSettingsFile) return []
      if (file.leadsOut) found.push(createFinding(linkLeadsOut, createFileStartPosition(file.path), {}))
      const bytes = file.read()
      if (!('error' in bytes)) return [{ path: file.path, facts: parseCatalogFile(bytes) }]
      found.push(createFinding(fileUnreadable, createFileStartPosition(file.path), { error: bytes.error }))
      return []
    }),
  )
  const whole: Catalog = { ...catalog, findings: [...catalog.findings, ...found] }
  const { findings, message } = validateWithAllRules(whole, { settings: createRuleSettings(id) })
  const all = [
    ...findings,
    ...found.filter(({ rule }) => rule === fileUnreadable.id && !findings.some((one) => one.rule === rule)),
    ...(settings.limits ? findSizeLimitFindings(whole, settings.limits, findings) : []),
  ]
  return { findings: all.sort(compareFindings), ...(message !== undefined && { message }) }
}

/** A catalog shows nothing of which bundles are new: rules about those are asked for. */
function createRuleSettings(id: string): RuleSettings {
  const rule = allRules.find((each) => each.id === id)
  return rule?.ofNewBundles ? { [id]: rule.severity } : {}
}

/** What only the lower ceilings of an example let a rule find. */
function findSizeLimitFindings(
  catalog: Catalog,
  limits: NonNullable<ExampleCase['settings']['limits']>,
  found: readonly Finding[],
): Finding[] {
  const list = new FindingList()
  for (const rule of catalogRules)
    collectRuleFindings(rule, createCatalogView(catalog), { ...defaultSizeLimits, ...limits }, list)
  const known = new Set(found.map((one) => JSON.stringify(one)))
  return list.sorted().filter((one) => !known.has(JSON.stringify(one)))
}

/** Rules about what only comes up when a bundle is installed; examples of other rules need not be complete enough for that. */
const installRuleIds: ReadonlySet<string> = new Set(
  bundleRules.filter(({ check }) => check === 'install').map(({ id }) => id),
)

/** The bundle that an upgrade begins with lies in `before/`. */
function evaluateBundleExample(
  { id, directory, settings }: ExampleCase,
  suites: readonly RuleSuite[] = findSuitesOfRule(id),
): readonly Finding[] {
  const all = listFilesBelow(directory).map((path): [string, Uint8Array] => [
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
  return [...findings, ...checkInstall(files, options, before.size > 0 ? before : undefined)]
}

function findSuitesOfRule(id: string): readonly RuleSuite[] {
  const suite = allRules.find((rule) => rule.id === id)?.suite
  return suite === undefined ? [] : [suite]
}

function renderConfigMap(text: string): Uint8Array {
  return new TextEncoder().encode(
    `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: large\ndata:\n  text: ${text}\n`,
  )
}

/** Text that gzip cannot make smaller than its letters are. */
function createIncompressibleText(length: number): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  let state = 1
  return Array.from({ length }, () => letters[(state = (state * 48271) % 2147483647) % 64]).join('')
}

/** The text of a file of an example, '' where there is none. */
export function readExampleText({ directory }: Pick<ExampleCase, 'directory'>, file: string): string {
  const path = join(directory, file)
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

const createFileStartPosition = (file: string) => ({ file, line: 1, column: 1, endLine: 1, endColumn: 1 })
