// Compares the bundles, channels, deprecations, and metadata of one package. Values that cannot be compared count as
// different. Ignores formatting.
import { compareCodeUnits } from '@catalog-bot/findings/finding'
import type {
  BlobLocation,
  BundleBlob,
  DeprecationEntry,
  CustomSchemaBlob,
  PackageBlob,
  ChannelBlob,
  ChannelEntry,
  PackageBlobs,
} from '@catalog-bot/fbc/facts/catalog'
import { type Json, isJsonObject } from '@catalog-bot/fbc/go/json/json'
import { analyzeUpgradeGraph } from '@catalog-bot/fbc/graph/upgrade-graph'
import {
  toCanonicalJson,
  findChangedBlobFields,
  toRepositoryPath,
  type FbcBlobComparer,
  getBundleVersion,
  getBlobLocations,
  splitByName,
  splitMaps,
} from './compare-blobs.ts'
import type { PackageChange, ChannelChange } from './change.ts'
import { getCatalogSubdirectory } from './layout/classify-path.ts'
import {
  fieldShapesByBlobSchema,
  valueShapesByPropertyType,
  getFieldShape,
  type KnownFieldShape as FieldShape,
} from '@catalog-bot/fbc/load/find-strict-decoding-problems'
import type { BlobFields } from '@catalog-bot/fbc/load/blob-types'

type BlobFieldValue = BlobFields extends ReadonlyMap<string, infer Held> ? Held | undefined : never

const olmFieldsByPropertyType: Readonly<Record<string, FieldShape>> = {
  ...valueShapesByPropertyType,
  'olm.label': { label: {} },
  'olm.label.required': { label: {} },
}

/** Shared, because there may be hundreds of thousands of packages without changes. */
const emptyListChanges = { added: [], removed: [], changed: [] } as const
const emptyDeprecationMap: ReadonlyMap<string, DeprecationEntry> = new Map()

/** Bundle lists whose order is irrelevant, because opm sorts them on output. */
const unorderedBundleFields = new Set(['properties', 'relatedImages'])

/** Returns undefined if nothing differs. */
export function comparePackage(
  root: string,
  name: string,
  base: PackageBlobs | undefined,
  result: PackageBlobs | undefined,
  comparer: FbcBlobComparer,
): PackageChange | undefined {
  if (!base && !result) return undefined
  const [before, after] = [base?.packages[0], result?.packages[0]]
  const moved = before && after && before.defaultChannel !== after.defaultChannel
  const change: PackageChange = {
    name,
    kind: !base ? 'added' : !result ? 'removed' : 'changed',
    directories: collectPackageDirectories(root, base, result),
    bundles: compareBundles(base?.bundles ?? [], result?.bundles ?? [], comparer),
    channels: compareChannels(base?.channels ?? [], result?.channels ?? [], comparer),
    ...(moved && { defaultChannel: { before: before.defaultChannel, after: after.defaultChannel } }),
    metadata: comparePackageMetadata(base?.packages ?? [], result?.packages ?? [], comparer),
    deprecations: compareDeprecations(base, result),
    others: countChangedCustomBlobs(base, result, comparer),
  }
  return change.kind !== 'changed' || hasPackageChanges(change) ? change : undefined
}

function hasPackageChanges({
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

function collectPackageDirectories(root: string, base?: PackageBlobs, result?: PackageBlobs): string[] {
  const directories = new Set<string>()
  for (const { file } of [...getBlobLocations(base), ...getBlobLocations(result)])
    directories.add(getCatalogSubdirectory(toRepositoryPath(root, file), root) ?? '')
  return [...directories].sort()
}

function compareBundles(
  base: readonly BundleBlob[],
  result: readonly BundleBlob[],
  comparer: FbcBlobComparer,
): PackageChange['bundles'] {
  if (base.length + result.length === 0) return emptyListChanges
  const { added, removed, both } = splitMaps(groupBlobsByName(base), groupBlobsByName(result))
  const changed = both.flatMap(([[old, ...oldMore], [bundle, ...more]]) => {
    const fields = findBundleDifferences(old, bundle, comparer)
    // Validation rejects a second blob of the same name, but it must not hide an edit of the first.
    if (
      more.length !== oldMore.length ||
      more.some((copy, at) => !hasSameBundleBytes(oldMore[at], copy, comparer))
    )
      fields.push('copies')
    return fields.length > 0 ? [{ name: bundle.name, fields, place: bundle.place }] : []
  })
  return {
    added: added
      .map(([bundle]) => ({ name: bundle.name, version: getBundleVersion(bundle), place: bundle.place }))
      .sort(compareByName),
    removed: removed
      .map(([bundle]) => ({ name: bundle.name, version: getBundleVersion(bundle) }))
      .sort(compareByName),
    changed: changed.sort(compareByName),
  }
}

function hasSameBundleBytes(base: BundleBlob | undefined, result: BundleBlob, comparer: FbcBlobComparer) {
  return base !== undefined && comparer.sameBytes(base.place, result.place)
}

function findBundleDifferences(base: BundleBlob, result: BundleBlob, comparer: FbcBlobComparer): string[] {
  if (comparer.sameBytes(base.place, result.place)) return []
  const values = comparer.values(base.place, result.place)
  if (values) {
    const differing = findChangedBlobFields(values.base, values.result, unorderedBundleFields)
    return filterOlmRelevantFieldChanges(differing, values.base, values.result)
  }
  const fields = []
  if (base.image !== result.image) fields.push('image')
  if (formatListForComparison(base.properties) !== formatListForComparison(result.properties))
    fields.push('properties')
  if (formatListForComparison(base.relatedImages) !== formatListForComparison(result.relatedImages))
    fields.push('relatedImages')
  // The facts omit most metadata, so equal facts don't prove equality if the text differs.
  return fields.length > 0 ? fields : ['text']
}

function formatListForComparison(list: BundleBlob['properties'] | BundleBlob['relatedImages']): string {
  return list
    .map(({ mark: _, ...fact }) => toCanonicalJson(fact))
    .sort()
    .join()
}

function comparePackageMetadata(
  base: readonly PackageBlob[],
  result: readonly PackageBlob[],
  comparer: FbcBlobComparer,
): string[] {
  const [before] = base
  const [after] = result
  if (base.length !== result.length && base.length + result.length > 1) return ['copies']
  if (!before || !after || comparer.sameBytes(before.place, after.place)) return []
  const values = comparer.values(before.place, after.place)
  if (!values) return ['text']
  return findChangedBlobFields(values.base, values.result).filter((field) => field !== 'defaultChannel')
}

function compareDeprecations(base?: PackageBlobs, result?: PackageBlobs): PackageChange['deprecations'] {
  const before = indexDeprecationsByTarget(base)
  const after = indexDeprecationsByTarget(result)
  if (before.size + after.size === 0) return emptyListChanges
  const { added, removed, both } = splitMaps(before, after)
  return {
    added: added.map(({ schema, name, message }) => ({ schema, name, message })),
    removed: removed.map(({ schema, name }) => ({ schema, name })),
    changed: both.flatMap(([old, { schema, name, message }]) =>
      old.message === message ? [] : [{ schema, name }],
    ),
  }
}

function indexDeprecationsByTarget(blobs: PackageBlobs | undefined): ReadonlyMap<string, DeprecationEntry> {
  if (!blobs?.deprecations.length) return emptyDeprecationMap
  const entries = blobs.deprecations.flatMap((blob) => blob.entries)
  return new Map(entries.map((entry) => [`${entry.schema}\n${entry.name}`, entry]))
}

function countChangedCustomBlobs(
  base: PackageBlobs | undefined,
  result: PackageBlobs | undefined,
  comparer: FbcBlobComparer,
): number {
  if (!base?.others.length && !result?.others.length) return 0
  // Compares values only between blobs of the same schema and name.
  const before = Map.groupBy(base?.others ?? [], toCustomBlobKey)
  let left = base?.others.length ?? 0
  let unpaired = 0
  for (const blob of result?.others ?? []) {
    const alike = before.get(toCustomBlobKey(blob)) ?? []
    const pair = alike
      .slice(0, maxComparedBlobsPerName)
      .findIndex((other) => hasSameBlobFields(other.place, blob.place, comparer))
    if (pair < 0) unpaired++
    else {
      alike.splice(pair, 1)
      left--
    }
  }
  return Math.max(unpaired, left)
}

/** The limit for blobs with the same schema and name. The others count as different. */
const maxComparedBlobsPerName = 100

function toCustomBlobKey({ schema, name }: CustomSchemaBlob): string {
  return `${schema}\n${name}`
}

function hasSameBlobFields(base: BlobLocation, result: BlobLocation, comparer: FbcBlobComparer): boolean {
  if (comparer.sameBytes(base, result)) return true
  const values = comparer.values(base, result)
  return values !== undefined && findChangedBlobFields(values.base, values.result).length === 0
}

function groupBlobsByName(blobs: readonly BundleBlob[]) {
  return Map.groupBy(blobs, ({ name }) => name) as Map<string, [BundleBlob, ...BundleBlob[]]>
}

function compareByName(a: { readonly name: string }, b: { readonly name: string }): number {
  return compareCodeUnits(a.name, b.name)
}

/** Returns the differing fields in which a part that OLM reads differs. */
function filterOlmRelevantFieldChanges(
  differing: readonly string[],
  base: BlobFields,
  result: BlobFields,
): string[] {
  return differing.filter(
    (field) =>
      formatFieldAsReadByOlm(field, base.get(field)) !== formatFieldAsReadByOlm(field, result.get(field)),
  )
}

/** Returns the text of a field as OLM reads it, for comparison. Ignores the order of lists. */
function formatFieldAsReadByOlm(field: string, value: BlobFieldValue): string {
  const bundle = fieldShapesByBlobSchema['olm.bundle']
  const shape = typeof bundle === 'object' ? getFieldShape(bundle, field) : 'any'
  if (shape === undefined || value === undefined) return ''
  if (typeof value === 'string') return value
  const items = value.map((item) => JSON.parse(item) as Json)
  const isOfProperties = getFieldShape({ properties: {} }, field) !== undefined
  return items
    .map((item) =>
      toCanonicalJson(
        isOfProperties ? pickPropertyFieldsReadByOlm(item) : pickPropertyValueFieldsReadByOlm(item, shape),
      ),
    )
    .sort()
    .join('\n')
}

function pickPropertyFieldsReadByOlm(property: Json): Json {
  if (!isJsonObject(property)) return property
  const { type } = property
  const named = Object.keys(property).filter((name) => getFieldShape({ type: {}, value: {} }, name))
  // Go ignores the case of keys, so the order matters for keys that differ only in case.
  const isPlain = named.every((name) => name === 'type' || name === 'value')
  if (!isPlain || typeof type !== 'string') return property
  const shape = Object.hasOwn(olmFieldsByPropertyType, type) ? olmFieldsByPropertyType[type] : undefined
  return {
    type,
    ...('value' in property && {
      value: pickPropertyValueFieldsReadByOlm(property['value'] ?? null, shape ?? 'any'),
    }),
  }
}

function pickPropertyValueFieldsReadByOlm(value: Json, shape: FieldShape): Json {
  if (typeof shape === 'string' || !isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, held]): [string, Json][] => {
      const below = getFieldShape(shape, name)
      return below === undefined ? [] : [[name, held]]
    }),
  )
}

/** Sorted by name. */
function compareChannels(
  base: readonly ChannelBlob[],
  result: readonly ChannelBlob[],
  comparer: FbcBlobComparer,
): PackageChange['channels'] {
  if (base.length + result.length === 0) return emptyListChanges
  const { added, removed, both } = splitByName(base, result)
  return {
    added: getSortedNames(added),
    removed: getSortedNames(removed),
    changed: both
      .flatMap(([old, channel]) => compareChannel(old, channel, comparer) ?? [])
      .sort(compareByName),
  }
}

function getSortedNames(items: readonly { readonly name: string }[]): string[] {
  return items.map(({ name }) => name).sort()
}

function compareChannel(
  base: ChannelBlob,
  result: ChannelBlob,
  comparer: FbcBlobComparer,
): ChannelChange | undefined {
  if (comparer.sameBytes(base.place, result.place)) return undefined
  const entries = splitByName(base.entries, result.entries)
  const [added, removed] = [getSortedNames(entries.added), getSortedNames(entries.removed)]
  const changed = getSortedNames(
    entries.both.flatMap(([old, entry]) => (hasSameEdges(old, entry) ? [] : [entry])),
  )
  if (added.length + removed.length + changed.length === 0) {
    // Equal entries with different text: a property, an unknown field, or only formatting.
    const values = comparer.values(base.place, result.place)
    if (values && findChangedBlobFields(values.base, values.result, new Set(['entries'])).length === 0)
      return undefined
  }
  const [headBefore, headAfter] = [findSingleChannelHead(base.entries), findSingleChannelHead(result.entries)]
  return {
    name: result.name,
    head: {
      ...(headBefore !== undefined && { before: headBefore }),
      ...(headAfter !== undefined && { after: headAfter }),
    },
    entries: { added, removed, changed },
  }
}

function hasSameEdges(a: ChannelEntry, b: ChannelEntry): boolean {
  return (
    a.replaces === b.replaces &&
    a.skipRange === b.skipRange &&
    a.skips.length === b.skips.length &&
    new Set([...a.skips, ...b.skips]).size === new Set(a.skips).size &&
    new Set(a.skips).size === new Set(b.skips).size
  )
}

/** Returns undefined unless the channel has exactly one head. */
function findSingleChannelHead(entries: readonly ChannelEntry[]): string | undefined {
  const { heads } = analyzeUpgradeGraph(entries)
  return heads.length === 1 ? heads[0] : undefined
}
