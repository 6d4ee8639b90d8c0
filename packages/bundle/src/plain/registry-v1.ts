// A registry+v1 bundle in OLM v1's own types: unknown fields are dropped, and values of the wrong type reject it.
import { memoizePerObject } from '@catalog-bot/findings/memoize'
import {
  decodeGoStruct,
  getDecodedStructList,
  getDecodedStringField as decodedText,
} from '@catalog-bot/fbc/go/decode/decode'
import { createSliceType, createStructType } from '@catalog-bot/fbc/go/decode/go-type'
import { decodeYaml } from '@catalog-bot/fbc/go/yaml/encoding'
import { readYaml } from '@catalog-bot/fbc/go/yaml/read-yaml'
import { createSingleEntryMap, getMapValue, type ParsedValue } from '@catalog-bot/fbc/go/tree'
import { escapeHtmlInJson } from '@catalog-bot/fbc/go/json/json-text'
import { readJson, skipJsonWhitespace } from '@catalog-bot/fbc/go/json/read-json'
import type { BundleFiles } from '../bundle-files.ts'
import { annotationsStructType, propertiesStructType } from '../csv-type.ts'
import { type SchemaType, csvSchema } from '../kubernetes/schemas.ts'
import { coerceToSchema } from '../kubernetes/coerce-to-schema.ts'
import { getJsonFieldAtPath, getStringAtPath } from '../fields.ts'
import { convertParsedValueToJson, formatGoJsonWithRawNumbers } from '../manifest-document.ts'
import { parsePrereleaseIdentifier, parseVersionTolerantly } from '@catalog-bot/fbc/versions/version'
import { readBundleManifestObjects, type ParsedManifestObject } from './bundle-object.ts'
import type { JsonObject, RenderedObject, RenderRejection } from './rendering.ts'

export interface RegistryV1Bundle {
  readonly packageName: string
  readonly csv: RenderedObject
  readonly crds: readonly RenderedObject[]
  readonly others: readonly RenderedObject[]
}

export type RegistryV1ParseResult =
  | { readonly bundle: RegistryV1Bundle; readonly rejections: readonly [] }
  | { readonly bundle?: undefined; readonly rejections: readonly RenderRejection[] }

const annotationsFilePath = 'metadata/annotations.yaml'
const propertiesFilePath = 'metadata/properties.yaml'
const crdOpenApiSchemaName = 'apiextensions.v1.CustomResourceDefinition'

/** Reports every reason to reject the bundle. OLM reports only the first. */
export const parseRegistryV1Bundle = memoizePerObject((files: BundleFiles): RegistryV1ParseResult => {
  const rejections: RenderRejection[] = []
  const packageName = parsePackageName(files, rejections)
  rejectManifestSubdirectories(files, rejections)
  const { objects, unreadable } = readBundleManifestObjects(files)
  for (const { file, reason } of unreadable)
    rejections.push({
      message: `error parsing objects in "${file}": ${reason}`,
      at: { file, path: [] },
      ...(isReportedAsUndecodableManifest(reason) && { reportedByRule: 'undecodable-manifest' }),
    })
  let csv: RenderedObject | undefined
  const crds: RenderedObject[] = []
  const others: RenderedObject[] = []
  for (const object of objects)
    // The last one takes precedence.
    if (object.kind === 'ClusterServiceVersion') csv = coerceManifestToSchema(object, csvSchema, rejections)
    else if (object.kind === 'CustomResourceDefinition')
      crds.push(coerceManifestToSchema(object, crdOpenApiSchemaName, rejections))
    else others.push(toRenderedObject(object, convertParsedValueToJson(object.tree) as JsonObject))
  if (!csv) {
    if (unreadable.length === 0)
      rejections.push({
        message: 'no ClusterServiceVersion found in "manifests"',
        reportedByRule: 'unreadable-bundle',
      })
    return { rejections }
  }
  rejectInvalidCsvVersions(csv, rejections)
  const named = mergeBundleProperties(csv, files, rejections)
  if (rejections.length > 0) return { rejections }
  return { bundle: { packageName, csv: named, crds, others }, rejections: [] }
})

/** Whether `validateBundle` reports this as `undecodable-manifest`. Like opm, it reads only first documents. */
function isReportedAsUndecodableManifest(reason: string): boolean {
  return !reason.startsWith('the items') && !reason.startsWith('invalid Yaml document separator')
}

function parsePackageName(files: BundleFiles, rejections: RenderRejection[]): string {
  const bytes = files.get(annotationsFilePath)
  if (!bytes) {
    rejections.push({
      message: `open ${annotationsFilePath}: file does not exist`,
      reportedByRule: 'unreadable-bundle',
    })
    return ''
  }
  const read = readYaml(decodeYaml(bytes))
  const annotations = read.ok ? getMapValue(read.value, 'annotations') : undefined
  const { decoded, problems } = decodeGoStruct(annotationsStructType, annotations ?? nullValueNode, {
    coerces: true,
  })
  const problem = read.ok ? problems[0]?.message : read.error.message
  if (problem !== undefined)
    rejections.push({
      message: `${annotationsFilePath}: ${problem}`,
      at: { file: annotationsFilePath, path: [] },
    })
  return decodedText(decoded, 'operators.operatorframework.io.bundle.package.v1')
}

const nullValueNode: ParsedValue = { kind: 'null', start: 0, end: 0 }

function rejectManifestSubdirectories(files: BundleFiles, rejections: RenderRejection[]): void {
  for (const path of files.keys()) {
    const [root, directory, ...more] = path.split('/')
    if (root === 'manifests' && more.length > 0)
      rejections.push({
        message: `subdirectories are not allowed within the "manifests" directory of the bundle image filesystem: found "manifests/${directory}"`,
        at: { file: path, path: [] },
        reportedByRule: 'nested-bundle-directory',
      })
  }
}

function coerceManifestToSchema(
  object: ParsedManifestObject,
  type: SchemaType,
  rejections: RenderRejection[],
): RenderedObject {
  const { value, mismatches } = coerceToSchema(type, object.tree)
  for (const { kind, path, wanted, found } of mismatches)
    if (kind === 'type')
      rejections.push({
        message: `error parsing objects in "${object.file}": ${path.join('.')} is ${found}, not ${wanted}`,
        at: { file: object.file, path: [...object.path, ...path] },
        reportedByRule: 'mistyped-manifest-field',
      })
  return toRenderedObject(object, value as JsonObject)
}

function toRenderedObject(
  { file, apiVersion, kind, name, tree, path }: ParsedManifestObject,
  data: JsonObject,
): RenderedObject {
  const namespace = getStringAtPath(data, 'metadata', 'namespace')
  // A list can set them for its items.
  const isInherited =
    path.length > 0 &&
    (getMapValue(tree, 'kind') === undefined || getMapValue(tree, 'apiVersion') === undefined)
  return {
    ...{ file, apiVersion, kind, name },
    ...(namespace !== '' && { namespace }),
    manifest: isInherited ? { ...data, apiVersion, kind } : data,
  }
}

function rejectInvalidCsvVersions({ manifest, file }: RenderedObject, rejections: RenderRejection[]): void {
  for (const field of ['version', 'release'] as const) {
    const text = getJsonFieldAtPath(manifest, 'spec', field)
    if (typeof text !== 'string') continue
    const parts =
      field === 'version' ? [parseVersionTolerantly(text)] : text.split('.').map(parsePrereleaseIdentifier)
    for (const parsed of parts)
      if (!parsed.ok)
        rejections.push({
          message: `error parsing objects in "${file}": spec.${field}: ${parsed.error}`,
          at: { file, path: ['spec', field] },
          reportedByRule: 'unreadable-bundle',
        })
  }
}

const propertyListStructType = createStructType('list', {
  list: propertiesStructType.fields['properties'] ?? createSliceType(propertiesStructType),
})

/** Adds the properties from the properties file to those in the ClusterServiceVersion's annotation. */
function mergeBundleProperties(csv: RenderedObject, files: BundleFiles, rejections: RenderRejection[]) {
  const own = getJsonFieldAtPath(csv.manifest, 'metadata', 'annotations', 'olm.properties')
  const propertyJsons: string[] = []
  if (typeof own === 'string') {
    const read = parsePropertiesAnnotation(own)
    if (read.problem !== undefined)
      rejections.push({
        message: `failed to unmarshal csv.metadata.annotations['olm.properties']: ${read.problem}`,
        at: { file: csv.file, path: ['metadata', 'annotations', 'olm.properties'] },
        reportedByRule: 'unreadable-bundle',
      })
    propertyJsons.push(...read.texts)
  }
  const bytes = files.get(propertiesFilePath)
  if (!bytes || bytes.length === 0) return csv
  const read = readYaml(decodeYaml(bytes))
  const { decoded, problems } = decodeGoStruct(
    propertiesStructType,
    (read.ok ? read.value : undefined) ?? nullValueNode,
    { coerces: true },
  )
  const problem = read.ok ? problems[0]?.message : read.error.message
  if (problem !== undefined)
    rejections.push({
      message: `failed to unmarshal metadata/properties.yaml: ${problem}`,
      at: { file: propertiesFilePath, path: [] },
    })
  for (const property of getDecodedStructList(decoded, 'properties')) {
    const value = property.fields.get('value')
    propertyJsons.push(
      formatPropertyJson(
        decodedText(property, 'type'),
        isParsedValue(value) ? formatGoJsonWithRawNumbers(value) : 'null',
      ),
    )
  }
  const metadata = getJsonFieldAtPath(csv.manifest, 'metadata') as JsonObject | undefined
  const annotations = getJsonFieldAtPath(metadata, 'annotations') as JsonObject | undefined
  return {
    ...csv,
    manifest: {
      ...csv.manifest,
      metadata: {
        ...metadata,
        annotations: { ...annotations, 'olm.properties': formatPropertyListJson(propertyJsons) },
      },
    },
  }
}

/** Go writes a nil list as null. */
function formatPropertyListJson(propertyJsons: readonly string[]): string {
  return propertyJsons.length === 0 ? 'null' : `[${propertyJsons.join(',')}]`
}

function isParsedValue(value: unknown): value is ParsedValue {
  return typeof value === 'object' && value !== null && 'kind' in value
}

function parsePropertiesAnnotation(text: string) {
  let list: ParsedValue
  try {
    const read = readJson(text, skipJsonWhitespace(text, 0))
    if (skipJsonWhitespace(text, read.end) < text.length) return { texts: [], problem: 'more than one value' }
    list = read.value
  } catch (error) {
    return { texts: [], problem: (error as Error).message }
  }
  const { decoded, problems } = decodeGoStruct(propertyListStructType, createSingleEntryMap('list', list))
  if (problems[0]) return { texts: [], problem: problems[0].message }
  return {
    texts: getDecodedStructList(decoded, 'list').map((property) => {
      const value = property.fields.get('value')
      const raw = isParsedValue(value) ? compactJson(text.slice(value.start, value.end)) : 'null'
      return formatPropertyJson(decodedText(property, 'type'), raw)
    }),
  }
}

function formatPropertyJson(type: string, value: string): string {
  return `{"type":${escapeHtmlInJson(JSON.stringify(type))},"value":${value}}`
}

/** Removes whitespace between JSON tokens, as Go does when it writes raw JSON. */
function compactJson(text: string): string {
  return escapeHtmlInJson(
    text.replace(/"(?:[^"\\]|\\.)*"|[ \t\r\n]+/g, (part) => (part.startsWith('"') ? part : '')),
  )
}
