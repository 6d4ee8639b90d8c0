// All that is wrong inside a bundle, of whichever of the three formats: opm's own refusals first, then what
// opm lets pass and OLM stumbles over. Pure: how large a file becomes when it is packed is asked of the caller.
import { trimSpace } from '../catalog/go-text.ts'
import { decodeLikeGo } from '../catalog/utf8.ts'
import { valueAt } from '../catalog/tree.ts'
import { compareFindings, type Finding, type Location } from '../findings/finding.ts'
import { finding } from '../findings/rule.ts'
import { detectFormat } from './bundle-format.ts'
import { filesIn, type BundleFiles, type BundleFormat } from './bundle-files.ts'
import { readManifest } from './manifest-document.ts'
import { annotationKeys } from './bundle-metadata.ts'
import { readRegistryBundle } from './registry-bundle.ts'
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
  /** Sorted; places name files of the bundle. */
  readonly findings: readonly Finding[]
}

export interface ValidateOptions {
  /** Bytes of a file after gzip; without it the size is not judged. */
  readonly packedSize?: (bytes: Uint8Array) => number
}

/** What the API server takes in one ConfigMap, and the default of opm's unpacker. */
export const unpackLimit = 1_048_576
const unpackWarning = 0.85

export function validateBundle(files: BundleFiles, options: ValidateOptions = {}): BundleReport {
  const format = detectFormat(files)
  const findings: Finding[] = []
  if (format === undefined)
    findings.push(finding(unreadableBundle, undefined, { reason: 'it has neither manifests nor a chart' }))
  else if (format === 'helm+v3') findings.push(...validateChart(files))
  else {
    findings.push(...validateManifests(files, format), ...validateAnnotations(files, format))
    if (format === 'registry+v1') {
      const { bundle, problem } = readRegistryBundle(files)
      if (bundle) findings.push(...validateCsv(bundle))
      else findings.push(finding(unreadableBundle, undefined, { reason: problem }))
    }
    if (options.packedSize) findings.push(...validateSize(files, options.packedSize))
  }
  return { ...(format !== undefined && { format }), findings: findings.sort(compareFindings) }
}

/** The start of a file of the bundle. */
export function startOf(file: string): Location {
  return { file, line: 1, column: 1 }
}

function* validateManifests(files: BundleFiles, format: BundleFormat): Generator<Finding> {
  for (const path of files.keys())
    if (/^(?:manifests|metadata)\/.+\//.test(path))
      yield finding(nestedBundleDirectory, startOf(path), { path })
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
    // plain+v0 reads every document; it is the one format without templating of its own, but not without templates.
    if (format === 'registry+v1' && document.documents > 1)
      yield finding(severalDocumentsInManifest, startOf(file), { file, documents: document.documents })
    if (format === 'plain+v0' && decodeLikeGo(bytes).includes('{{'))
      yield finding(bracesInPlainBundle, startOf(file), { file })
  }
  if (csvs.length > 1) yield finding(severalCsvs, startOf(csvs[1] ?? ''), { names: csvs })
}

function* validateAnnotations(files: BundleFiles, format: BundleFormat): Generator<Finding> {
  const found = filesIn(files, 'metadata').flatMap(([file, bytes]) => {
    const document = readManifest(bytes)
    const annotations = document.kind === 'value' ? valueAt(document.value, 'annotations') : undefined
    return annotations?.kind === 'map' ? [{ file, annotations }] : []
  })
  const [first] = found
  if (!first) return
  const { file, annotations } = first
  if (file !== 'metadata/annotations.yaml') yield finding(misnamedAnnotationsFile, startOf(file), { file })
  const text = (key: string) => {
    const value = valueAt(annotations, key)
    return value?.kind === 'string' ? trimSpace(value.value) : undefined
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

function* validateSize(files: BundleFiles, packedSize: (bytes: Uint8Array) => number): Generator<Finding> {
  const sizes = [...filesIn(files, 'manifests'), ...filesIn(files, 'metadata')]
    .filter(([file]) => file !== 'metadata/annotations.yaml')
    .map(([file, bytes]) => ({ file, bytes: 4 * Math.ceil(packedSize(bytes) / 3) }))
    .sort((a, b) => b.bytes - a.bytes)
  const bytes = sizes.reduce((sum, size) => sum + size.bytes, 0)
  const largest = sizes.slice(0, 5).map((size) => `${size.file} (${size.bytes})`)
  const data = { bytes, limit: unpackLimit, largest }
  if (bytes > unpackLimit) yield finding(oversizedBundleContent, undefined, data)
  else if (bytes > unpackLimit * unpackWarning) yield finding(largeBundleContent, undefined, data)
}
