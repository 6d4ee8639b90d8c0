// Validates a bundle of any format: opm's refusals first, then what opm accepts but OLM fails on.
import { trimSpace } from '../go/text.ts'
import { decodeLikeGo } from '../go/utf8.ts'
import { valueAt } from '../go/tree.ts'
import { compareFindings, type Finding, type Location } from '../findings/finding.ts'
import { finding } from '../findings/rule.ts'
import { detectFormat } from './bundle-format.ts'
import { filesIn, type BundleFiles, type BundleFormat } from './bundle-files.ts'
import { laterProblems, readManifest } from './manifest-document.ts'
import { annotationKeys, annotationsIn } from './bundle-metadata.ts'
import { bundlePlaces } from './bundle-places.ts'
import type { Suite } from '../findings/suites.ts'
import { findInBundle } from './bundle-rule.ts'
import { contentRules } from './content-rules.ts'
import { collidingFileNames } from './rules/colliding-file-names.ts'
import { hiddenBundleFile } from './rules/hidden-bundle-file.ts'
import { labelsDisagree } from './rules/labels-disagree.ts'
import { readAsFarAsPossible } from './registry-bundle.ts'
import { bracesInPlainBundle } from './rules/braces-in-plain-bundle.ts'
import { largeBundleContent } from './rules/large-bundle-content.ts'
import { misnamedAnnotationsFile } from './rules/misnamed-annotations-file.ts'
import { missingBundleAnnotation } from './rules/missing-bundle-annotation.ts'
import { movedBundleDirectory } from './rules/moved-bundle-directory.ts'
import { nestedBundleDirectory } from './rules/nested-bundle-directory.ts'
import { oversizedBundleContent } from './rules/oversized-bundle-content.ts'
import { severalCsvs } from './rules/several-csvs.ts'
import { severalDocumentsInManifest } from './rules/several-documents-in-manifest.ts'
import { undecodableManifest } from './rules/undecodable-manifest.ts'
import { unreadableBundle } from './rules/unreadable-bundle.ts'
import { wrongBundleFormat } from './rules/wrong-bundle-format.ts'
import { validateChart } from './validate-chart.ts'
import { validateCsv } from './validate-csv.ts'

export interface BundleReport {
  readonly format?: BundleFormat
  readonly findings: readonly Finding[]
}

export interface ValidateOptions {
  /** Bytes of a file after gzip; without it the size isn't checked. */
  readonly packedSize?: (bytes: Uint8Array) => number
  readonly suites?: readonly Suite[]
  /** Image labels. The annotations file overrides them. */
  readonly labels?: Readonly<Record<string, string>>
}

/** Bytes: the API server's limit for a ConfigMap, and the default of opm's unpacker. */
const unpackLimit = 1_048_576
const unpackWarning = 0.85

export function validateBundle(files: BundleFiles, options: ValidateOptions = {}): BundleReport {
  const format = detectFormat(files)
  const findings: Finding[] = []
  if (format === undefined)
    findings.push(
      finding(unreadableBundle, undefined, { reason: 'it has neither manifests nor a chart', isEmpty: true }),
    )
  else if (format === 'helm+v3') findings.push(...validateChart(files))
  else {
    findings.push(...validateManifests(files, format), ...validateAnnotations(files, format, options.labels))
    if (format === 'registry+v1') {
      const { bundle, refusals } = readAsFarAsPossible(files)
      const placeOf = bundlePlaces(files)
      for (const { message: reason, at } of refusals)
        findings.push(finding(unreadableBundle, at && placeOf(at.file, at.path), { reason }))
      if (bundle) {
        findings.push(...validateCsv(bundle, placeOf))
        for (const rule of contentRules)
          if (rule.suite === undefined || options.suites?.includes(rule.suite))
            findings.push(...findInBundle(rule, bundle, placeOf))
      }
    }
    if (options.packedSize) findings.push(...validateSize(files, options.packedSize))
  }
  return { ...(format !== undefined && { format }), findings: findings.sort(compareFindings) }
}

function startOf(file: string): Location {
  return { file, line: 1, column: 1 }
}

function* validateManifests(files: BundleFiles, format: BundleFormat): Generator<Finding> {
  for (const path of files.keys())
    if (/^(?:manifests|metadata)\/.+\//.test(path))
      yield finding(nestedBundleDirectory, startOf(path), { path })
  yield* validateNames(files)
  const csvs: string[] = []
  for (const [file, bytes] of filesIn(files, 'manifests')) {
    const document = readManifest(bytes)
    if (document.kind === 'unreadable') {
      yield finding(undecodableManifest, startOf(file), { file, reason: document.reason })
      continue
    }
    const kind = valueAt(document.value, 'kind')
    if (kind?.kind !== 'string' || kind.value === '') {
      yield finding(undecodableManifest, startOf(file), { file, reason: 'it has no kind' })
      continue
    }
    if (kind.value === 'ClusterServiceVersion') csvs.push(file)
    // plain+v0 reads every document.
    if (format === 'registry+v1' && document.documents > 1)
      yield finding(severalDocumentsInManifest, startOf(file), { file, documents: document.documents })
    if (format === 'plain+v0')
      for (const { line, reason } of laterProblems(bytes))
        yield finding(undecodableManifest, { file, line, column: 1 }, { file, reason })
    if (format === 'plain+v0' && decodeLikeGo(bytes).includes('{{'))
      yield finding(bracesInPlainBundle, startOf(file), { file })
  }
  if (csvs.length > 1) yield finding(severalCsvs, startOf(csvs[1] ?? ''), { names: csvs })
}

/** Hidden names, and names that map to the same key of the ConfigMap that OLM unpacks into. */
function* validateNames(files: BundleFiles): Generator<Finding> {
  const keys = new Map<string, string>()
  for (const directory of ['manifests', 'metadata'])
    for (const [file] of filesIn(files, directory, { hidden: true })) {
      const name = file.slice(directory.length + 1)
      if (name.startsWith('.')) yield finding(hiddenBundleFile, startOf(file), { file })
      const key = name.replace(/[^-._a-zA-Z0-9]/g, '-')
      const other = keys.get(key)
      if (other !== undefined) yield finding(collidingFileNames, startOf(file), { file, other, key })
      keys.set(key, file)
    }
}

function* validateAnnotations(
  files: BundleFiles,
  format: BundleFormat,
  labels: Readonly<Record<string, string>> = {},
): Generator<Finding> {
  const found = filesIn(files, 'metadata', { hidden: true }).flatMap(([file, bytes]) => {
    const document = readManifest(bytes)
    const annotations = document.kind === 'value' ? annotationsIn(document.value) : undefined
    return annotations ? [{ file, annotations }] : []
  })
  // Without a file the labels count. opm refuses such a bundle, which another rule reports.
  const [first] = found
  if (!first && !Object.values(annotationKeys).some((key) => key in labels)) return
  const file = first?.file ?? 'labels'
  const annotations = first?.annotations
  if (first && file !== 'metadata/annotations.yaml')
    yield finding(misnamedAnnotationsFile, startOf(file), { file })
  const text = (key: string) => {
    const value = annotations ? valueAt(annotations, key) : undefined
    if (!annotations) return key in labels ? trimSpace(labels[key] ?? '') : undefined
    return value?.kind === 'string' ? trimSpace(value.value) : undefined
  }
  if (annotations)
    for (const key of Object.values(annotationKeys)) {
      const [label, annotation] = [labels[key], text(key)]
      if (label !== undefined && annotation !== undefined && trimSpace(label) !== annotation)
        yield finding(labelsDisagree, startOf(file), { key, label, annotation })
    }
  const { defaultChannel, mediaType, manifests, metadata, ...others } = annotationKeys
  for (const key of [mediaType, manifests, metadata, ...Object.values(others)])
    if ((text(key) ?? '') === '') yield finding(missingBundleAnnotation, startOf(file), { key, file })
  if (text(defaultChannel) === '')
    yield finding(missingBundleAnnotation, startOf(file), { key: defaultChannel, file })
  const named = text(mediaType) ?? ''
  // opm's own name for plain bundles has no version.
  if (named !== '' && named !== format && !(named === 'plain' && format === 'plain+v0'))
    yield finding(wrongBundleFormat, startOf(file), { named, found: format })
  for (const [key, wanted] of [
    [manifests, 'manifests/'],
    [metadata, 'metadata/'],
  ] as const) {
    const value = text(key) ?? ''
    if (value !== '' && value.replace(/^\.?\/|\/+$/g, '') !== wanted.slice(0, -1))
      yield finding(movedBundleDirectory, startOf(file), { key, value, wanted })
  }
}

/** Upper bound for gzip: its headers, and five bytes for every 16 KB. */
const mostPacked = (bytes: number): number => bytes + 64 + Math.ceil(bytes / 1024)

const inBase64 = (bytes: number): number => 4 * Math.ceil(bytes / 3)

function* validateSize(files: BundleFiles, packedSize: (bytes: Uint8Array) => number): Generator<Finding> {
  const packed = [...filesIn(files, 'manifests'), ...filesIn(files, 'metadata')].filter(
    ([file]) => file !== 'metadata/annotations.yaml',
  )
  // Packing is expensive, and most bundles are small enough uncompressed.
  const most = packed.reduce((sum, [, { length }]) => sum + inBase64(mostPacked(length)), 0)
  if (most <= unpackLimit * unpackWarning) return
  const sizes = packed
    .map(([file, bytes]) => ({ file, bytes: inBase64(packedSize(bytes)) }))
    .sort((a, b) => b.bytes - a.bytes)
  const bytes = sizes.reduce((sum, size) => sum + size.bytes, 0)
  const largest = sizes.slice(0, 5).map((size) => `${size.file} (${size.bytes})`)
  const data = { bytes, limit: unpackLimit, largest }
  if (bytes > unpackLimit) yield finding(oversizedBundleContent, undefined, data)
  else if (bytes > unpackLimit * unpackWarning) yield finding(largeBundleContent, undefined, data)
}
