// Facts about one bundle that depend only on its files, so that they can be cached by image digest.
import {
  type BundleFiles,
  type BundleFormat,
  findFilesInDirectory,
  detectBundleFormat,
} from '@catalog-bot/bundle/bundle-files'
import { getJsonFieldAtPath, getListAtPath, getStringAtPath } from '@catalog-bot/bundle/fields'
import { readPartialRegistryBundle, readRegistryBundle } from '@catalog-bot/bundle/registry-bundle'
import type { JsonObject } from '@catalog-bot/bundle/plain/rendering'
import { renderBundle, type ComparableBundle } from '@catalog-bot/bundle/render/render-bundle'
import { readBundledCrds, type BundledCrd } from '@catalog-bot/bundle/upgrade/check-crd-upgrade'
import { validateBundle } from '@catalog-bot/bundle/validate-bundle'
import type { Finding } from '@catalog-bot/findings/finding'
import type { Json } from '@catalog-bot/fbc/go/json/json'
import { isNamespacedKind } from '@catalog-bot/bundle/plain/supported-kinds'
import { renderPlainManifests } from '@catalog-bot/bundle/plain/render-plain'
import { memoizePerObject } from '@catalog-bot/findings/memoize'
import { readManifest } from '@catalog-bot/bundle/manifest-document'
import { getStringByKey } from '@catalog-bot/fbc/go/tree'
import { checkManifests, checkCsvExamples } from '@catalog-bot/bundle/check-install'
import { selectMostSevereFindings } from '@catalog-bot/findings/finding-list'

/**
 * The ConfigMap that OLM v0's unpacker creates from a bundle. (operator-registry: pkg/configmap; OLM:
 * pkg/controller/bundle.)
 */
interface UnpackedBundleConfigMap {
  readonly keys: readonly string[]
  /** The size of the base64 data in bytes, as the unpacker counts it. */
  readonly bytes: number
  /** The largest files, in bytes after gzip. */
  readonly largest: readonly { readonly file: string; readonly bytes: number }[]
  /** The reasons why OLM cannot unpack the whole bundle. */
  readonly problems: readonly string[]
  readonly open: readonly string[]
}

/** In bytes. The limit of the unpacker, and of the API server for one ConfigMap. */
const maxConfigMapBytes = 1_048_576

/** The size of Go's gzip output differs slightly from that of Node.js. */
const gzipSizeMarginRatio = 0.02

const bundleAnnotationsPath = 'metadata/annotations.yaml'

/** Rendered once per bundle, for an ordinary namespace and OLM v1's default watch scope. */
export const getRenderedBundleManifests = memoizePerObject((files: BundleFiles) =>
  renderPlainManifests(files, { installNamespace: 'operators' }),
)

export type BundleContentForInstall =
  | {
      readonly kind: 'bundle'
      readonly facts: BundleInstallAnalysis
      readonly from: 'image' | 'directory' | 'catalog'
      /** Used to render objects. Absent if the caller does not show them. */
      readonly files?: BundleFiles
    }
  | { readonly kind: 'missing'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string }

/** Functions that pure code needs from its caller. */
export interface InstallSimulationDependencies {
  /** Returns hexadecimal digits, for the name of the ConfigMap that OLM unpacks into. */
  readonly sha256?: (text: string) => string
}

export interface BundleInstallAnalysis {
  readonly format?: BundleFormat
  /** The `olm.bundle` blob that opm would render. Absent if opm cannot read the bundle. */
  readonly statement?: ComparableBundle
  /** Absent if the catalog contains the manifests. */
  readonly unpacked?: UnpackedBundleConfigMap
  readonly invalid: readonly Finding[]
  readonly rendering: {
    readonly format?: BundleFormat
    readonly refusals: readonly string[]
    readonly open: readonly string[]
    /** The rejections that no validation rule reports. */
    readonly findings: readonly Finding[]
    readonly kinds: readonly (readonly [kind: string, count: number])[]
  }
  readonly rukPak: readonly string[]
  readonly manifests: readonly Finding[]
  readonly examples: readonly Finding[]
  /** Without descriptions. Absent if OLM v1 cannot read the bundle. */
  readonly crds?: readonly BundledCrd[]
  /** Whether values that only the image contains must not be shown. */
  readonly isRestricted?: true
  /** Absent if there is no readable ClusterServiceVersion. */
  readonly installModes?: readonly string[]
  /** The CRDs are omitted because they exceed this many characters. */
  readonly exceededCrdLimit?: number
}

export interface BundleInstallAnalysisOptions {
  readonly labels: Readonly<Record<string, string>>
  /** Size of a file in bytes after gzip. */
  readonly packedSize?: (bytes: Uint8Array) => number
  /** Limit for all CRDs, in characters of JSON. */
  readonly maxCrdLength?: number
}

const maxInstallFindings = 100

export function analyzeBundleInstall(
  files: BundleFiles,
  { labels, packedSize, maxCrdLength = Infinity }: BundleInstallAnalysisOptions,
): BundleInstallAnalysis {
  const format = detectBundleFormat(files)
  const rendering = getRenderedBundleManifests(files)
  const { bundle } = readRegistryBundle(files)
  // Catalogs store manifests in several ways, so they are not compared.
  const statement = bundle && packedSize && renderBundle({ ...bundle, objects: [] }, '')
  const counts = Map.groupBy(rendering.objects, ({ kind }) => kind)
  return {
    ...(format !== undefined && { format }),
    ...(statement && { statement: { ...statement, relatedImages: statement.relatedImages ?? [] } }),
    ...(packedSize && { unpacked: unpackBundle(files, packedSize) }),
    invalid: selectMostSevereInstallFindings(
      validateBundle(files, { labels }).findings.filter(({ severity }) => severity === 'error'),
    ),
    rendering: {
      ...(rendering.format !== undefined && { format: rendering.format }),
      refusals: rendering.rejections.map(({ message }) => message),
      open: rendering.open,
      findings: rendering.findings,
      kinds: [...counts].map(([kind, { length }]) => [kind, length] as const),
    },
    rukPak: findRukPakConversionErrors(files),
    manifests: selectMostSevereInstallFindings(checkManifests(files)),
    examples: selectMostSevereInstallFindings(checkCsvExamples(files)),
    ...extractCrdsAndStripDescriptions(files, maxCrdLength),
    ...findSupportedInstallModes(files),
  }
}

const selectMostSevereInstallFindings = (findings: readonly Finding[]) =>
  selectMostSevereFindings(findings, maxInstallFindings).findings

function findSupportedInstallModes(files: BundleFiles): Pick<BundleInstallAnalysis, 'installModes'> {
  const { bundle } = readPartialRegistryBundle(files)
  if (!bundle) return {}
  const supported = getListAtPath(bundle.csv.data, 'spec', 'installModes').filter(
    (mode) => getJsonFieldAtPath(mode, 'supported') === true,
  )
  return { installModes: [...new Set(supported.map((mode) => getStringAtPath(mode, 'type')))].sort() }
}

function extractCrdsAndStripDescriptions(
  files: BundleFiles,
  maxCrdLength: number,
): Pick<BundleInstallAnalysis, 'crds' | 'exceededCrdLimit'> {
  const crds = readBundledCrds(files)?.map(({ name, file, manifest }) => ({
    name,
    file,
    manifest: stripCrdDescriptions(manifest) as JsonObject,
  }))
  if (!crds) return {}
  return maxCrdLength < Infinity && JSON.stringify(crds).length > maxCrdLength
    ? { exceededCrdLimit: maxCrdLength }
    : { crds }
}

/** Fields that contain the author's values, not schemas. */
const crdSchemaKeysWithLiteralValues: ReadonlySet<string> = new Set(['default', 'enum', 'example'])

/**
 * Removes descriptions, which are most of a CRD and never block an upgrade. Keeps a field of that name if it is an
 * object.
 */
function stripCrdDescriptions(value: Json): Json {
  if (Array.isArray(value)) return value.map(stripCrdDescriptions)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) =>
      key === 'description' && typeof inner === 'string'
        ? []
        : [[key, crdSchemaKeysWithLiteralValues.has(key) ? inner : stripCrdDescriptions(inner)]],
    ),
  )
}

/** Why RukPak's converter, which is stricter than OLM v1's, cannot convert a registry+v1 bundle. */
function findRukPakConversionErrors(files: BundleFiles): readonly string[] {
  const { bundle } = readPartialRegistryBundle(files)
  if (!bundle) return []
  const spec = (...path: readonly string[]) => getListAtPath(bundle.csv.data, 'spec', ...path)
  const rejections: string[] = []
  if (spec('apiservicedefinitions', 'owned').length > 0)
    rejections.push('RukPak does not support owned API services')
  if (spec('webhookdefinitions').length > 0) rejections.push('RukPak does not support webhooks')
  const supportsAll = spec('installModes').some(
    (mode) =>
      getStringAtPath(mode, 'type') === 'AllNamespaces' && getJsonFieldAtPath(mode, 'supported') === true,
  )
  if (!supportsAll) rejections.push('RukPak requires the AllNamespaces install mode')
  for (const { kind, file } of bundle.objects)
    if (isNamespacedKind(kind) === undefined)
      rejections.push(`${file} is a ${kind}, which RukPak does not support`)
  return rejections
}

/**
 * The name of the ConfigMap, the Job, and other unpacking objects. OLM hashes the reference string, so a tag and a
 * digest result in different names.
 */
export function computeUnpackConfigMapName(reference: string, sha256: (text: string) => string): string {
  return sha256(reference).slice(0, 63)
}

/** `packedSize` returns the bytes of a file after gzip. */
export function unpackBundle(
  files: BundleFiles,
  packedSize: (bytes: Uint8Array) => number,
): UnpackedBundleConfigMap {
  const problems: string[] = []
  for (const path of files.keys())
    if (/^(?:manifests|metadata)\/.+\//.test(path))
      problems.push(`${path} is in a subdirectory, which OLM's unpacker ignores`)
  const payload = ['manifests', 'metadata']
    .flatMap((directory) => findFilesInDirectory(files, directory, { hidden: true }))
    .filter(([file]) => file !== bundleAnnotationsPath)
  const byKey = new Map<string, string>()
  for (const [file] of payload) {
    const key = file.slice(file.indexOf('/') + 1).replace(/[^-._a-zA-Z0-9]/g, '-')
    const other = byKey.get(key)
    if (other !== undefined)
      problems.push(`${other} and ${file} have the same ConfigMap key, "${key}", so one overwrites the other`)
    byKey.set(key, file)
  }
  if (!files.has(bundleAnnotationsPath)) problems.push(`${bundleAnnotationsPath} isn't found`)
  const objects = payload.filter(
    ([file, bytes]) => file.startsWith('manifests/') && isKubernetesObject(bytes),
  )
  if (objects.length === 0)
    problems.push('manifests/ contains no Kubernetes object, so OLM would wait forever')
  const sizes = payload
    .map(([file, bytes]) => ({ file, bytes: 4 * Math.ceil(packedSize(bytes) / 3) }))
    .sort((a, b) => b.bytes - a.bytes)
  const bytes = sizes.reduce((sum, size) => sum + size.bytes, 0)
  const isClose = Math.abs(bytes - maxConfigMapBytes) <= maxConfigMapBytes * gzipSizeMarginRatio
  if (bytes > maxConfigMapBytes && !isClose)
    problems.push(
      `the compressed size is ${bytes} bytes, which exceeds the ConfigMap limit of ${maxConfigMapBytes}`,
    )
  return {
    keys: [...byKey.keys()],
    bytes,
    largest: sizes.slice(0, 5),
    problems,
    open: isClose
      ? [
          `the compressed size is about ${bytes} bytes, which is so close to the ConfigMap limit of ${maxConfigMapBytes} that it might not fit.`,
        ]
      : [],
  }
}

function isKubernetesObject(bytes: Uint8Array): boolean {
  const document = readManifest(bytes)
  return document.kind === 'value' && getStringByKey(document.value, 'kind') !== ''
}
