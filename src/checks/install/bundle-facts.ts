// Facts about one bundle that depend on its files alone, so that they can be cached by image digest.
import type { BundleFiles, BundleFormat } from '../../bundle/bundle-files.ts'
import { detectFormat } from '../../bundle/bundle-format.ts'
import { at, listOf, textOf } from '../../bundle/fields.ts'
import { readAsFarAsPossible, readRegistryBundle } from '../../bundle/registry-bundle.ts'
import type { JsonObject } from '../../bundle/plain/rendering.ts'
import { checkExamples } from '../../bundle/kubernetes/check-examples.ts'
import { checkManifests } from '../../bundle/kubernetes/check-manifests.ts'
import type { BundleStatement } from '../../bundle/render/compare-with-image.ts'
import { renderBundle } from '../../bundle/render/render-bundle.ts'
import { crdsOf, type BundledCrd } from '../../bundle/upgrade/check-crd-upgrade.ts'
import { validateBundle } from '../../bundle/validate-bundle.ts'
import type { Finding } from '../../findings/finding.ts'
import { mostImportant } from '../../findings/most-important.ts'
import type { Json } from '../../go/json/json.ts'
import { renderedBundle } from './rendered-bundle.ts'
import { rukPakRefusals } from './rukpak-refusals.ts'
import { unpackBundle, type Unpacked } from './unpack-bundle.ts'

export interface BundleFacts {
  readonly format?: BundleFormat
  /** The `olm.bundle` blob that opm would render. Absent where opm cannot read the bundle. */
  readonly statement?: BundleStatement
  /** Absent if the catalog holds the manifests. */
  readonly unpacked?: Unpacked
  readonly invalid: readonly Finding[]
  readonly rendering: {
    readonly format?: BundleFormat
    readonly refusals: readonly string[]
    readonly open: readonly string[]
    /** The refusals that no validation reports. */
    readonly findings: readonly Finding[]
    readonly kinds: readonly (readonly [kind: string, count: number])[]
  }
  readonly rukPak: readonly string[]
  readonly manifests: readonly Finding[]
  readonly examples: readonly Finding[]
  /** Without descriptions. Absent where OLM v1 cannot read the bundle. */
  readonly crds?: readonly BundledCrd[]
  /** Values that only the image has must not be shown. */
  readonly isRestricted?: true
  /** Absent if there is no readable ClusterServiceVersion. */
  readonly installModes?: readonly string[]
  /** The CRDs are omitted because they exceed this many characters. */
  readonly largestCrds?: number
}

export interface FactsOptions {
  readonly labels: Readonly<Record<string, string>>
  /** Size of a file in bytes after gzip. */
  readonly packedSize?: (bytes: Uint8Array) => number
  /** Limit for all CRDs, in characters of JSON. */
  readonly mostCrds?: number
}

const mostFindings = 100

export function bundleFacts(
  files: BundleFiles,
  { labels, packedSize, mostCrds = Infinity }: FactsOptions,
): BundleFacts {
  const format = detectFormat(files)
  const rendering = renderedBundle(files)
  const { bundle } = readRegistryBundle(files)
  // Catalogs store manifests in several ways, so they are not compared.
  const statement = bundle && packedSize && renderBundle({ ...bundle, objects: [] }, '')
  const counts = Map.groupBy(rendering.objects, ({ kind }) => kind)
  return {
    ...(format !== undefined && { format }),
    ...(statement && { statement: { ...statement, relatedImages: statement.relatedImages ?? [] } }),
    ...(packedSize && { unpacked: unpackBundle(files, packedSize) }),
    invalid: few(validateBundle(files, { labels }).findings.filter(({ severity }) => severity === 'error')),
    rendering: {
      ...(rendering.format !== undefined && { format: rendering.format }),
      refusals: rendering.refusals.map(({ message }) => message),
      open: rendering.open,
      findings: rendering.findings,
      kinds: [...counts].map(([kind, { length }]) => [kind, length] as const),
    },
    rukPak: rukPakRefusals(files),
    manifests: few(checkManifests(files)),
    examples: few(checkExamples(files)),
    ...crdFacts(files, mostCrds),
    ...modesOf(files),
  }
}

const few = (findings: readonly Finding[]) => mostImportant(findings, mostFindings).findings

function modesOf(files: BundleFiles): Pick<BundleFacts, 'installModes'> {
  const { bundle } = readAsFarAsPossible(files)
  if (!bundle) return {}
  const supported = listOf(at(bundle.csv.data, 'spec', 'installModes')).filter(
    (mode) => at(mode, 'supported') === true,
  )
  return { installModes: [...new Set(supported.map((mode) => textOf(at(mode, 'type'))))].sort() }
}

function crdFacts(files: BundleFiles, most: number): Pick<BundleFacts, 'crds' | 'largestCrds'> {
  const crds = crdsOf(files)?.map(({ name, file, manifest }) => ({
    name,
    file,
    manifest: withoutProse(manifest) as JsonObject,
  }))
  if (!crds) return {}
  return most < Infinity && JSON.stringify(crds).length > most ? { largestCrds: most } : { crds }
}

/** Fields that hold the author's values, not schemas. */
const values: ReadonlySet<string> = new Set(['default', 'enum', 'example'])

/** Drops descriptions: they are most of a CRD and never block an upgrade. An object-valued field of that name stays. */
function withoutProse(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutProse)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) =>
      key === 'description' && typeof inner === 'string'
        ? []
        : [[key, values.has(key) ? inner : withoutProse(inner)]],
    ),
  )
}
