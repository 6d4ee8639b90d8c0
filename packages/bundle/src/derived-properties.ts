// Derives the properties of a bundle's `olm.bundle` blob from the properties file, annotations, CSV, CRDs, and
// dependencies. Throws a BundleRejectedError where opm fails.
import { type Json, toPlainJson } from '@catalog-bot/fbc/go/json/json'
import { compareBytes, quoteLikeGo } from '@catalog-bot/fbc/go/text'
import { formatJsonNumber } from '@catalog-bot/fbc/go/number'
import { readJson, skipJsonWhitespace, tryReadJson } from '@catalog-bot/fbc/go/json/read-json'
import {
  decodeGoStruct,
  getDecodedStringField,
  getDecodedStringFields,
  getDecodedStructList,
} from '@catalog-bot/fbc/go/decode/decode'
import { getJsonTypeName, type StructType, type DecodedStruct } from '@catalog-bot/fbc/go/decode/go-type'
import { createSingleEntryMap, type ParsedValue, getMapValue } from '@catalog-bot/fbc/go/tree'
import { bundleAnnotationKeys, type BundleMetadata } from './bundle-metadata.ts'
import { gvkStructType, packagePropertyStructType, propertyListStructType } from './csv-type.ts'
import type { FieldPath } from './manifest-document.ts'

export interface BundleRejectionLocation {
  readonly file: string
  readonly path: FieldPath
}

// Why opm rejects a bundle, in opm's words. Thrown only within `readRegistryBundle`.
export class BundleRejectedError extends Error {
  /** Absent if the rejection doesn't concern a single location. */
  readonly at: BundleRejectionLocation | undefined

  constructor(message: string, at?: BundleRejectionLocation) {
    super(message)
    this.at = at
  }
}

export interface Gvk {
  readonly group: string
  readonly version: string
  readonly kind: string
}

export interface DerivedProperty {
  readonly type: string
  readonly value: Json
  /** opm uses this JSON as the sort key. */
  readonly text: string
}

/** Without a tree if the property has no value. */
interface PropertyWithParsedValue extends DerivedProperty {
  readonly tree: ParsedValue | undefined
}

export interface BundlePropertySources {
  readonly name: string
  readonly csv: ParsedValue
  readonly file: string
  readonly spec: ReadonlyMap<string, ParsedValue>
  readonly metadata: BundleMetadata
  readonly provided: readonly Gvk[]
  /** Lazy, because it can throw a BundleRejectedError too. */
  readonly required: () => readonly Gvk[]
}

/** In opm's order, without `olm.bundle.object` and `olm.csv.metadata`. */
export function deriveBundleProperties(sources: BundlePropertySources): readonly DerivedProperty[] {
  const { name, csv, file, spec, metadata, provided, required } = sources
  const packageName = metadata.annotations?.[bundleAnnotationKeys.package] ?? ''
  // opm reads the version first, but only if the bundle has a package.
  const own =
    packageName === ''
      ? []
      : [createPackagePropertyFromCsv(packageName, file, spec, 'failed to derive properties: ')]
  const before = `get properties for bundle ${quoteLikeGo(name)}: `
  const found = removeDuplicateProperties([
    ...metadata.properties,
    ...own,
    ...parsePropertiesAnnotation(csv),
    ...provided.map((kind) => parsePropertyValue(createProperty('olm.gvk', gvkToJson(kind)))),
  ])
  const declared = decodeGvkAndPackageProperties(found, before)
  const needed = decodeGvkAndPackageProperties(metadata.dependencies, before)
  const { version, release } = parseVersionAndRelease(
    file,
    spec,
    `${before}get version: `,
    `${before}get release: `,
  )
  const all = [
    declared.packages.map(toPackageProperty).at(-1) ?? createPackageProperty(packageName, version, release),
    ...toGvkProperties('olm.gvk', [...provided, ...declared.gvks]),
    ...toGvkProperties('olm.gvk.required', [...needed.gvks, ...required()]),
    ...needed.packages.map((decoded) =>
      createProperty('olm.package.required', {
        packageName: getDecodedStringField(decoded, 'packageName'),
        versionRange: getDecodedStringField(decoded, 'version'),
      }),
    ),
    ...declared.others,
    ...needed.others,
  ]
  return all.sort((a, b) => compareBytes(a.type, b.type) || compareBytes(a.text, b.text))
}

function decodeGvkAndPackageProperties(properties: readonly PropertyWithParsedValue[], before: string) {
  const gvks: Gvk[] = []
  const packages: DecodedStruct[] = []
  const others: DerivedProperty[] = []
  for (const [index, property] of properties.entries()) {
    const parse = `${before}parse property[${index}] of type ${quoteLikeGo(property.type)}: `
    if (property.type === 'olm.gvk') gvks.push(decodeGvk(property, parse))
    else if (property.type === 'olm.package')
      packages.push(
        decodeGoStructOrThrow(packagePropertyStructType, requireParsedPropertyValue(property, parse), parse),
      )
    else others.push(property)
  }
  return { gvks, packages, others }
}

function toPackageProperty(decoded: DecodedStruct): DerivedProperty {
  const { packageName, version, release } = getDecodedStringFields(
    decoded,
    'packageName',
    'version',
    'release',
  )
  return createPackageProperty(packageName, version, release)
}

function toGvkProperties(type: string, kinds: readonly Gvk[]): readonly DerivedProperty[] {
  return removeDuplicateGvks(kinds).map((kind) => createProperty(type, gvkToJson(kind)))
}

function parseVersionAndRelease(
  file: string,
  spec: ReadonlyMap<string, ParsedValue>,
  beforeVersion: string,
  beforeRelease: string,
): { readonly version: string; readonly release: string } {
  const version = spec.get('version')
  if (version && version.kind !== 'string' && version.kind !== 'null')
    throw new BundleRejectedError(
      `${beforeVersion}json: cannot unmarshal ${getJsonTypeName(version)} into Go value of type string`,
      { file, path: ['spec', 'version'] },
    )
  const release = spec.get('release')
  if (release && !['string', 'number', 'null'].includes(release.kind))
    throw new BundleRejectedError(`${beforeRelease}release field must be a string or number`, {
      file,
      path: ['spec', 'release'],
    })
  return {
    version: version?.kind === 'string' ? version.value : '',
    release:
      release?.kind === 'string'
        ? release.value
        : release?.kind === 'number'
          ? formatJsonNumber(release.value)
          : '',
  }
}

function createPackagePropertyFromCsv(
  packageName: string,
  file: string,
  spec: ReadonlyMap<string, ParsedValue>,
  before: string,
): PropertyWithParsedValue {
  const { version, release } = parseVersionAndRelease(file, spec, before, before)
  return parsePropertyValue(createPackageProperty(packageName, version, release))
}

function createPackageProperty(packageName: string, version: string, release: string): DerivedProperty {
  return createProperty('olm.package', { packageName, version, ...(release !== '' && { release }) })
}

/** From the annotation `olm.properties`. opm only logs an unreadable list and keeps the items before the error. */
function parsePropertiesAnnotation(csv: ParsedValue): readonly PropertyWithParsedValue[] {
  const annotation = getMapValue(getMapValue(getMapValue(csv, 'metadata'), 'annotations'), 'olm.properties')
  if (annotation?.kind !== 'string') return []
  const text = annotation.value
  const list = tryParseJsonTree(text)
  if (list?.kind !== 'list') return []
  const { decoded } = decodeGoStruct(propertyListStructType, createSingleEntryMap('list', list))
  return getDecodedStructList(decoded, 'list').map((item) => {
    const tree = item.sources.get('value')
    return {
      type: getDecodedStringField(item, 'type'),
      value: tree ? toPlainJson(tree) : null,
      // Unchanged, because opm uses it as the sort key.
      text: tree ? text.slice(tree.start, tree.end) : '',
      tree,
    }
  })
}

function tryParseJsonTree(text: string): ParsedValue | undefined {
  const read = tryReadJson(text)
  return read && skipJsonWhitespace(text, read.end) === text.length ? read.value : undefined
}

function removeDuplicateProperties(properties: readonly PropertyWithParsedValue[]) {
  const seen = new Set<string>()
  return properties.filter(({ type, text }) => {
    const key = `type: ${type}, value: ${text}`
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}

function decodeGvk(from: PropertyWithParsedValue, before: string): Gvk {
  const decoded = decodeGoStructOrThrow(gvkStructType, requireParsedPropertyValue(from, before), before)
  return getDecodedStringFields(decoded, 'group', 'version', 'kind')
}

function requireParsedPropertyValue({ tree }: PropertyWithParsedValue, before: string): ParsedValue {
  if (!tree) throw new BundleRejectedError(`${before}unexpected end of JSON input`)
  return tree
}

function parsePropertyValue(made: DerivedProperty): PropertyWithParsedValue {
  return { ...made, tree: readJson(made.text, 0).value }
}

function gvkToJson({ group, version, kind }: Gvk): Json {
  return { group, kind, version }
}

function removeDuplicateGvks(kinds: readonly Gvk[]): readonly Gvk[] {
  return [...new Map(kinds.map((kind) => [JSON.stringify(gvkToJson(kind)), kind])).values()]
}

function createProperty(type: string, value: Json): DerivedProperty {
  return { type, value, text: JSON.stringify(value) }
}

/** Throws a BundleRejectedError with encoding/json's first error after `before`. `at` is the value's location. */
export function decodeGoStructOrThrow(
  type: StructType,
  value: ParsedValue,
  before = '',
  at?: BundleRejectionLocation,
): DecodedStruct {
  const { decoded, problems } = decodeGoStruct(type, value)
  const [first] = problems
  if (!first) return decoded
  const below = first.field === '' ? [] : first.field.split('.')
  throw new BundleRejectedError(before + first.message, at && { ...at, path: [...at.path, ...below] })
}
