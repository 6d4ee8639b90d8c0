// A template with one more bundle in it, as the settings of a release want it: what pipelines write when they add a bundle
// to catalogs. Works on the template's values; the text, its comments and its order of keys are not kept.
import type { Json } from '../../go/json/json.ts'
import { isObject } from '../../go/json/json-fields.ts'
import { plainJson } from '../../go/json/plain-json.ts'
import type { ReadResult } from '../write/writable.ts'
import { readTemplateDocument } from './template-file.ts'

/** One template of a release configuration, and the bundle that it is about. */
export interface Release {
  readonly package: string
  /** The bundle's name. */
  readonly name: string
  readonly image: string
  readonly channels: readonly string[]
  readonly replaces?: string | undefined
  readonly skips?: readonly string[] | undefined
  readonly skipRange?: string | undefined
}

export type TemplateType = 'olm.template.basic' | 'olm.semver'

/** The template with the bundle; a new template where there is none. What already stands in it is not added again. */
export function amendTemplate(
  bytes: Uint8Array | undefined,
  type: TemplateType,
  release: Release,
): ReadResult<Uint8Array> {
  if (bytes === undefined)
    return written(type === 'olm.semver' ? amendSemver(newSemver, release) : newBasic(release))
  const read = readTemplateDocument(bytes)
  if (!read.ok) return read
  if (read.value.schema !== type)
    return { ok: false, error: `it is a template of the type ${read.value.schema}, not ${type}` }
  const value = plainJson(read.value.value)
  if (!isObject(value)) return { ok: false, error: 'it is no object' }
  return written(type === 'olm.semver' ? amendSemver(value, release) : amendBasic(value, release))
}

type Fields = { readonly [key: string]: Json }

function written(template: Fields): ReadResult<Uint8Array> {
  return { ok: true, value: new TextEncoder().encode(JSON.stringify(template)) }
}

function newBasic(release: Release): Fields {
  const [first = ''] = release.channels
  const described = { schema: 'olm.package', name: release.package, defaultChannel: first }
  return amendBasic({ schema: 'olm.template.basic', entries: [described] }, release)
}

function amendBasic(template: Fields, release: Release): Fields {
  const listed = listOf(template['entries'])
  const has = (schema: string, field: string, value: string) =>
    listed.some((entry) => isObject(entry) && entry['schema'] === schema && entry[field] === value)
  const channels = release.channels
    .filter((channel) => !has('olm.channel', 'name', channel))
    .map((name): Fields => ({ schema: 'olm.channel', name, package: release.package, entries: [] }))
  const bundle: readonly Fields[] = has('olm.bundle', 'image', release.image)
    ? []
    : [{ schema: 'olm.bundle', image: release.image }]
  const entries = [...listed, ...channels, ...bundle].map((entry) =>
    isObject(entry) && entry['schema'] === 'olm.channel' && isNamed(entry['name'], release.channels)
      ? withEntry(entry, entryOf(release))
      : entry,
  )
  return { ...template, entries }
}

function entryOf({ name, replaces, skips, skipRange }: Release): Fields {
  return {
    name,
    ...(replaces !== undefined && { replaces }),
    ...(skips !== undefined && { skips: [...skips] }),
    ...(skipRange !== undefined && { skipRange }),
  }
}

/** A bundle that stands in the channel already keeps its entry. */
function withEntry(channel: Fields, entry: Fields): Fields {
  const entries = listOf(channel['entries'])
  const isThere = entries.some((one) => isObject(one) && one['name'] === entry['name'])
  return isThere ? channel : { ...channel, entries: [...entries, entry] }
}

const newSemver: Fields = { schema: 'olm.semver', generateMajorChannels: true, generateMinorChannels: true }

/** Keys of semver templates come in any case. */
function amendSemver(template: Fields, { channels, image }: Release): Fields {
  let amended = template
  for (const channel of channels) {
    const key = keyLike(amended, channel)
    const held = amended[key]
    const its: Fields = held !== undefined && isObject(held) ? held : {}
    const bundlesKey = keyLike(its, 'bundles')
    const bundles = listOf(its[bundlesKey])
    const isThere = bundles.some((one) => isObject(one) && one[keyLike(one, 'image')] === image)
    if (!isThere) amended = { ...amended, [key]: { ...its, [bundlesKey]: [...bundles, { image }] } }
  }
  return amended
}

function keyLike(fields: Fields, name: string): string {
  const wanted = name.toLowerCase()
  return Object.keys(fields).findLast((key) => key.toLowerCase() === wanted) ?? wanted
}

function isNamed(name: Json | undefined, names: readonly string[]): boolean {
  return typeof name === 'string' && names.includes(name)
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : []
}
