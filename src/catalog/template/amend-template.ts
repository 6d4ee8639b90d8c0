// A template with one more bundle in it, as the settings of a release want it: what pipelines write when they add a bundle
// to catalogs. What the template shall say is worked out of its values; its text gets the lines that are needed for that,
// and is read again: where it does not say then what it shall, nothing is written.
import type { Json } from '../../go/json/json.ts'
import { isObject } from '../../go/json/json-fields.ts'
import { plainJson } from '../../go/json/plain-json.ts'
import type { ReadResult } from '../write/writable.ts'
import { extendText } from './extend-text.ts'
import { newText } from './new-text.ts'
import { sameJson } from './same-json.ts'
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
    return begun(type === 'olm.semver' ? amendSemver(newSemver, release) : newBasic(release))
  const value = valueOf(bytes)
  if (!value.ok) return value
  const { schema, fields } = value.value
  if (schema !== type) return { ok: false, error: `it is a template of the type ${schema}, not ${type}` }
  const wanted = type === 'olm.semver' ? amendSemver(fields, release) : amendBasic(fields, release)
  if (sameJson(fields, wanted)) return { ok: true, value: bytes }
  const text = textOf(bytes)
  if (text === undefined) return { ok: false, error: 'it is not UTF-8' }
  const extended = extendText(text, fields, wanted)
  return extended.ok ? confirmed(extended.value, wanted) : extended
}

type Fields = { readonly [key: string]: Json }

function valueOf(bytes: Uint8Array): ReadResult<{ readonly schema: string; readonly fields: Fields }> {
  const read = readTemplateDocument(bytes)
  if (!read.ok) return read
  const fields = plainJson(read.value.value)
  if (!isObject(fields)) return { ok: false, error: 'it is no object' }
  return { ok: true, value: { schema: read.value.schema, fields } }
}

function begun(template: Fields): ReadResult<Uint8Array> {
  return confirmed(`---\n${newText.pairs(template, 0, { listOffset: 0, gap: ' ' })}\n`, template)
}

/** The text's bytes, where they say what they shall. */
function confirmed(text: string, wanted: Fields): ReadResult<Uint8Array> {
  const bytes = new TextEncoder().encode(text)
  const again = valueOf(bytes)
  if (!again.ok || !sameJson(again.value.fields, wanted))
    return { ok: false, error: 'its text with the bundle would not say what it shall' }
  return { ok: true, value: bytes }
}

/** Undefined where it is no UTF-8: it would be another text when it is written again. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { ignoreBOM: true, fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
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

const newSemver: Fields = { Schema: 'olm.semver', GenerateMajorChannels: true, GenerateMinorChannels: true }

/** Keys of semver templates come in any case: what is new is spelt as what is there. */
function amendSemver(template: Fields, { channels, image }: Release): Fields {
  const isCapital = 'Schema' in template
  const spelt = (fields: Fields | undefined, name: string) =>
    keyLike(fields ?? {}, name) ??
    (isCapital ? name.charAt(0).toUpperCase() + name.slice(1).toLowerCase() : name.toLowerCase())
  let amended = template
  for (const channel of channels) {
    const key = spelt(amended, channel)
    const held = amended[key]
    const its: Fields = held !== undefined && isObject(held) ? held : {}
    const bundlesKey = spelt(its, 'bundles')
    const bundles = listOf(its[bundlesKey])
    const imageOf = (one: Json) => (isObject(one) ? one[keyLike(one, 'image') ?? ''] : undefined)
    if (bundles.some((one) => imageOf(one) === image)) continue
    const last = bundles.filter(isObject).at(-1)
    const added = { [spelt(last, 'image')]: image }
    amended = { ...amended, [key]: { ...its, [bundlesKey]: [...bundles, added] } }
  }
  return amended
}

function keyLike(fields: Fields, name: string): string | undefined {
  const wanted = name.toLowerCase()
  return Object.keys(fields).findLast((key) => key.toLowerCase() === wanted)
}

function isNamed(name: Json | undefined, names: readonly string[]): boolean {
  return typeof name === 'string' && names.includes(name)
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : []
}
