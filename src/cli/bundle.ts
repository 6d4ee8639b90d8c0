// `bundle validate|render REF|DIR`: validates or renders a bundle image or directory.
import { statSync } from 'node:fs'
import type { BundleFiles } from '@catalog-bot/bundle/bundle-files'
import { parseRuleSuiteSelectors } from '@catalog-bot/bundle/bundle-rule'
import { checkManifests } from '@catalog-bot/bundle/check-install'
import { compareFindings } from '@catalog-bot/findings/finding'
import { ruleSuiteNames } from '@catalog-bot/findings/rule'
import { readRegistryBundle } from '@catalog-bot/bundle/registry-bundle'
import { findOpmMigrationError, renderBundle } from '@catalog-bot/bundle/render/render-bundle'
import { validateBundle } from '@catalog-bot/bundle/validate-bundle'
import { escapeNonPrintableCharacters } from '@catalog-bot/findings/printable'
import { renderText, renderJson } from '@catalog-bot/findings/render-findings'
import { pullBundle } from '../adapters/registry/pull-bundle.ts'
import { computeGzippedSize } from '../adapters/registry/unpack/read-bundle-files.ts'
import { setExitCode, printToStdout, supportsColor } from './output.ts'
import { readBundleDirectory, requireImageReferenceSyntax, withRegistryClient } from './pulled-bundles.ts'

interface BundleCommandOptions {
  readonly output: 'text' | 'json'
  readonly insecureRegistry?: readonly string[]
  readonly migrateLevel?: string
  /** Names separated by commas. */
  readonly suite?: string
}

export async function runBundleValidate(name: string, options: BundleCommandOptions): Promise<void> {
  const requestedSuites = parseRuleSuiteSelectors(options.suite ?? '')
  if ('unknown' in requestedSuites)
    throw new Error(
      `unknown suite "${requestedSuites.unknown}"; use one of: ${ruleSuiteNames.join(', ')}, operatorframework, all`,
    )
  const { files, labels } = await loadBundleFiles(name, options)
  const { format, findings: ofBundle } = validateBundle(files, {
    packedSize: computeGzippedSize,
    suites: requestedSuites.suites,
    labels,
  })
  // operator-sdk and opm also reject values of the wrong type. A pull request gets all findings about fields, in the install check.
  const ofFields = checkManifests(files).filter(({ severity }) => severity === 'error')
  const findings = [...ofBundle, ...ofFields].sort(compareFindings)
  const passed = findings.every(({ severity }) => severity !== 'error')
  const rejection = format === 'registry+v1' ? readRegistryBundle(files).problem : undefined
  const report = { dir: name, passed, ...(rejection !== undefined && { message: rejection }), findings }
  if (options.output === 'json') printToStdout(renderJson(report))
  else {
    const textOf = (file: string) => {
      const bytes = files.get(file)
      return bytes && new TextDecoder().decode(bytes)
    }
    printToStdout(
      `${escapeNonPrintableCharacters(name)}: ${format ?? 'not a bundle'}, ${passed ? 'passed' : 'failed'}`,
    )
    if (findings.length > 0)
      printToStdout(renderText(findings, { textOf, color: supportsColor(process.stdout) }))
  }
  setExitCode(passed ? 0 : 1)
}

export async function runBundleRender(reference: string, options: BundleCommandOptions): Promise<void> {
  const { files, image } = await loadBundleFiles(reference, options)
  const { bundle, problem } = readRegistryBundle(files)
  if (!bundle) throw new Error(`${reference} cannot be rendered: ${problem}`)
  const csvMetadata = options.migrateLevel === 'bundle-object-to-csv-metadata'
  const unmigratable = csvMetadata ? findOpmMigrationError(bundle, image) : undefined
  if (unmigratable !== undefined) throw new Error(`${reference} cannot be rendered: ${unmigratable}`)
  printToStdout(JSON.stringify(renderBundle(bundle, image, { csvMetadata }), undefined, 4))
}

interface BundleFilesAndImageLabels {
  readonly files: BundleFiles
  /** '' for a directory. */
  readonly image: string
  readonly labels: Readonly<Record<string, string>>
}

/** As in opm, an existing path is a directory, and anything else is an image. */
async function loadBundleFiles(
  name: string,
  options: BundleCommandOptions,
): Promise<BundleFilesAndImageLabels> {
  const found = statSync(name, { throwIfNoEntry: false })
  if (found) {
    if (!found.isDirectory()) throw new Error(`${name} is not a directory`)
    return { files: readBundleDirectory(name), image: '', labels: {} }
  }
  requireImageReferenceSyntax(name)
  return withRegistryClient(options.insecureRegistry, async (registry) => {
    const { files, labels } = await pullBundle(registry, name)
    return { files, image: name, labels }
  })
}
