// Reads `metadata/` as opm does. For each of three roles, opm reads the first matching file by name, even a dotfile.
import { type Json, toPlainJson } from '@catalog-bot/fbc/go/json/json'
import {
  decodeGoStruct,
  getDecodedStructList,
  getDecodedStringField,
} from '@catalog-bot/fbc/go/decode/decode'
import type { StructType } from '@catalog-bot/fbc/go/decode/go-type'
import { formatJsonNumber } from '@catalog-bot/fbc/go/number'
import {
  getMapValue,
  replaceMapEntries,
  replaceListItems,
  type MapValue,
  type ParsedValue,
} from '@catalog-bot/fbc/go/tree'
import { findFilesInDirectory, type BundleFiles } from './bundle-files.ts'
import { annotationsStructType, dependenciesStructType, propertiesStructType } from './csv-type.ts'
import { formatGoJsonWithRawNumbers, readManifest } from './manifest-document.ts'

export const bundleAnnotationKeys = {
  mediaType: 'operators.operatorframework.io.bundle.mediatype.v1',
  manifests: 'operators.operatorframework.io.bundle.manifests.v1',
  metadata: 'operators.operatorframework.io.bundle.metadata.v1',
  package: 'operators.operatorframework.io.bundle.package.v1',
  channels: 'operators.operatorframework.io.bundle.channels.v1',
  defaultChannel: 'operators.operatorframework.io.bundle.channel.default.v1',
} as const

export interface PropertyOrDependency {
  readonly type: string
  readonly value: Json
  readonly tree: ParsedValue | undefined
  /** The JSON that opm stores and uses as the sort key; '' without a value. */
  readonly text: string
}

export interface BundleMetadata {
  /** Undefined if no file sets the package, the channels or the default channel. */
  readonly annotations: Readonly<Record<string, string>> | undefined
  readonly annotationsFile: string
  readonly dependencies: readonly PropertyOrDependency[]
  readonly dependenciesFile: string
  readonly properties: readonly PropertyOrDependency[]
}

export function parseBundleMetadata(files: BundleFiles): BundleMetadata {
  let annotations: Readonly<Record<string, string>> | undefined
  let annotationsFile = ''
  let dependencies: readonly PropertyOrDependency[] = []
  let dependenciesFile = ''
  let properties: readonly PropertyOrDependency[] = []
  for (const [file, bytes] of findFilesInDirectory(files, 'metadata', { hidden: true })) {
    const document = readManifest(bytes)
    if (document.kind !== 'value') continue
    const found = parseAnnotationsAsStrings(document.value)
    if (!annotations && found && hasPackageAnnotation(found)) {
      annotations = toStringRecord(found)
      annotationsFile = file
    }
    if (dependencies.length === 0) {
      dependencies = decodePropertiesOrDependencies(dependenciesStructType, document, 'dependencies')
      if (dependencies.length > 0) dependenciesFile = file
    }
    if (properties.length === 0)
      properties = decodePropertiesOrDependencies(propertiesStructType, document, 'properties')
  }
  return { annotations, annotationsFile, dependencies, dependenciesFile, properties }
}

/** Empty if Go can't read one of the items. */
function decodePropertiesOrDependencies(
  type: StructType,
  { value, json }: { readonly value: ParsedValue; readonly json?: string },
  field: string,
): readonly PropertyOrDependency[] {
  const { decoded, problems } = decodeGoStruct(type, convertItemTypesToStrings(value, field))
  if (problems.length > 0) return []
  return getDecodedStructList(decoded, field).map((item) => {
    const tree = item.sources.get('value')
    return {
      type: getDecodedStringField(item, 'type'),
      value: tree ? toPlainJson(tree) : null,
      tree,
      text: !tree
        ? ''
        : json === undefined
          ? formatGoJsonWithRawNumbers(tree)
          : json.slice(tree.start, tree.end),
    }
  })
}

/** Converts the types of the list's items to strings. */
function convertItemTypesToStrings(document: ParsedValue, field: string): ParsedValue {
  const withStringType = (value: ParsedValue) =>
    value.kind === 'map'
      ? replaceMapEntries(
          value,
          value.entries.map((entry) =>
            entry.key === 'type' ? { ...entry, value: coerceScalarToString(entry.value) } : entry,
          ),
        )
      : value
  if (document.kind !== 'map') return document
  const entries = document.entries.map((entry) =>
    entry.key === field && entry.value.kind === 'list'
      ? { ...entry, value: replaceListItems(entry.value, entry.value.items.map(withStringType)) }
      : entry,
  )
  return replaceMapEntries(document, entries)
}

/** Converts numbers and booleans to strings, as the YAML decoder does for Go strings. */
export function parseAnnotationsAsStrings(document: ParsedValue): MapValue | undefined {
  const found = getMapValue(document, 'annotations')
  if (found?.kind !== 'map') return undefined
  return replaceMapEntries(
    found,
    found.entries.map((entry) => ({ ...entry, value: coerceScalarToString(entry.value) })),
  )
}

function coerceScalarToString(value: ParsedValue): ParsedValue {
  if (value.kind !== 'number' && value.kind !== 'bool') return value
  const text = value.kind === 'number' ? formatJsonNumber(value.value) : String(value.value)
  return { kind: 'string', value: text, quoted: false, start: value.start, end: value.end }
}

function hasPackageAnnotation(annotations: MapValue): boolean {
  const { decoded, problems } = decodeGoStruct(annotationsStructType, annotations)
  return (
    problems.length === 0 &&
    [bundleAnnotationKeys.package, bundleAnnotationKeys.channels, bundleAnnotationKeys.defaultChannel].some(
      (key) => getDecodedStringField(decoded, key) !== '',
    )
  )
}

function toStringRecord({ entries }: MapValue): Readonly<Record<string, string>> {
  return Object.fromEntries(
    entries.flatMap(({ key, value }) => (value.kind === 'string' ? [[key, value.value]] : [])),
  )
}
