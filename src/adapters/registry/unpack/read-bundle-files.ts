// Renders a bundle's files and finds their problems. Depends only on the image's digest and this code, so results can
// be cached. Runs in unpack-process.ts.
import type { BundleFiles } from '@catalog-bot/bundle/bundle-files'
import { createFinding, ruleSuiteNames } from '@catalog-bot/findings/rule'
import { readRegistryBundle } from '@catalog-bot/bundle/registry-bundle'
import { renderBundle } from '@catalog-bot/bundle/render/render-bundle'
import { pickCsvFieldsForTemplates } from '@catalog-bot/bundle/render/csv-metadata'
import { optInBundleRuleIds } from '@catalog-bot/bundle/content-rules'
import { unreadableBundleRule } from '@catalog-bot/bundle/rules/reported-rules'
import { validateBundle } from '@catalog-bot/bundle/validate-bundle'
import { bundleMetadataPropertyTypes } from '@catalog-bot/fbc/template/find-drift'
import { analyzeBundleInstall, type BundleInstallAnalysis } from '../../../checks/install/install-analysis.ts'
import type { BundleImageLookupResult } from '../../../checks/lookups.ts'
import { compareFindings, type Finding } from '@catalog-bot/findings/finding'
import { selectMostSevereFindings } from '@catalog-bot/findings/finding-list'
import { gzipSync } from 'node:zlib'
import { memoizePerObject } from '@catalog-bot/findings/memoize'

/** The size after gzip, in bytes. Cached because validating and unpacking both need it. */
export const computeGzippedSize = memoizePerObject((bytes: Uint8Array) => gzipSync(bytes).length)

/**
 * Increment this when bundles are read, rendered, or evaluated differently. This invalidates cached answers
 * (test/adapters/registry/unpack/read-bundle-files.test.ts).
 */
export const bundleReaderVersion = 19

export type BundleReadResult = Omit<
  Extract<BundleImageLookupResult, { readonly kind: 'bundle' }>,
  'kind' | 'digest' | 'install'
>

/** One pull's content, and the outcome of installing it. Cached separately because few callers need both. */
export interface BundleReadResultWithInstallAnalysis extends BundleReadResult {
  readonly install: BundleInstallAnalysis
}

// An evaluation holds the readings of all its bundles. Typical readings have a few kilobytes. Applies separately to the
// rules that always count and to the others.
const maxBundleFindings = 100
/** Characters of JSON, separately for content and findings. */
const maxBundleJsonCharacters = 512 * 1024
const maxQuotedBundleTextLength = 1000

export function readBundleFiles(
  files: BundleFiles,
  labels: Readonly<Record<string, string>> = {},
): BundleReadResultWithInstallAnalysis {
  return {
    ...toBundleReadResult(files),
    install: truncateBundleInstallAnalysis(
      analyzeBundleInstall(files, {
        labels,
        packedSize: computeGzippedSize,
        maxCrdLength: maxBundleJsonCharacters,
      }),
    ),
  }
}

function toBundleReadResult(files: BundleFiles): BundleReadResult {
  const { format, findings } = validateBundle(files, {
    packedSize: computeGzippedSize,
    // The configuration determines later which suites count.
    suites: ruleSuiteNames,
  })
  const [optional, usual] = [true, false].map((isOptional) =>
    findings.filter(({ rule }) => optInBundleRuleIds.has(rule) === isOptional),
  )
  const shown = [usual, optional]
    .flatMap((some) => selectMostSevereFindings(some ?? [], maxBundleFindings).findings.map(truncateFinding))
    .sort(compareFindings)
  const reading = { ...(format !== undefined && { format }), findings: shown }
  const { bundle } = readRegistryBundle(files)
  if (format !== 'registry+v1' || !bundle) return reading
  // Omits the image's name, because images with the same content may have different names.
  const { name, package: its, properties, relatedImages = [] } = renderBundle(bundle, '')
  const content = {
    name,
    package: its,
    properties: properties.filter(({ type }) => !bundleMetadataPropertyTypes.has(type)),
    relatedImages,
  }
  const csv = pickCsvFieldsForTemplates(bundle.csv.data)
  const described = { ...reading, ...(JSON.stringify(csv).length <= maxBundleJsonCharacters && { csv }) }
  if (JSON.stringify(content).length <= maxBundleJsonCharacters) return { ...described, content }
  const reason = `the properties and related images are larger than ${maxBundleJsonCharacters} characters`
  return { ...reading, findings: [...shown, createFinding(unreadableBundleRule, undefined, { reason })] }
}

/** Facts can be as long as the text that they quote. */
function truncateBundleInstallAnalysis(facts: BundleInstallAnalysis): BundleInstallAnalysis {
  const truncate = (text: string) =>
    text.length <= maxQuotedBundleTextLength ? text : `${text.slice(0, maxQuotedBundleTextLength)}…`
  const truncateList = (strings: readonly string[]) => strings.slice(0, maxBundleFindings).map(truncate)
  const { unpacked, statement, invalid, manifests, examples, rendering, rukPak, ...others } = facts
  const truncateFindings = (all: readonly Finding[]) => all.slice(0, maxBundleFindings).map(truncateFinding)
  const isLong = statement !== undefined && JSON.stringify(statement).length > maxBundleJsonCharacters
  return {
    ...others,
    ...(statement && !isLong && { statement }),
    ...(unpacked && {
      unpacked: {
        ...unpacked,
        keys: truncateList(unpacked.keys),
        problems: truncateList(unpacked.problems),
        largest: unpacked.largest.map(({ file, bytes }) => ({ file: truncate(file), bytes })),
      },
    }),
    invalid: truncateFindings(invalid),
    manifests: truncateFindings(manifests),
    examples: truncateFindings(examples),
    rendering: {
      ...rendering,
      refusals: truncateList(rendering.refusals),
      open: truncateList(rendering.open),
      findings: truncateFindings(rendering.findings),
      kinds: rendering.kinds
        .slice(0, maxBundleFindings)
        .map(([kind, count]) => [truncate(kind), count] as const),
    },
    rukPak: truncateList(rukPak),
  }
}

/** Shortens findings that quote megabytes of untrusted text. */
function truncateFinding(one: Finding): Finding {
  if (JSON.stringify(one).length <= maxBundleJsonCharacters / maxBundleFindings / 2) return one
  const { data: _, at, what, ...rest } = one
  return {
    ...rest,
    what: `${what.slice(0, maxQuotedBundleTextLength)}…`,
    ...(at && { at: { ...at, file: at.file.slice(0, maxQuotedBundleTextLength) } }),
  }
}

/** Chart directories among an image's paths, with `` for its root. Only for the helm format. */
export function findHelmChartDirectories(paths: Iterable<string>): readonly string[] {
  const found: string[] = []
  for (const path of paths) {
    const [directory = '', name, ...more] = path.split('/')
    if (directory === 'Chart.yaml' && name === undefined) return ['']
    if (name === 'Chart.yaml' && more.length === 0) found.push(directory)
  }
  return found
}
