// Compares one package's bundles, channels, deprecations and metadata. What cannot be compared counts as different;
// formatting is ignored.
import type {
  BlobPlace,
  BundleBlob,
  DeprecationEntry,
  OtherBlob,
  PackageBlob,
} from '../catalog/facts/catalog.ts'
import { canonical, differingFields, repositoryPath, type BlobComparer } from './blob-text.ts'
import type { PackageChange } from './change.ts'
import { directoryInCatalog } from './layout/classify-path.ts'
import { compareChannels } from './compare-channels.ts'
import { bundleVersion, placesOf, type PackageBlobs } from './package-blobs.ts'
import { readFields } from './read-by-olm.ts'

/** Shared, because there may be hundreds of thousands of packages without changes. */
const nothing = { added: [], removed: [], changed: [] } as const
const noDeprecations: ReadonlyMap<string, DeprecationEntry> = new Map()

/** Lists of a bundle whose order is irrelevant: opm sorts them when it writes. */
const unorderedBundleFields = new Set(['properties', 'relatedImages'])

/** Undefined when nothing differs. */
export function comparePackage(
  root: string,
  name: string,
  base: PackageBlobs | undefined,
  result: PackageBlobs | undefined,
  comparer: BlobComparer,
): PackageChange | undefined {
  if (!base && !result) return undefined
  const [before, after] = [base?.packages[0], result?.packages[0]]
  const moved = before && after && before.defaultChannel !== after.defaultChannel
  const change: PackageChange = {
    name,
    kind: !base ? 'added' : !result ? 'removed' : 'changed',
    directories: directoriesOf(root, base, result),
    bundles: compareBundles(base?.bundles ?? [], result?.bundles ?? [], comparer),
    channels: compareChannels(base?.channels ?? [], result?.channels ?? [], comparer),
    ...(moved && { defaultChannel: { before: before.defaultChannel, after: after.defaultChannel } }),
    metadata: compareMetadata(base?.packages ?? [], result?.packages ?? [], comparer),
    deprecations: compareDeprecations(base, result),
    others: countOthers(base, result, comparer),
  }
  return change.kind !== 'changed' || differs(change) ? change : undefined
}

function differs({
  bundles,
  channels,
  defaultChannel,
  metadata,
  deprecations,
  others,
}: PackageChange): boolean {
  return (
    defaultChannel !== undefined ||
    metadata.length > 0 ||
    others > 0 ||
    [bundles, channels, deprecations].some(
      ({ added, removed, changed }) => added.length + removed.length + changed.length > 0,
    )
  )
}

function directoriesOf(root: string, base?: PackageBlobs, result?: PackageBlobs): string[] {
  const directories = new Set<string>()
  for (const { file } of [...placesOf(base), ...placesOf(result)])
    directories.add(directoryInCatalog(repositoryPath(root, file), root) ?? '')
  return [...directories].sort()
}

function compareBundles(
  base: readonly BundleBlob[],
  result: readonly BundleBlob[],
  comparer: BlobComparer,
): PackageChange['bundles'] {
  if (base.length + result.length === 0) return nothing
  const before = byName(base)
  const after = byName(result)
  const added = []
  const removed = []
  const changed = []
  for (const [name, [bundle, ...more]] of after) {
    if (!bundle) continue
    const [old, ...oldMore] = before.get(name) ?? []
    if (!old) {
      added.push({ name, version: bundleVersion(bundle), place: bundle.place })
      continue
    }
    const fields = bundleDifference(old, bundle, comparer)
    // Validation rejects a second blob of the same name, but it must not hide an edit of the first.
    if (more.length !== oldMore.length || more.some((twin, at) => !sameTwin(oldMore[at], twin, comparer)))
      fields.push('copies')
    if (fields.length > 0) changed.push({ name, fields, place: bundle.place })
  }
  for (const [name, [bundle]] of before)
    if (bundle && !after.has(name)) removed.push({ name, version: bundleVersion(bundle) })
  return {
    added: added.sort(compareNames),
    removed: removed.sort(compareNames),
    changed: changed.sort(compareNames),
  }
}

function sameTwin(base: BundleBlob | undefined, result: BundleBlob, comparer: BlobComparer): boolean {
  return base !== undefined && comparer.sameBytes(base.place, result.place)
}

function bundleDifference(base: BundleBlob, result: BundleBlob, comparer: BlobComparer): string[] {
  if (comparer.sameBytes(base.place, result.place)) return []
  const values = comparer.values(base.place, result.place)
  if (values) {
    const differing = differingFields(values.base, values.result, unorderedBundleFields)
    return readFields(differing, values.base, values.result)
  }
  const fields = []
  if (base.image !== result.image) fields.push('image')
  if (facts(base.properties) !== facts(result.properties)) fields.push('properties')
  if (facts(base.relatedImages) !== facts(result.relatedImages)) fields.push('relatedImages')
  // The facts omit most metadata, so equal facts don't prove equality when the texts differ.
  return fields.length > 0 ? fields : ['text']
}

function facts(list: BundleBlob['properties'] | BundleBlob['relatedImages']): string {
  return list
    .map(({ mark: _, ...fact }) => canonical(fact))
    .sort()
    .join()
}

function compareMetadata(
  base: readonly PackageBlob[],
  result: readonly PackageBlob[],
  comparer: BlobComparer,
): string[] {
  const [before] = base
  const [after] = result
  if (base.length !== result.length && base.length + result.length > 1) return ['copies']
  if (!before || !after || comparer.sameBytes(before.place, after.place)) return []
  const values = comparer.values(before.place, after.place)
  if (!values) return ['text']
  return differingFields(values.base, values.result).filter((field) => field !== 'defaultChannel')
}

function compareDeprecations(base?: PackageBlobs, result?: PackageBlobs): PackageChange['deprecations'] {
  const before = deprecationsOf(base)
  const after = deprecationsOf(result)
  if (before.size + after.size === 0) return nothing
  const added = []
  const removed = []
  const changed = []
  for (const [key, { schema, name, message }] of after) {
    const old = before.get(key)
    if (!old) added.push({ schema, name, message })
    else if (old.message !== message) changed.push({ schema, name })
  }
  for (const [key, { schema, name }] of before) if (!after.has(key)) removed.push({ schema, name })
  return { added, removed, changed }
}

function deprecationsOf(blobs: PackageBlobs | undefined): ReadonlyMap<string, DeprecationEntry> {
  if (!blobs?.deprecations.length) return noDeprecations
  const entries = blobs.deprecations.flatMap((blob) => blob.entries)
  return new Map(entries.map((entry) => [`${entry.schema}\n${entry.name}`, entry]))
}

function countOthers(
  base: PackageBlobs | undefined,
  result: PackageBlobs | undefined,
  comparer: BlobComparer,
): number {
  if (!base?.others.length && !result?.others.length) return 0
  // Compares values only between blobs of the same schema and name.
  const before = Map.groupBy(base?.others ?? [], called)
  let left = base?.others.length ?? 0
  let unpaired = 0
  for (const blob of result?.others ?? []) {
    const alike = before.get(called(blob)) ?? []
    const pair = alike.slice(0, mostAlike).findIndex((other) => sameValue(other.place, blob.place, comparer))
    if (pair < 0) unpaired++
    else {
      alike.splice(pair, 1)
      left--
    }
  }
  return Math.max(unpaired, left)
}

/** Limit for blobs with equal schema and name; the rest count as different. */
const mostAlike = 100

function called({ schema, name }: OtherBlob): string {
  return `${schema}\n${name}`
}

function sameValue(base: BlobPlace, result: BlobPlace, comparer: BlobComparer): boolean {
  if (comparer.sameBytes(base, result)) return true
  const values = comparer.values(base, result)
  return values !== undefined && differingFields(values.base, values.result).length === 0
}

function byName<Blob extends { readonly name: string }>(blobs: readonly Blob[]): Map<string, Blob[]> {
  const named = new Map<string, Blob[]>()
  for (const blob of blobs) {
    const known = named.get(blob.name)
    if (known) known.push(blob)
    else named.set(blob.name, [blob])
  }
  return named
}

function compareNames(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0
}
