// Renders a bundle's files and finds their problems. Depends only on the image's digest and this code, so results can
// be cached. Runs in unpack-process.ts.
import type { BundleFiles } from '../../bundle/bundle-files.ts'
import { suites } from '../../findings/suites.ts'
import { readRegistryBundle } from '../../bundle/registry-bundle.ts'
import { renderBundle } from '../../bundle/render/render-bundle.ts'
import { templateCsv } from '../../bundle/render/template-csv.ts'
import { optionalRules } from '../../bundle/content-rules.ts'
import { unreadableBundle } from '../../bundle/rules/unreadable-bundle.ts'
import { validateBundle } from '../../bundle/validate-bundle.ts'
import { bulkyProperties } from '../../catalog/template/drift.ts'
import { bundleFacts, type BundleFacts } from '../../checks/install/bundle-facts.ts'
import type { BundleAnswer } from '../../checks/questions.ts'
import { compareFindings, type Finding } from '../../findings/finding.ts'
import { mostImportant } from '../../findings/most-important.ts'
import { finding } from '../../findings/rule.ts'
import { packedSize } from './packed-size.ts'

/**
 * Raise this when bundles are read, rendered or judged differently: it invalidates cached answers
 * (test/registry/unpack/read-bundle-files.test.ts).
 */
export const bundleReaderVersion = 12

export type BundleReading = Omit<
  Extract<BundleAnswer, { readonly kind: 'bundle' }>,
  'kind' | 'digest' | 'install'
>

/**
 * The result of one pull: the content, and the outcome of installing it. Cached separately because few callers need
 * both.
 */
export interface WholeReading extends BundleReading {
  readonly install: BundleFacts
}

// An evaluation holds the readings of all its bundles; honest ones have a few kilobytes. Applies separately to the
// rules that always count and to the others.
const mostFindings = 100
/** Characters of JSON, separately for content and findings. */
const mostText = 512 * 1024
const longestWords = 1000

export function readBundleFiles(
  files: BundleFiles,
  labels: Readonly<Record<string, string>> = {},
): WholeReading {
  return {
    ...readingOf(files),
    install: withinText(bundleFacts(files, { labels, packedSize, mostCrds: mostText })),
  }
}

function readingOf(files: BundleFiles): BundleReading {
  const { format, findings } = validateBundle(files, {
    packedSize,
    // The configuration decides later which suites count.
    suites,
  })
  const [optional, usual] = [true, false].map((wanted) =>
    findings.filter(({ rule }) => optionalRules.has(rule) === wanted),
  )
  const shown = [usual, optional]
    .flatMap((some) => mostImportant(some ?? [], mostFindings).findings.map(withinBounds))
    .sort(compareFindings)
  const reading = { ...(format !== undefined && { format }), findings: shown }
  const { bundle } = readRegistryBundle(files)
  if (format !== 'registry+v1' || !bundle) return reading
  // Omits the image's name, because images with the same content may differ in it.
  const { name, package: its, properties, relatedImages = [] } = renderBundle(bundle, '')
  const content = {
    name,
    package: its,
    properties: properties.filter(({ type }) => !bulkyProperties.has(type)),
    relatedImages,
  }
  const csv = templateCsv(bundle.csv.data)
  const described = { ...reading, ...(JSON.stringify(csv).length <= mostText && { csv }) }
  if (JSON.stringify(content).length <= mostText) return { ...described, content }
  const reason = `its properties and related images are larger than ${mostText} characters`
  return { ...reading, findings: [...shown, finding(unreadableBundle, undefined, { reason })] }
}

/** Facts are as long as what they quote. */
function withinText(facts: BundleFacts): BundleFacts {
  const short = (text: string) => (text.length <= longestWords ? text : `${text.slice(0, longestWords)}…`)
  const few = (texts: readonly string[]) => texts.slice(0, mostFindings).map(short)
  const { unpacked, statement, invalid, manifests, examples, rendering, rukPak, ...others } = facts
  const findings = (all: readonly Finding[]) => all.slice(0, mostFindings).map(withinBounds)
  const isLong = statement !== undefined && JSON.stringify(statement).length > mostText
  return {
    ...others,
    ...(statement && !isLong && { statement }),
    ...(unpacked && {
      unpacked: {
        ...unpacked,
        keys: few(unpacked.keys),
        problems: few(unpacked.problems),
        largest: unpacked.largest.map(({ file, bytes }) => ({ file: short(file), bytes })),
      },
    }),
    invalid: findings(invalid),
    manifests: findings(manifests),
    examples: findings(examples),
    rendering: {
      ...rendering,
      refusals: few(rendering.refusals),
      open: few(rendering.open),
      findings: findings(rendering.findings),
      kinds: rendering.kinds.slice(0, mostFindings).map(([kind, count]) => [short(kind), count] as const),
    },
    rukPak: few(rukPak),
  }
}

/** Shortens findings that quote megabytes of untrusted text. */
function withinBounds(one: Finding): Finding {
  if (JSON.stringify(one).length <= mostText / mostFindings / 2) return one
  const { data: _, at, what, ...rest } = one
  return {
    ...rest,
    what: `${what.slice(0, longestWords)}…`,
    ...(at && { at: { ...at, file: at.file.slice(0, longestWords) } }),
  }
}

/** Chart directories among an image's paths, with `` for its root. Only for the helm format. */
export function chartDirectories(paths: Iterable<string>): readonly string[] {
  const found: string[] = []
  for (const path of paths) {
    const [directory = '', name, ...more] = path.split('/')
    if (directory === 'Chart.yaml' && name === undefined) return ['']
    if (name === 'Chart.yaml' && more.length === 0) found.push(directory)
  }
  return found
}
