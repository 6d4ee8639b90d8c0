// What a simulated install has to know of one bundle, whatever catalog names it: told by its files alone, so that it can be
// worked out where they are unpacked, and remembered by the image's digest. Plain data.
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
  /** Absent for what shows none of the three. */
  readonly format?: BundleFormat
  /** What its `olm.bundle` blob would say. Absent where opm cannot read it, or where there is nothing to compare. */
  readonly statement?: BundleStatement
  /** Absent for what is not unpacked: the catalog holds its manifests. */
  readonly unpacked?: Unpacked
  /** The errors of `validateBundle`. */
  readonly invalid: readonly Finding[]
  readonly rendering: {
    readonly format?: BundleFormat
    readonly refusals: readonly string[]
    readonly open: readonly string[]
    /** Of those refusals the ones that no validation tells. */
    readonly findings: readonly Finding[]
    /** How many objects of each kind there would be. */
    readonly kinds: readonly (readonly [kind: string, count: number])[]
  }
  /** Why RukPak's converter refuses it. */
  readonly rukPak: readonly string[]
  readonly manifests: readonly Finding[]
  readonly examples: readonly Finding[]
  /** Without prose. Absent where OLM v1 cannot read the bundle. */
  readonly crds?: readonly BundledCrd[]
  /** Nothing that only the image says may be repeated. */
  readonly isRestricted?: true
  /** Install modes that its ClusterServiceVersion supports. Absent where it has none, or nobody could read it. */
  readonly installModes?: readonly string[]
  /** The CRDs are left out, being larger than this many characters. */
  readonly largestCrds?: number
}

export interface FactsOptions {
  readonly labels: Readonly<Record<string, string>>
  /** Bytes of a file after gzip. Absent for a bundle that is not unpacked. */
  readonly packedSize?: (bytes: Uint8Array) => number
  /** The most characters of JSON that CRDs may have. */
  readonly mostCrds?: number
}

/** A list of findings that nobody reads to its end says no more. */
const mostFindings = 100

export function bundleFacts(
  files: BundleFiles,
  { labels, packedSize, mostCrds = Infinity }: FactsOptions,
): BundleFacts {
  const format = detectFormat(files)
  const rendering = renderedBundle(files)
  const { bundle } = readRegistryBundle(files)
  // Whole manifests are not compared: catalogs may keep them in several ways.
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

/** Values of the author's own: what stands in them is no schema. */
const values: ReadonlySet<string> = new Set(['default', 'enum', 'example'])

/** Descriptions are most of a CRD, and no upgrade is refused for them. A field of that name is an object, and stays. */
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
