// The cache that `opm serve` starts from, in opm's JSON format, file for file and byte for byte as `opm serve --cache-only`
// writes it (opm v1.73, pkg/cache): an index of the packages, a file for each bundle in each channel, one for each custom blob.
import { encodeBase64 } from '../../go/base64.ts'
import { decode, structsOf, textOf, textsOf } from '../../go/decode/decode.ts'
import type { Decoded } from '../../go/decode/decoded.ts'
import { Fnv64a } from '../../go/fnv.ts'
import { jsonText } from '../../go/json/json-text.ts'
import { marshalObject, marshalString } from '../../go/json/marshal.ts'
import { compareBytes, quote } from '../../go/text.ts'
import { channelType, deprecationType, packageType } from '../load/blob-types.ts'
import type { Meta } from '../load/meta.ts'
import { apiBundle, type ApiBundle, type BundlePackage, type Pieces } from './api-bundle.ts'
import { escapedAgain, LongTexts } from './escaped-json.ts'

export interface CacheFile {
  /** Below `cache/`. */
  readonly path: string
  readonly pieces: Pieces
}

export type CacheResult =
  | {
      readonly ok: true
      readonly files: readonly CacheFile[]
      /** Sorted by bytes. */
      readonly packages: readonly string[]
      readonly bundles: number
    }
  /** Why opm cannot make a cache of the catalog: in its words where it has some. */
  | { readonly ok: false; readonly error: string }

interface CachedPackage extends BundlePackage {
  /** As JSON; undefined where it has none. */
  readonly icon: string | undefined
  readonly defaultChannel: string
  readonly channels: Map<string, CachedChannel>
  readonly bundles: Map<string, ApiBundle>
  readonly deprecated: Map<string, string>
}

interface CachedChannel {
  readonly name: string
  readonly entries: readonly CachedEntry[]
}

interface CachedEntry {
  readonly name: string
  readonly replaces: string
  readonly skips: readonly string[]
  readonly skipRange: string
  /** Whether the blob has a list of skips at all: the index tells null from an empty list. */
  readonly hasSkips: boolean
}

const encoder = new TextEncoder()
/** What a file's name may have on the systems that opm runs on. */
const longestName = 255
/** The longest JSON of one custom blob: V8 has no text of more than twice that. */
const longestBlob = 1 << 28
const component = /^[a-zA-Z0-9][a-zA-Z0-9._-]*$/

/** `documents`: all blobs of a catalog that opm finds valid, in any order. */
export function writeCache(documents: readonly Meta[]): CacheResult {
  const packages = new Map<string, CachedPackage>()
  const files = new Map<string, Pieces>()
  const texts = new LongTexts()
  for (const { schema, value } of documents) if (schema === 'olm.package') addPackage(packages, value)
  for (const meta of documents) {
    const error = addBlob({ packages, files, texts }, meta)
    if (error !== undefined) return { ok: false, error }
  }
  const sorted = [...packages.values()].sort((a, b) => compareBytes(a.name, b.name))
  let bundles = 0
  for (const one of sorted) {
    const error = addBundleFiles(files, one)
    if (error !== undefined) return { ok: false, error }
    bundles += one.bundles.size
  }
  files.set('packages.json', [encoder.encode(packageIndex(sorted))])
  return {
    ok: true,
    files: [...files].map(([path, pieces]) => ({ path, pieces })),
    packages: sorted.map(({ name }) => name),
    bundles,
  }
}

type Blob = Meta['value']

function addPackage(packages: Map<string, CachedPackage>, value: Blob): void {
  const { decoded } = decode(packageType, value)
  const of = bundlePackage(value)
  packages.set(of.name, {
    ...of,
    // Bytes that are not there are null in the index, and an empty text in a CSV.
    icon: iconOf(decoded, 'null'),
    defaultChannel: textOf(decoded, 'defaultChannel'),
    channels: new Map(),
    bundles: new Map(),
    deprecated: new Map(),
  })
}

/** What the bundles of a package take from its `olm.package` blob. */
export function bundlePackage(value: Blob): BundlePackage {
  const { decoded } = decode(packageType, value)
  const icon = iconOf(decoded, '""')
  return {
    name: textOf(decoded, 'name'),
    description: textOf(decoded, 'description'),
    iconInCsv: escapedAgain(icon === undefined ? '' : `,"icon":[${icon}]`),
  }
}

function iconOf(decoded: Decoded, nothing: string): string | undefined {
  const icon = decoded.fields.get('icon')
  if (typeof icon !== 'object' || !('fields' in icon)) return undefined
  const data = icon.fields.get('base64data')
  return marshalObject([
    ['base64data', data instanceof Uint8Array ? `"${encodeBase64(data)}"` : nothing],
    ['mediatype', marshalString(textOf(icon, 'mediatype'))],
  ])
}

interface Draft {
  readonly packages: ReadonlyMap<string, CachedPackage>
  readonly files: Map<string, Pieces>
  readonly texts: LongTexts
}

function addBlob(
  { packages, files, texts }: Draft,
  { schema, package: of, value }: Meta,
): string | undefined {
  switch (schema) {
    case 'olm.package':
      return undefined
    case 'olm.channel': {
      const { decoded } = decode(channelType, value)
      const name = textOf(decoded, 'name')
      packages.get(textOf(decoded, 'package'))?.channels.set(name, {
        name,
        entries: structsOf(decoded, 'entries').map((entry) => ({
          name: textOf(entry, 'name'),
          replaces: textOf(entry, 'replaces'),
          skips: textsOf(entry, 'skips'),
          skipRange: textOf(entry, 'skipRange'),
          hasSkips: Array.isArray(entry.fields.get('skips')),
        })),
      })
      return undefined
    }
    case 'olm.bundle': {
      const parent = packages.get(of)
      if (!parent) return undefined
      const made = apiBundle(value, parent, texts)
      if (!made.ok) return `build package index: process package ${quote(of)}: ${made.error}`
      parent.bundles.set(made.value.name, made.value)
      return undefined
    }
    case 'olm.deprecations': {
      const { decoded } = decode(deprecationType, value)
      const { deprecated } = packages.get(textOf(decoded, 'package')) ?? {}
      for (const entry of structsOf(decoded, 'entries')) {
        const reference = entry.fields.get('reference')
        if (typeof reference !== 'object' || !('fields' in reference)) continue
        const json = marshalObject([['message', marshalString(textOf(entry, 'message'))]])
        deprecated?.set(deprecationKey(textOf(reference, 'schema'), textOf(reference, 'name')), json)
      }
      return undefined
    }
    default:
      return addCustomBlob(files, schema, of, value)
  }
}

function deprecationKey(schema: string, name: string): string {
  return `${schema} ${name}`
}

/** opm makes folders of schema and package, so both have to be plain names. */
function addCustomBlob(
  files: Map<string, Pieces>,
  schema: string,
  of: string,
  value: Blob,
): string | undefined {
  for (const [what, name] of [
    ['schema', schema],
    ['packageName', of],
  ] as const)
    if (!component.test(name) && !(what === 'packageName' && name === ''))
      return `invalid custom schema meta: invalid ${what} ${quote(name)}: must match ${component.source}`
  const text = jsonText(value, { escapeHtml: false, exactNumbers: false, maxLength: longestBlob })
  if (text.length >= longestBlob) return `the ${schema} blob is too large`
  const content = encoder.encode(`${text}\n`)
  const hash = new Fnv64a()
  hash.update(content)
  const path = ['metas', schema, of, `${hash.hex()}.json`].filter((part) => part !== '').join('/')
  files.set(path, [content])
  return undefined
}

function addBundleFiles(files: Map<string, Pieces>, of: CachedPackage): string | undefined {
  for (const channel of of.channels.values())
    for (const entry of channel.entries) {
      const bundle = of.bundles.get(entry.name)
      if (!bundle) continue
      const path = `${of.name}_${channel.name}_${entry.name}.json`
      const problem = nameProblem(path) ?? (files.has(path) ? 'another bundle has the same file' : undefined)
      if (problem !== undefined) return `opm has no file ${quote(path)} for a bundle in its cache: ${problem}`
      const deprecation = of.deprecated.get(deprecationKey('olm.bundle', entry.name))
      files.set(path, bundle.inChannel({ ...entry, channel: channel.name, deprecation }))
    }
  return undefined
}

/** Names of channels and bundles may have any character; those of files may not. */
function nameProblem(name: string): string | undefined {
  if (name.includes('/')) return 'the name has a slash in it'
  if (name.includes('\0')) return 'the name has a NUL in it'
  return encoder.encode(name).length > longestName
    ? `the name is longer than ${longestName} bytes`
    : undefined
}

function packageIndex(packages: readonly CachedPackage[]): string {
  return sortedMap(
    packages.map((of) => [
      of.name,
      marshalObject([
        ['name', marshalString(of.name)],
        ['description', marshalString(of.description)],
        ['icon', of.icon ?? 'null'],
        ['defaultChannel', marshalString(of.defaultChannel)],
        [
          'Channels',
          sortedMap([...of.channels.values()].map((channel) => [channel.name, channelJson(of, channel)])),
        ],
        ['deprecation', of.deprecated.get(deprecationKey('olm.package', ''))],
      ]),
    ]),
  )
}

function channelJson(of: CachedPackage, channel: CachedChannel): string {
  const bundles = channel.entries.map(({ name, replaces, skips, hasSkips }): [string, string] => [
    name,
    marshalObject([
      ['package', marshalString(of.name)],
      ['channel', marshalString(channel.name)],
      ['name', marshalString(name)],
      ['replaces', marshalString(replaces)],
      ['skips', hasSkips ? `[${skips.map(marshalString).join(',')}]` : 'null'],
    ]),
  ])
  return marshalObject([
    ['Name', marshalString(channel.name)],
    ['Head', marshalString(headOf(channel))],
    ['Bundles', sortedMap(bundles)],
    ['deprecation', of.deprecated.get(deprecationKey('olm.channel', channel.name))],
  ])
}

/** The entry that no other replaces or skips: of a valid channel there is one. */
function headOf({ entries }: CachedChannel): string {
  const superseded = new Set(entries.flatMap(({ replaces, skips }) => [replaces, ...skips]))
  return entries.find(({ name }) => !superseded.has(name))?.name ?? ''
}

function sortedMap(entries: readonly (readonly [key: string, json: string])[]): string {
  const sorted = [...entries].sort(([a], [b]) => compareBytes(a, b))
  return `{${sorted.map(([key, json]) => `${marshalString(key)}:${json}`).join(',')}}`
}
