// Validates a bundle of any format. Lists problems that opm rejects before problems that only OLM rejects.
import { isJsonObject, tryParseJson } from '@catalog-bot/fbc/go/json/json'
import { trimSpaceLikeGo } from '@catalog-bot/fbc/go/text'
import { decodeUtf8LikeGo } from '@catalog-bot/fbc/go/utf8'
import { getMapValue } from '@catalog-bot/fbc/go/tree'
import { compareFindings, type Finding, type Location } from '@catalog-bot/findings/finding'
import { createFinding, type RuleSuite } from '@catalog-bot/findings/rule'
import {
  findFilesInDirectory,
  type BundleFiles,
  type BundleFormat,
  detectBundleFormat,
  findHelmChartDirectory,
} from './bundle-files.ts'
import {
  findExtraYamlDocumentProblems,
  readManifest,
  convertParsedValueToJson,
  createBundleFieldLocator,
} from './manifest-document.ts'
import { bundleAnnotationKeys, parseAnnotationsAsStrings } from './bundle-metadata.ts'
import { runBundleRule } from './bundle-rule.ts'
import { bundleContentRules } from './content-rules.ts'
import {
  collidingFileNamesRule,
  hiddenBundleFileRule,
  labelsDisagreeRule,
  bracesInPlainBundleRule,
  largeBundleContentRule,
  misnamedAnnotationsFileRule,
  missingBundleAnnotationRule,
  movedBundleDirectoryRule,
  nestedBundleDirectoryRule,
  oversizedBundleContentRule,
  severalCsvsRule,
  severalDocumentsInManifestRule,
  undecodableManifestRule,
  unreadableBundleRule,
  wrongBundleFormatRule,
  brokenChartRule,
} from './rules/reported-rules.ts'
import { readPartialRegistryBundle } from './registry-bundle.ts'
import { validateCsv } from './validate-csv.ts'
import { getListAtPath, getStringAtPath } from './fields.ts'

const semverPattern = /^v?\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/

export interface BundleValidationReport {
  readonly format?: BundleFormat
  readonly findings: readonly Finding[]
}

export interface BundleValidationOptions {
  /** Returns a file's size in bytes after gzip. Without it, the size isn't checked. */
  readonly packedSize?: (bytes: Uint8Array) => number
  readonly suites?: readonly RuleSuite[]
  /** Image labels. The annotations file takes precedence. */
  readonly labels?: Readonly<Record<string, string>>
}

/** Bytes: the API server's limit for a ConfigMap, and the default of opm's unpacker. */
const maxUnpackedBundleBytes = 1_048_576
const unpackedSizeWarningRatio = 0.85

export function validateBundle(
  files: BundleFiles,
  options: BundleValidationOptions = {},
): BundleValidationReport {
  const format = detectBundleFormat(files)
  const findings: Finding[] = []
  if (format === undefined)
    findings.push(
      createFinding(unreadableBundleRule, undefined, {
        reason: 'the bundle contains neither manifests nor a chart',
        isEmpty: true,
      }),
    )
  else if (format === 'helm+v3') findings.push(...validateHelmChart(files))
  else {
    findings.push(
      ...validateManifests(files, format),
      ...validateBundleAnnotations(files, format, options.labels),
    )
    if (format === 'registry+v1') {
      const { bundle, rejections } = readPartialRegistryBundle(files)
      const locate = createBundleFieldLocator(files)
      for (const { message: reason, at } of rejections)
        findings.push(createFinding(unreadableBundleRule, at && locate(at.file, at.path), { reason }))
      if (bundle) {
        findings.push(...validateCsv(bundle, locate))
        for (const rule of bundleContentRules)
          if (rule.suite === undefined || options.suites?.includes(rule.suite))
            findings.push(...runBundleRule(rule, bundle, locate))
      }
    }
    if (options.packedSize) findings.push(...validatePackedBundleSize(files, options.packedSize))
  }
  return { ...(format !== undefined && { format }), findings: findings.sort(compareFindings) }
}

function toFileStartLocation(file: string): Location {
  return { file, line: 1, column: 1 }
}

function* validateManifests(files: BundleFiles, format: BundleFormat): Generator<Finding> {
  for (const path of files.keys())
    if (/^(?:manifests|metadata)\/.+\//.test(path))
      yield createFinding(nestedBundleDirectoryRule, toFileStartLocation(path), { path })
  yield* validateBundleFileNames(files)
  const csvs: string[] = []
  for (const [file, bytes] of findFilesInDirectory(files, 'manifests')) {
    const document = readManifest(bytes)
    if (document.kind === 'unreadable') {
      yield createFinding(undecodableManifestRule, toFileStartLocation(file), {
        file,
        reason: document.reason,
      })
      continue
    }
    const kind = getMapValue(document.value, 'kind')
    const apiVersion = getMapValue(document.value, 'apiVersion')
    if (kind?.kind !== 'string' || kind.value === '') {
      yield createFinding(undecodableManifestRule, toFileStartLocation(file), {
        file,
        reason: 'the file has no kind',
      })
      continue
    }
    if (apiVersion && apiVersion.kind !== 'string' && apiVersion.kind !== 'null')
      yield createFinding(undecodableManifestRule, toFileStartLocation(file), {
        file,
        reason: 'apiVersion is not a string',
      })
    if (kind.value === 'ClusterServiceVersion') csvs.push(file)
    // plain+v0 reads every document.
    if (format === 'registry+v1' && document.documents > 1)
      yield createFinding(severalDocumentsInManifestRule, toFileStartLocation(file), {
        file,
        documents: document.documents,
      })
    if (format === 'plain+v0')
      for (const { line, reason } of findExtraYamlDocumentProblems(bytes))
        yield createFinding(undecodableManifestRule, { file, line, column: 1 }, { file, reason })
    if (format === 'plain+v0' && decodeUtf8LikeGo(bytes).includes('{{'))
      yield createFinding(bracesInPlainBundleRule, toFileStartLocation(file), { file })
  }
  if (csvs.length > 1)
    yield createFinding(severalCsvsRule, toFileStartLocation(csvs[1] ?? ''), { names: csvs })
}

/** Hidden names, and names that map to the same key of the ConfigMap that OLM unpacks into. */
function* validateBundleFileNames(files: BundleFiles): Generator<Finding> {
  const keys = new Map<string, string>()
  for (const directory of ['manifests', 'metadata'])
    for (const [file] of findFilesInDirectory(files, directory, { hidden: true })) {
      const name = file.slice(directory.length + 1)
      if (name.startsWith('.')) yield createFinding(hiddenBundleFileRule, toFileStartLocation(file), { file })
      const key = name.replace(/[^-._a-zA-Z0-9]/g, '-')
      const other = keys.get(key)
      if (other !== undefined)
        yield createFinding(collidingFileNamesRule, toFileStartLocation(file), { file, other, key })
      keys.set(key, file)
    }
}

function* validateBundleAnnotations(
  files: BundleFiles,
  format: BundleFormat,
  labels: Readonly<Record<string, string>> = {},
): Generator<Finding> {
  const found = findFilesInDirectory(files, 'metadata', { hidden: true }).flatMap(([file, bytes]) => {
    const document = readManifest(bytes)
    const annotations = document.kind === 'value' ? parseAnnotationsAsStrings(document.value) : undefined
    return annotations ? [{ file, annotations }] : []
  })
  // Without an annotations file, the labels apply. opm rejects such a bundle, which another rule reports.
  const [first] = found
  if (!first && !Object.values(bundleAnnotationKeys).some((key) => key in labels)) return
  const file = first?.file ?? 'labels'
  const annotations = first?.annotations
  if (first && file !== 'metadata/annotations.yaml')
    yield createFinding(misnamedAnnotationsFileRule, toFileStartLocation(file), { file })
  const getAnnotation = (key: string) => {
    const value = annotations ? getMapValue(annotations, key) : undefined
    if (!annotations) return key in labels ? trimSpaceLikeGo(labels[key] ?? '') : undefined
    return value?.kind === 'string' ? trimSpaceLikeGo(value.value) : undefined
  }
  if (annotations)
    for (const key of Object.values(bundleAnnotationKeys)) {
      const [label, annotation] = [labels[key], getAnnotation(key)]
      if (label !== undefined && annotation !== undefined && trimSpaceLikeGo(label) !== annotation)
        yield createFinding(labelsDisagreeRule, toFileStartLocation(file), { key, label, annotation })
    }
  const { defaultChannel, mediaType, manifests, metadata, ...others } = bundleAnnotationKeys
  for (const key of [mediaType, manifests, metadata, ...Object.values(others)])
    if ((getAnnotation(key) ?? '') === '')
      yield createFinding(missingBundleAnnotationRule, toFileStartLocation(file), { key, file })
  if (getAnnotation(defaultChannel) === '')
    yield createFinding(missingBundleAnnotationRule, toFileStartLocation(file), { key: defaultChannel, file })
  const named = getAnnotation(mediaType) ?? ''
  // opm's own name for plain bundles has no version.
  if (named !== '' && named !== format && !(named === 'plain' && format === 'plain+v0'))
    yield createFinding(wrongBundleFormatRule, toFileStartLocation(file), { named, found: format })
  for (const [key, wanted] of [
    [manifests, 'manifests/'],
    [metadata, 'metadata/'],
  ] as const) {
    const value = getAnnotation(key) ?? ''
    if (value !== '' && !new RegExp(`^(?:\\.?/)?${wanted}*$`).test(`${value}/`))
      yield createFinding(movedBundleDirectoryRule, toFileStartLocation(file), { key, value, wanted })
  }
}

/** Upper bound for gzip output: headers, plus five bytes per 16 KB. */
const estimateMaxGzipBytes = (bytes: number): number => bytes + 64 + Math.ceil(bytes / 1024)

const computeBase64Length = (bytes: number): number => 4 * Math.ceil(bytes / 3)

function* validatePackedBundleSize(
  files: BundleFiles,
  packedSize: (bytes: Uint8Array) => number,
): Generator<Finding> {
  const packed = [
    ...findFilesInDirectory(files, 'manifests'),
    ...findFilesInDirectory(files, 'metadata'),
  ].filter(([file]) => file !== 'metadata/annotations.yaml')
  // Packing is expensive, and most bundles are small enough uncompressed.
  const maxPackedBytes = packed.reduce(
    (sum, [, { length }]) => sum + computeBase64Length(estimateMaxGzipBytes(length)),
    0,
  )
  if (maxPackedBytes <= maxUnpackedBundleBytes * unpackedSizeWarningRatio) return
  const sizes = packed
    .map(([file, bytes]) => ({ file, bytes: computeBase64Length(packedSize(bytes)) }))
    .sort((a, b) => b.bytes - a.bytes)
  const bytes = sizes.reduce((sum, size) => sum + size.bytes, 0)
  const biggestFiles = sizes.slice(0, 5).map((size) => `${size.file} (${size.bytes})`)
  const data = { bytes, limit: maxUnpackedBundleBytes, largest: biggestFiles }
  if (bytes > maxUnpackedBundleBytes) yield createFinding(oversizedBundleContentRule, undefined, data)
  else if (bytes > maxUnpackedBundleBytes * unpackedSizeWarningRatio)
    yield createFinding(largeBundleContentRule, undefined, data)
}

/** Checks the parts of a helm+v3 bundle that don't need Helm's engine: the chart's metadata and structure. */
function* validateHelmChart(files: BundleFiles): Generator<Finding> {
  const root = findHelmChartDirectory(files) ?? ''
  const file = `${root}Chart.yaml`
  const createBrokenChartFinding = (problem: string) =>
    createFinding(brokenChartRule, { file, line: 1, column: 1 }, { problem })
  const document = readManifest(files.get(file) ?? new Uint8Array(0))
  if (document.kind === 'unreadable') {
    yield createBrokenChartFinding(`${file} can't be parsed: ${document.reason}`)
    return
  }
  const chart = convertParsedValueToJson(document.value)
  const apiVersion = getStringAtPath(chart, 'apiVersion')
  if (apiVersion !== 'v1' && apiVersion !== 'v2')
    yield createBrokenChartFinding(`apiVersion in Chart.yaml is "${apiVersion}", not v1 or v2`)
  if (getStringAtPath(chart, 'name') === '') yield createBrokenChartFinding('Chart.yaml does not set a name')
  const version = getStringAtPath(chart, 'version')
  if (!semverPattern.test(version)) yield createBrokenChartFinding(`"${version}" is not a semantic version`)
  if (getStringAtPath(chart, 'type') === 'library')
    yield createBrokenChartFinding("library charts don't install anything")
  const values = files.get(`${root}values.yaml`)
  if (values && values.length > 0) {
    const read = readManifest(values)
    if (read.kind === 'unreadable' && !/empty/.test(read.reason))
      yield createBrokenChartFinding(`values.yaml can't be parsed: ${read.reason}`)
  }
  const schema = files.get(`${root}values.schema.json`)
  if (schema && !isJsonObject(tryParseJson(decodeUtf8LikeGo(schema))))
    yield createBrokenChartFinding('values.schema.json is not a JSON object')
  for (const [path, bytes] of files)
    if (path.startsWith(`${root}templates/`) && !hasBalancedTemplateBraces(decodeUtf8LikeGo(bytes)))
      yield createBrokenChartFinding(`${path} has an unclosed {{`)
  // Charts with apiVersion v1 list them in a separate file.
  const requirements = files.get(`${root}requirements.yaml`)
  const required = requirements && readManifest(requirements)
  const dependencies = [
    ...getListAtPath(chart, 'dependencies'),
    ...(required?.kind === 'value'
      ? getListAtPath(convertParsedValueToJson(required.value), 'dependencies')
      : []),
  ]
  for (const dependency of dependencies) {
    const name = getStringAtPath(dependency, 'name')
    const isVendored = [...files.keys()].some(
      (path) => path.startsWith(`${root}charts/${name}/`) || path.startsWith(`${root}charts/${name}-`),
    )
    if (!isVendored) yield createBrokenChartFinding(`the dependency "${name}" is not in charts/`)
  }
  if (
    ![...files.keys()].some((path) => path.startsWith(`${root}templates/`) || path.startsWith(`${root}crds/`))
  )
    yield createBrokenChartFinding('the chart has neither templates nor CRDs')
}

/** Whether every template action is closed before the next one opens. Ignores comments and strings. */
function hasBalancedTemplateBraces(text: string): boolean {
  const bare = text
    .replace(/\{\{-?\s*\/\*[\s\S]*?\*\/\s*-?\}\}/g, '')
    // A string inside an action can contain braces.
    .replace(/\{\{(?:"(?:[^"\\\n]|\\.)*"|`[^`]*`|[^"`{}]|\{(?!\{)|\}(?!\}))*\}\}/g, '')
  return !bare.includes('{{')
}
