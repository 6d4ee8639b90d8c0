// Adds a released bundle to a template, as build pipelines do. Computes the expected values, edits the text minimally,
// and returns an error unless the edited text parses to the expected values.
import { type Json, isJsonObject, toPlainJson } from '../go/json/json.ts'
import type { CatalogReadResult } from '../write/writable-catalog.ts'
import { insertYamlAdditions } from './insert-yaml.ts'
import { parseTemplateDocument, templateTextFormatters, areJsonValuesEqual } from './template-document.ts'

export interface BundleReleaseInput {
  readonly package: string
  readonly name: string
  readonly image: string
  readonly channels: readonly string[]
  readonly replaces?: string | undefined
  readonly skips?: readonly string[] | undefined
  readonly skipRange?: string | undefined
}

export type TemplateType = 'olm.template.basic' | 'olm.semver'

/** Creates the template if it does not exist. Does not change its existing content. */
export function addBundleToTemplate(
  bytes: Uint8Array | undefined,
  type: TemplateType,
  release: BundleReleaseInput,
): CatalogReadResult<Uint8Array> {
  if (bytes === undefined)
    return formatTemplateYaml(
      type === 'olm.semver'
        ? addBundleToSemverTemplate(emptySemverTemplate, release)
        : createBasicTemplateFields(release),
    )
  const value = parseTemplateFields(bytes)
  if (!value.ok) return value
  const { schema, fields } = value.value
  if (schema !== type) return { ok: false, error: `the template type is ${schema}, not ${type}` }
  const amendedFields =
    type === 'olm.semver'
      ? addBundleToSemverTemplate(fields, release)
      : addBundleToBasicTemplate(fields, release)
  if (areJsonValuesEqual(fields, amendedFields)) return { ok: true, value: bytes }
  const text = decodeUtf8(bytes)
  if (text === undefined) return { ok: false, error: 'the template is not valid UTF-8' }
  const extended = insertYamlAdditions(text, fields, amendedFields)
  return extended.ok ? verifyTemplateText(extended.value, amendedFields) : extended
}

type TemplateFields = { readonly [key: string]: Json }

function parseTemplateFields(
  bytes: Uint8Array,
): CatalogReadResult<{ readonly schema: string; readonly fields: TemplateFields }> {
  const read = parseTemplateDocument(bytes)
  if (!read.ok) return read
  const fields = toPlainJson(read.value.value)
  if (!isJsonObject(fields)) return { ok: false, error: 'the template is not an object' }
  return { ok: true, value: { schema: read.value.schema, fields } }
}

function formatTemplateYaml(template: TemplateFields): CatalogReadResult<Uint8Array> {
  return verifyTemplateText(
    `---\n${templateTextFormatters.pairs(template, 0, { listOffset: 0, gap: ' ' })}\n`,
    template,
  )
}

/** Returns the bytes only if they parse to `expected`. */
function verifyTemplateText(text: string, expected: TemplateFields): CatalogReadResult<Uint8Array> {
  const bytes = new TextEncoder().encode(text)
  const again = parseTemplateFields(bytes)
  if (!again.ok || !areJsonValuesEqual(again.value.fields, expected))
    return {
      ok: false,
      error: 'adding the bundle to the template text would not produce the expected values',
    }
  return { ok: true, value: bytes }
}

/** Returns undefined for invalid UTF-8, which rewriting would change. */
function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { ignoreBOM: true, fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function createBasicTemplateFields(release: BundleReleaseInput): TemplateFields {
  const [first = ''] = release.channels
  const described = { schema: 'olm.package', name: release.package, defaultChannel: first }
  return addBundleToBasicTemplate({ schema: 'olm.template.basic', entries: [described] }, release)
}

function addBundleToBasicTemplate(template: TemplateFields, release: BundleReleaseInput): TemplateFields {
  const listed = toJsonArrayOrEmpty(template['entries'])
  const has = (schema: string, field: string, value: string) =>
    listed.some((entry) => isJsonObject(entry) && entry['schema'] === schema && entry[field] === value)
  const channels = release.channels
    .filter((channel) => !has('olm.channel', 'name', channel))
    .map((name): TemplateFields => ({ schema: 'olm.channel', name, package: release.package, entries: [] }))
  const bundle: readonly TemplateFields[] = has('olm.bundle', 'image', release.image)
    ? []
    : [{ schema: 'olm.bundle', image: release.image }]
  const entries = [...listed, ...channels, ...bundle].map((entry) =>
    isJsonObject(entry) && entry['schema'] === 'olm.channel' && isNameInList(entry['name'], release.channels)
      ? addTemplateChannelEntry(entry, toTemplateChannelEntry(release))
      : entry,
  )
  return { ...template, entries }
}

function toTemplateChannelEntry({ name, replaces, skips, skipRange }: BundleReleaseInput): TemplateFields {
  return {
    name,
    ...(replaces !== undefined && { replaces }),
    ...(skips !== undefined && { skips: [...skips] }),
    ...(skipRange !== undefined && { skipRange }),
  }
}

/** Does not change an existing entry of the bundle. */
function addTemplateChannelEntry(channel: TemplateFields, entry: TemplateFields): TemplateFields {
  const entries = toJsonArrayOrEmpty(channel['entries'])
  const isThere = entries.some((one) => isJsonObject(one) && one['name'] === entry['name'])
  return isThere ? channel : { ...channel, entries: [...entries, entry] }
}

const emptySemverTemplate: TemplateFields = {
  Schema: 'olm.semver',
  GenerateMajorChannels: true,
  GenerateMinorChannels: true,
}

/** Semver template keys are case-insensitive, so this reuses the spelling of existing keys. */
function addBundleToSemverTemplate(template: TemplateFields, { channels, image }: BundleReleaseInput) {
  const isCapital = 'Schema' in template
  const existingKey = (fields: TemplateFields | undefined, name: string) =>
    findKeyIgnoringCase(fields ?? {}, name) ??
    (isCapital ? name.charAt(0).toUpperCase() + name.slice(1).toLowerCase() : name.toLowerCase())
  let amended = template
  for (const channel of channels) {
    const key = existingKey(amended, channel)
    const held = amended[key]
    const its: TemplateFields = held !== undefined && isJsonObject(held) ? held : {}
    const bundlesKey = existingKey(its, 'bundles')
    const bundles = toJsonArrayOrEmpty(its[bundlesKey])
    const imageOf = (one: Json) =>
      isJsonObject(one) ? one[findKeyIgnoringCase(one, 'image') ?? ''] : undefined
    if (bundles.some((one) => imageOf(one) === image)) continue
    const last = bundles.filter(isJsonObject).at(-1)
    const added = { [existingKey(last, 'image')]: image }
    amended = { ...amended, [key]: { ...its, [bundlesKey]: [...bundles, added] } }
  }
  return amended
}

function findKeyIgnoringCase(fields: TemplateFields, name: string): string | undefined {
  const lowercaseName = name.toLowerCase()
  return Object.keys(fields).findLast((key) => key.toLowerCase() === lowercaseName)
}

function isNameInList(name: Json | undefined, names: readonly string[]): boolean {
  return typeof name === 'string' && names.includes(name)
}

function toJsonArrayOrEmpty(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : []
}
