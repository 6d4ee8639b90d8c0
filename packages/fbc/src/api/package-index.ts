// Builds `packages.json` of opm's cache, with the entries of each channel. Expects a catalog that opm accepts.
import { compareBytes, quoteLikeGo } from '../go/text.ts'
import { analyzeUpgradeGraph } from '../graph/upgrade-graph.ts'
import type { ApiDeprecation } from './api-types.ts'
import {
  decodeGoStruct,
  getDecodedStructList,
  getDecodedStringField,
  getDecodedStringList,
  getDecodedStructField,
  getDecodedStringFields,
} from '../go/decode/decode.ts'
import type { ParsedValue } from '../go/tree.ts'
import { channelStructType, deprecationStructType, packageStructType } from '../load/blob-types.ts'
import type { BlobMeta } from '../load/meta.ts'
import { toWritableIcon, type WritablePackage } from '../write/writable-catalog.ts'

/** The data that OLM's registry API needs from olm.package, olm.channel, and olm.deprecations blobs beyond their facts. */
export interface PackageIndexBlobs {
  readonly packages: DecodedPackageBlob[]
  readonly channels: DecodedChannelBlob[]
  readonly deprecations: DecodedDeprecationEntry[]
}

interface DecodedPackageBlob {
  readonly name: string
  readonly description: string
  readonly defaultChannel: string
  readonly icon?: NonNullable<WritablePackage['icon']>
}

interface DecodedChannelBlob {
  readonly package: string
  readonly name: string
  readonly entries: readonly {
    readonly name: string
    readonly replaces: string
    readonly skips: readonly string[]
    /** Go writes an absent list differently from an empty one. */
    readonly hasSkips: boolean
    readonly skipRange: string
  }[]
}

interface DecodedDeprecationEntry {
  readonly package: string
  readonly schema: string
  readonly name: string
  readonly message: string
}

const pathComponentPattern = /^[a-zA-Z0-9][a-zA-Z0-9._-]*$/

/** Packages, channels and bundles are sorted by the bytes of their names. */
export type PackageIndex = ReadonlyMap<string, IndexedPackage>

export interface IndexedPackage {
  readonly name: string
  readonly description: string
  readonly icon?: NonNullable<WritablePackage['icon']>
  readonly defaultChannel: string
  readonly channels: ReadonlyMap<string, IndexedChannel>
  readonly deprecation?: ApiDeprecation
}

export interface IndexedChannel {
  readonly name: string
  readonly head: string
  readonly bundles: ReadonlyMap<string, IndexedBundle>
  readonly deprecation?: ApiDeprecation
}

/** opm keeps a bundle's range and deprecation with the bundle, not in `packages.json`. */
export interface IndexedBundle {
  readonly package: string
  readonly channel: string
  readonly name: string
  readonly replaces: string
  readonly skips: readonly string[]
  /** Go writes an absent list differently from an empty one. */
  readonly hasSkips: boolean
  readonly skipRange: string
  readonly deprecation?: ApiDeprecation
}

export function buildPackageIndex({ packages, channels, deprecations }: PackageIndexBlobs): PackageIndex {
  const deprecated = new Map(
    deprecations.map((one) => [
      formatDeprecationKey(one.package, one.schema, one.name),
      { message: one.message },
    ]),
  )
  const deprecationOf = (...of: readonly string[]): { deprecation?: ApiDeprecation } => {
    const deprecation = deprecated.get(formatDeprecationKey(...of))
    return deprecation ? { deprecation } : {}
  }
  const ofPackage = Map.groupBy(channels, (channel) => channel.package)
  const indexed = (channel: DecodedChannelBlob): IndexedChannel => ({
    name: channel.name,
    head: analyzeUpgradeGraph(channel.entries).heads[0] ?? '',
    bundles: toMapSortedByName(
      channel.entries.map((entry) => ({
        ...entry,
        package: channel.package,
        channel: channel.name,
        ...deprecationOf(channel.package, 'olm.bundle', entry.name),
      })),
    ),
    ...deprecationOf(channel.package, 'olm.channel', channel.name),
  })
  return toMapSortedByName(
    packages.map((one) => ({
      ...one,
      channels: toMapSortedByName((ofPackage.get(one.name) ?? []).map(indexed)),
      ...deprecationOf(one.name, 'olm.package', ''),
    })),
  )
}

function formatDeprecationKey(...parts: readonly string[]): string {
  return JSON.stringify(parts)
}

function toMapSortedByName<Named extends { readonly name: string }>(all: readonly Named[]) {
  const sorted = [...all].sort((a, b) => compareBytes(a.name, b.name))
  return new Map(sorted.map((one) => [one.name, one]))
}

// Blobs with custom schemas, which opm serves by schema and package.

/** opm uses these names in paths and rejects unsafe names. Returns undefined if they are safe. */
export function findCustomBlobProblem(custom: {
  readonly schema: string
  readonly package: string
}): string | undefined {
  const found =
    findPathComponentProblem('schema', custom.schema) ??
    (custom.package === '' ? undefined : findPathComponentProblem('packageName', custom.package))
  return found && `invalid custom schema meta: ${found}`
}

/** Returns opm's error for an unsafe key component. */
export function findPathComponentProblem(field: string, text: string): string | undefined {
  if (text === '') return `invalid ${field}: must not be empty`
  return pathComponentPattern.test(text)
    ? undefined
    : `invalid ${field} ${quoteLikeGo(text)}: must match ${pathComponentPattern.source}`
}

/** Returns false if the blob has another schema. */
export function addPackageIndexBlob(
  into: PackageIndexBlobs,
  { schema, value }: Pick<BlobMeta, 'schema' | 'value'>,
): boolean {
  if (schema === 'olm.package') into.packages.push(decodePackageBlob(value))
  else if (schema === 'olm.channel') into.channels.push(decodeChannelBlob(value))
  else if (schema === 'olm.deprecations') into.deprecations.push(...decodeDeprecationEntries(value))
  else return false
  return true
}

function decodePackageBlob(value: ParsedValue): DecodedPackageBlob {
  const { decoded } = decodeGoStruct(packageStructType, value)
  const icon = getDecodedStructField(decoded, 'icon')
  return {
    ...getDecodedStringFields(decoded, 'name', 'description', 'defaultChannel'),
    ...(icon && { icon: toWritableIcon(icon) }),
  }
}

function decodeChannelBlob(value: ParsedValue): DecodedChannelBlob {
  const { decoded } = decodeGoStruct(channelStructType, value)
  return {
    ...getDecodedStringFields(decoded, 'package', 'name'),
    entries: getDecodedStructList(decoded, 'entries').map((entry) => ({
      ...getDecodedStringFields(entry, 'name', 'replaces', 'skipRange'),
      skips: getDecodedStringList(entry, 'skips'),
      hasSkips: Array.isArray(entry.fields.get('skips')),
    })),
  }
}

function decodeDeprecationEntries(value: ParsedValue): readonly DecodedDeprecationEntry[] {
  const { decoded } = decodeGoStruct(deprecationStructType, value)
  return getDecodedStructList(decoded, 'entries').map((entry) => {
    const reference = getDecodedStructField(entry, 'reference')
    return {
      package: getDecodedStringField(decoded, 'package'),
      schema: reference ? getDecodedStringField(reference, 'schema') : '',
      name: reference ? getDecodedStringField(reference, 'name') : '',
      message: getDecodedStringField(entry, 'message'),
    }
  })
}
