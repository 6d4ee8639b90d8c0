// Facts about one bundle that depend only on its files, so that they can be cached by image digest.
import type { BundleFiles, BundleFormat } from '../../bundle/bundle-files.ts'
import { detectBundleFormat } from '../../bundle/bundle-format.ts'
import { getField, asList, asString } from '../../bundle/fields.ts'
import { readRegistryBundlePartially, readRegistryBundle } from '../../bundle/registry-bundle.ts'
import type { JsonObject } from '../../bundle/plain/rendering.ts'
import { checkExamples } from '../../bundle/kubernetes/check-examples.ts'
import { checkManifests } from '../../bundle/kubernetes/check-manifests.ts'
import type { ComparableBundle } from '../../bundle/render/compare-with-image.ts'
import { renderBundle } from '../../bundle/render/render-bundle.ts'
import { readBundledCrds, type BundledCrd } from '../../bundle/upgrade/check-crd-upgrade.ts'
import { validateBundle } from '../../bundle/validate-bundle.ts'
import type { Finding } from '../../findings/finding.ts'
import { selectMostSevereFindings } from '../../findings/most-important.ts'
import type { Json } from '../../go/json/json.ts'
import { getRenderedBundleManifests } from './rendered-bundle.ts'
import { findRukPakRejections } from './rukpak-rejections.ts'
import { unpackBundle, type UnpackedBundle } from './unpack-bundle.ts'

export interface InstallFacts {
  readonly format?: BundleFormat
  /** The `olm.bundle` blob that opm would render. Absent if opm cannot read the bundle. */
  readonly statement?: ComparableBundle
  /** Absent if the catalog contains the manifests. */
  readonly unpacked?: UnpackedBundle
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

export interface InstallFactsOptions {
  readonly labels: Readonly<Record<string, string>>
  /** Size of a file in bytes after gzip. */
  readonly packedSize?: (bytes: Uint8Array) => number
  /** Limit for all CRDs, in characters of JSON. */
  readonly maxCrdLength?: number
}

const maxInstallFindings = 100

export function computeInstallFacts(
  files: BundleFiles,
  { labels, packedSize, maxCrdLength = Infinity }: InstallFactsOptions,
): InstallFacts {
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
    invalid: selectTopFindings(
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
    manifests: selectTopFindings(checkManifests(files)),
    examples: selectTopFindings(checkExamples(files)),
    ...computeCrdFacts(files, maxCrdLength),
    ...findInstallModes(files),
  }
}

const selectTopFindings = (findings: readonly Finding[]) =>
  selectMostSevereFindings(findings, maxInstallFindings).findings

function findInstallModes(files: BundleFiles): Pick<InstallFacts, 'installModes'> {
  const { bundle } = readRegistryBundlePartially(files)
  if (!bundle) return {}
  const supported = asList(getField(bundle.csv.data, 'spec', 'installModes')).filter(
    (mode) => getField(mode, 'supported') === true,
  )
  return { installModes: [...new Set(supported.map((mode) => asString(getField(mode, 'type'))))].sort() }
}

function computeCrdFacts(
  files: BundleFiles,
  maxCrdLength: number,
): Pick<InstallFacts, 'crds' | 'exceededCrdLimit'> {
  const crds = readBundledCrds(files)?.map(({ name, file, manifest }) => ({
    name,
    file,
    manifest: stripDescriptions(manifest) as JsonObject,
  }))
  if (!crds) return {}
  return maxCrdLength < Infinity && JSON.stringify(crds).length > maxCrdLength
    ? { exceededCrdLimit: maxCrdLength }
    : { crds }
}

/** Fields that contain the author's values, not schemas. */
const schemaValueFields: ReadonlySet<string> = new Set(['default', 'enum', 'example'])

/**
 * Removes descriptions, which are most of a CRD and never block an upgrade. Keeps a field of that name if it is an
 * object.
 */
function stripDescriptions(value: Json): Json {
  if (Array.isArray(value)) return value.map(stripDescriptions)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) =>
      key === 'description' && typeof inner === 'string'
        ? []
        : [[key, schemaValueFields.has(key) ? inner : stripDescriptions(inner)]],
    ),
  )
}
