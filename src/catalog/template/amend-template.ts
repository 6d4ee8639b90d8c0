// Adds a released bundle to a template, as build pipelines do. Computes the wanted values, edits the text minimally and
// writes nothing unless the edited text parses to the wanted values.
import type { Json } from '../../go/json/json.ts'
import { isObject } from '../../go/json/json-fields.ts'
import { plainJson } from '../../go/json/plain-json.ts'
import type { ReadResult } from '../write/writable.ts'
import { extendText } from './extend-text.ts'
import { newText } from './new-text.ts'
import { sameJson } from './same-json.ts'
import { readTemplateDocument } from './template-file.ts'

export interface Release {
  readonly package: string
  readonly name: string
  readonly image: string
  readonly channels: readonly string[]
  readonly replaces?: string | undefined
  readonly skips?: readonly string[] | undefined
  readonly skipRange?: string | undefined
}

export type TemplateType = 'olm.template.basic' | 'olm.semver'

/** Creates the template if there is none. Leaves what it already contains. */
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

/** Returns the bytes only if they parse to `wanted`. */
function confirmed(text: string, wanted: Fields): ReadResult<Uint8Array> {
  const bytes = new TextEncoder().encode(text)
  const again = valueOf(bytes)
  if (!again.ok || !sameJson(again.value.fields, wanted))
    return { ok: false, error: 'its text with the bundle would not say what it shall' }
  return { ok: true, value: bytes }
}

/** Undefined for invalid UTF-8, which wouldn't survive rewriting. */
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

/** Keeps an existing entry of the bundle. */
function withEntry(channel: Fields, entry: Fields): Fields {
  const entries = listOf(channel['entries'])
  const isThere = entries.some((one) => isObject(one) && one['name'] === entry['name'])
  return isThere ? channel : { ...channel, entries: [...entries, entry] }
}

const newSemver: Fields = { Schema: 'olm.semver', GenerateMajorChannels: true, GenerateMinorChannels: true }

/** Semver template keys are case-insensitive, so this reuses the spelling of existing keys. */
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
