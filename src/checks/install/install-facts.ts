// Facts about one bundle that depend only on its files, so that they can be cached by image digest.
import { type BundleFiles, type BundleFormat, detectBundleFormat } from '@catalog-bot/bundle/bundle-files'
import { getJsonFieldAtPath, getListAtPath, getStringAtPath } from '@catalog-bot/bundle/fields'
import { readPartialRegistryBundle, readRegistryBundle } from '@catalog-bot/bundle/registry-bundle'
import type { JsonObject } from '@catalog-bot/bundle/plain/rendering'
import { checkManifests, checkCsvExamples } from '@catalog-bot/bundle/check-install'
import { renderBundle, type ComparableBundle } from '@catalog-bot/bundle/render/render-bundle'
import { readBundledCrds, type BundledCrd } from '@catalog-bot/bundle/upgrade/check-crd-upgrade'
import { validateBundle } from '@catalog-bot/bundle/validate-bundle'
import type { Finding } from '@catalog-bot/findings/finding'
import { selectMostSevereFindings } from '@catalog-bot/findings/finding-list'
import type { Json } from '@catalog-bot/fbc/go/json/json'
import { isNamespacedKind } from '@catalog-bot/bundle/plain/supported-kinds'
import { getRenderedBundleManifests } from './rendered-bundle.ts'
import { unpackBundle, type UnpackedBundleConfigMap } from './unpack-bundle.ts'

export interface BundleInstallFacts {
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

export interface BundleInstallFactsOptions {
  readonly labels: Readonly<Record<string, string>>
  /** Size of a file in bytes after gzip. */
  readonly packedSize?: (bytes: Uint8Array) => number
  /** Limit for all CRDs, in characters of JSON. */
  readonly maxCrdLength?: number
}

const maxInstallFindings = 100

export function computeBundleInstallFacts(
  files: BundleFiles,
  { labels, packedSize, maxCrdLength = Infinity }: BundleInstallFactsOptions,
): BundleInstallFacts {
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
    rukPak: findRukPakRejections(files),
    manifests: selectMostSevereInstallFindings(checkManifests(files)),
    examples: selectMostSevereInstallFindings(checkCsvExamples(files)),
    ...extractCrdsWithoutDescriptions(files, maxCrdLength),
    ...findSupportedInstallModes(files),
  }
}

const selectMostSevereInstallFindings = (findings: readonly Finding[]) =>
  selectMostSevereFindings(findings, maxInstallFindings).findings

function findSupportedInstallModes(files: BundleFiles): Pick<BundleInstallFacts, 'installModes'> {
  const { bundle } = readPartialRegistryBundle(files)
  if (!bundle) return {}
  const supported = getListAtPath(bundle.csv.data, 'spec', 'installModes').filter(
    (mode) => getJsonFieldAtPath(mode, 'supported') === true,
  )
  return {
    installModes: [...new Set(supported.map((mode) => getStringAtPath(mode, 'type')))].sort(),
  }
}

function extractCrdsWithoutDescriptions(
  files: BundleFiles,
  maxCrdLength: number,
): Pick<BundleInstallFacts, 'crds' | 'exceededCrdLimit'> {
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
const schemaFieldsWithUserValues: ReadonlySet<string> = new Set(['default', 'enum', 'example'])

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
        : [[key, schemaFieldsWithUserValues.has(key) ? inner : stripCrdDescriptions(inner)]],
    ),
  )
}

/** Why RukPak's converter, which is stricter than OLM v1's, cannot convert a registry+v1 bundle. */
function findRukPakRejections(files: BundleFiles): readonly string[] {
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
  if (!supportsAll) rejections.push('RukPak requires the install mode AllNamespaces')
  for (const { kind, file } of bundle.objects)
    if (isNamespacedKind(kind) === undefined)
      rejections.push(`${file} is a ${kind}, which RukPak does not support`)
  return rejections
}
