// A registry+v1 bundle as OLM v1 reads it, into its own types: what these lack falls away, what does not fit them makes
// OLM give up on the bundle.
import { oncePer } from '../../findings/once.ts'
import { decode, structsOf, textOf as decodedText } from '../../go/decode/decode.ts'
import { slice, struct } from '../../go/decode/go-type.ts'
import { decodeYaml } from '../../go/yaml/encoding.ts'
import { readYaml } from '../../go/yaml/read-yaml.ts'
import { valueAt, type Value } from '../../go/tree.ts'
import { readJson, skipJsonSpace } from '../../go/json/read-json.ts'
import type { BundleFiles } from '../bundle-files.ts'
import { annotationsType, propertiesType } from '../csv-type.ts'
import { csvType } from '../kubernetes/csv-type.ts'
import { fitInto } from '../kubernetes/fit.ts'
import type { WrittenType } from '../kubernetes/schemas.ts'
import { at, textOf } from '../fields.ts'
import { dataOf, rawJson } from '../manifest-document.ts'
import { parsePrereleaseIdentifier, parseVersionTolerantly } from '../../catalog/versions/version.ts'
import { readBundleObjects, type BundleObject } from './bundle-object.ts'
import type { JsonObject, PlainObject, RenderRefusal } from './rendering.ts'

export interface RegistryV1 {
  readonly packageName: string
  readonly csv: PlainObject
  readonly crds: readonly PlainObject[]
  readonly others: readonly PlainObject[]
}

export type LoadedRegistryV1 =
  | { readonly bundle: RegistryV1; readonly refusals: readonly [] }
  | { readonly bundle?: undefined; readonly refusals: readonly RenderRefusal[] }

const annotationsFile = 'metadata/annotations.yaml'
const propertiesFile = 'metadata/properties.yaml'
const definitionType = 'apiextensions.v1.CustomResourceDefinition'

/** Reports every reason to refuse the bundle; OLM reports only the first. */
export const loadRegistryV1 = oncePer((files: BundleFiles): LoadedRegistryV1 => {
  const refusals: RenderRefusal[] = []
  const packageName = packageNameIn(files, refusals)
  refuseDirectories(files, refusals)
  const { objects, unreadable } = readBundleObjects(files)
  for (const { file, reason } of unreadable)
    refusals.push({
      message: `error parsing objects in "${file}": ${reason}`,
      at: { file, path: [] },
      ...(isToldAsUndecodable(reason) && { toldBy: 'undecodable-manifest' }),
    })
  let csv: PlainObject | undefined
  const crds: PlainObject[] = []
  const others: PlainObject[] = []
  for (const object of objects)
    // The last one counts.
    if (object.kind === 'ClusterServiceVersion') csv = typed(object, csvType, refusals)
    else if (object.kind === 'CustomResourceDefinition') crds.push(typed(object, definitionType, refusals))
    else others.push(plainObject(object, dataOf(object.tree) as JsonObject))
  if (!csv) {
    if (unreadable.length === 0)
      refusals.push({ message: 'no ClusterServiceVersion found in "manifests"', toldBy: 'unreadable-bundle' })
    return { refusals }
  }
  refuseVersions(csv, refusals)
  const named = withProperties(csv, files, refusals)
  if (refusals.length > 0) return { refusals }
  return { bundle: { packageName, csv: named, crds, others }, refusals: [] }
})

/** What `validateBundle` calls by this rule: it looks at first documents only, as opm does. */
function isToldAsUndecodable(reason: string): boolean {
  return !reason.startsWith('its items') && !reason.startsWith('invalid Yaml document separator')
}

function packageNameIn(files: BundleFiles, refusals: RenderRefusal[]): string {
  const bytes = files.get(annotationsFile)
  if (!bytes) {
    refusals.push({ message: `open ${annotationsFile}: file does not exist`, toldBy: 'unreadable-bundle' })
    return ''
  }
  const read = readYaml(decodeYaml(bytes))
  const annotations = read.ok ? valueAt(read.value, 'annotations') : undefined
  const { decoded, problems } = decode(annotationsType, annotations ?? nothing, { coerces: true })
  const problem = read.ok ? problems[0]?.message : read.error.message
  if (problem !== undefined)
    refusals.push({ message: `${annotationsFile}: ${problem}`, at: { file: annotationsFile, path: [] } })
  return decodedText(decoded, 'operators.operatorframework.io.bundle.package.v1')
}

const nothing: Value = { kind: 'null', start: 0, end: 0 }

function refuseDirectories(files: BundleFiles, refusals: RenderRefusal[]): void {
  for (const path of files.keys()) {
    const [root, directory, ...more] = path.split('/')
    if (root === 'manifests' && more.length > 0)
      refusals.push({
        message: `subdirectories are not allowed within the "manifests" directory of the bundle image filesystem: found "manifests/${directory}"`,
        at: { file: path, path: [] },
        toldBy: 'nested-bundle-directory',
      })
  }
}

function typed(object: BundleObject, type: WrittenType, refusals: RenderRefusal[]): PlainObject {
  const { value, misfits } = fitInto(type, object.tree)
  for (const { kind, path, wanted, found } of misfits)
    if (kind === 'type')
      refusals.push({
        message: `error parsing objects in "${object.file}": ${path.join('.')} is ${found}, not ${wanted}`,
        at: { file: object.file, path: [...object.path, ...path] },
        toldBy: 'mistyped-manifest-field',
      })
  return plainObject(object, value as JsonObject)
}

function plainObject(
  { file, apiVersion, kind, name, tree, path }: BundleObject,
  data: JsonObject,
): PlainObject {
  const namespace = textOf(at(data, 'metadata', 'namespace'))
  // An item of a list may leave them to the list.
  const isInherited =
    path.length > 0 && (valueAt(tree, 'kind') === undefined || valueAt(tree, 'apiVersion') === undefined)
  return {
    ...{ file, apiVersion, kind, name },
    ...(namespace !== '' && { namespace }),
    manifest: isInherited ? { ...data, apiVersion, kind } : data,
  }
}

function refuseVersions({ manifest, file }: PlainObject, refusals: RenderRefusal[]): void {
  for (const field of ['version', 'release'] as const) {
    const text = at(manifest, 'spec', field)
    if (typeof text !== 'string') continue
    const parts =
      field === 'version' ? [parseVersionTolerantly(text)] : text.split('.').map(parsePrereleaseIdentifier)
    for (const parsed of parts)
      if (!parsed.ok)
        refusals.push({
          message: `error parsing objects in "${file}": spec.${field}: ${parsed.error}`,
          at: { file, path: ['spec', field] },
          toldBy: 'unreadable-bundle',
        })
  }
}

const propertyFields = struct('list', { list: propertiesType.fields['properties'] ?? slice(propertiesType) })

/** The properties of their own file join those that the ClusterServiceVersion carries as an annotation. */
function withProperties(csv: PlainObject, files: BundleFiles, refusals: RenderRefusal[]): PlainObject {
  const own = at(csv.manifest, 'metadata', 'annotations', 'olm.properties')
  const texts: string[] = []
  if (typeof own === 'string') {
    const read = propertiesInAnnotation(own)
    if (read.problem !== undefined)
      refusals.push({
        message: `failed to unmarshal csv.metadata.annotations['olm.properties']: ${read.problem}`,
        at: { file: csv.file, path: ['metadata', 'annotations', 'olm.properties'] },
        toldBy: 'unreadable-bundle',
      })
    texts.push(...read.texts)
  }
  const bytes = files.get(propertiesFile)
  if (!bytes || bytes.length === 0) return csv
  const read = readYaml(decodeYaml(bytes))
  const { decoded, problems } = decode(propertiesType, (read.ok ? read.value : undefined) ?? nothing, {
    coerces: true,
  })
  const problem = read.ok ? problems[0]?.message : read.error.message
  if (problem !== undefined)
    refusals.push({
      message: `failed to unmarshal metadata/properties.yaml: ${problem}`,
      at: { file: propertiesFile, path: [] },
    })
  for (const property of structsOf(decoded, 'properties')) {
    const value = property.fields.get('value')
    texts.push(propertyText(decodedText(property, 'type'), isTree(value) ? rawJson(value) : 'null'))
  }
  const metadata = at(csv.manifest, 'metadata') as JsonObject | undefined
  const annotations = at(metadata, 'annotations') as JsonObject | undefined
  return {
    ...csv,
    manifest: {
      ...csv.manifest,
      metadata: { ...metadata, annotations: { ...annotations, 'olm.properties': propertiesText(texts) } },
    },
  }
}

/** Go writes a nil list as null. */
function propertiesText(texts: readonly string[]): string {
  return texts.length === 0 ? 'null' : `[${texts.join(',')}]`
}

function isTree(value: unknown): value is Value {
  return typeof value === 'object' && value !== null && 'kind' in value
}

function propertiesInAnnotation(text: string): {
  readonly texts: readonly string[]
  readonly problem?: string
} {
  let list: Value
  try {
    const read = readJson(text, skipJsonSpace(text, 0))
    if (skipJsonSpace(text, read.end) < text.length) return { texts: [], problem: 'more than one value' }
    list = read.value
  } catch (error) {
    return { texts: [], problem: (error as Error).message }
  }
  const whole: Value = {
    kind: 'map',
    start: 0,
    end: 0,
    entries: [{ key: 'list', keyStart: 0, keyEnd: 0, value: list }],
  }
  const { decoded, problems } = decode(propertyFields, whole)
  if (problems[0]) return { texts: [], problem: problems[0].message }
  return {
    texts: structsOf(decoded, 'list').map((property) => {
      const value = property.fields.get('value')
      const raw = isTree(value) ? compacted(text.slice(value.start, value.end)) : 'null'
      return propertyText(decodedText(property, 'type'), raw)
    }),
  }
}

function propertyText(type: string, value: string): string {
  return `{"type":${escaped(JSON.stringify(type))},"value":${value}}`
}

/** JSON without the space between its parts, as Go writes what it kept raw. */
function compacted(text: string): string {
  return escaped(text.replace(/"(?:[^"\\]|\\.)*"|[ \t\r\n]+/g, (part) => (part.startsWith('"') ? part : '')))
}

function escaped(text: string): string {
  return text.replace(
    /[<>&\u2028\u2029]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
