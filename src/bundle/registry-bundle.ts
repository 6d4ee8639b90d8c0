// A registry+v1 bundle out of its files, read as opm reads it: first documents only, undecodable files passed over,
// the first ClusterServiceVersion kept. Says what makes opm refuse it; what is merely unwise is judged elsewhere.
import type { Json } from '../catalog/catalog.ts'
import { sortedByBytes } from '../catalog/go-text.ts'
import type { Value } from '../catalog/tree.ts'
import { valueAt } from '../catalog/tree.ts'
import { filesIn, type BundleFiles } from './bundle-files.ts'
import { at, listOf, objectOf, textOf } from './fields.ts'
import { dataOf, goJson, rawJson, readManifest } from './manifest-document.ts'

export const annotationKeys = {
  mediaType: 'operators.operatorframework.io.bundle.mediatype.v1',
  manifests: 'operators.operatorframework.io.bundle.manifests.v1',
  metadata: 'operators.operatorframework.io.bundle.metadata.v1',
  package: 'operators.operatorframework.io.bundle.package.v1',
  channels: 'operators.operatorframework.io.bundle.channels.v1',
  defaultChannel: 'operators.operatorframework.io.bundle.channel.default.v1',
} as const

export interface ManifestObject {
  readonly file: string
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly data: Json
  /** Compact JSON with sorted keys, as opm puts it into `olm.bundle.object`. */
  readonly json: string
}

/** A property or dependency: its type and the text of its value. */
export interface TypedValue {
  readonly type: string
  readonly value: Json
  readonly text: string
}

export interface RegistryBundle {
  readonly csv: ManifestObject
  readonly objects: readonly ManifestObject[]
  readonly crds: readonly ManifestObject[]
  readonly annotations: Readonly<Record<string, string>>
  /** The file that the annotations were found in. */
  readonly annotationsFile: string
  readonly dependencies: readonly TypedValue[]
  readonly properties: readonly TypedValue[]
}

export type ReadBundle =
  | { readonly bundle: RegistryBundle; readonly problem?: undefined }
  | { readonly bundle?: undefined; readonly problem: string }

/** Reads a bundle. `problem` is why opm refuses it, in opm's words where it has some. */
export function readRegistryBundle(files: BundleFiles): ReadBundle {
  const objects = readObjects(files)
  if (objects.length === 0) return { problem: 'no bundle objects found' }
  const csv = objects.find(({ kind }) => kind === 'ClusterServiceVersion')
  if (!csv) return { problem: 'no csv in bundle' }
  const kept = objects.filter((object) => object === csv || object.kind !== 'ClusterServiceVersion')
  const crds = kept.filter(
    ({ kind, apiVersion }) =>
      kind === 'CustomResourceDefinition' && apiVersion.startsWith('apiextensions.k8s.io/'),
  )
  const missing = missingOwned(csv, crds)
  if (missing !== undefined) return { problem: missing }
  const metadata = readMetadata(files)
  if (!metadata.annotations) return { problem: 'Could not find annotations file' }
  return {
    bundle: {
      csv,
      objects: kept,
      crds,
      annotations: metadata.annotations,
      annotationsFile: metadata.annotationsFile,
      dependencies: metadata.dependencies,
      properties: metadata.properties,
    },
  }
}

/** Every group, version and kind that the bundle's CRDs define; versions that are not served count too. */
export function definedKinds(crds: readonly ManifestObject[]): readonly Gvk[] {
  return crds.flatMap(({ data }) => {
    const group = textOf(at(data, 'spec', 'group'))
    const kind = textOf(at(data, 'spec', 'names', 'kind'))
    const listed = listOf(at(data, 'spec', 'versions')).map((version) => textOf(at(version, 'name')))
    // v1beta1 may name its single version beside the list.
    const single = textOf(at(data, 'spec', 'version'))
    const versions = listed.length > 0 ? listed : single === '' ? [] : [single]
    return versions.map((version) => ({ group, version, kind }))
  })
}

export interface Gvk {
  readonly group: string
  readonly version: string
  readonly kind: string
}

function readObjects(files: BundleFiles): readonly ManifestObject[] {
  return filesIn(files, 'manifests').flatMap(([file, bytes]) => {
    const document = readManifest(bytes)
    if (document.kind !== 'value' || document.value.kind !== 'map') return []
    const { value } = document
    const kind = scalar(valueAt(value, 'kind'))
    // Without a kind it is no Kubernetes object, and opm's decoder passes over it.
    if (kind === '') return []
    return [
      {
        file,
        apiVersion: scalar(valueAt(value, 'apiVersion')),
        kind,
        name: scalar(valueAt(valueAt(value, 'metadata'), 'name')),
        data: dataOf(value) ?? null,
        json: goJson(value),
      },
    ]
  })
}

interface Metadata {
  readonly annotations: Readonly<Record<string, string>> | undefined
  readonly annotationsFile: string
  readonly dependencies: readonly TypedValue[]
  readonly properties: readonly TypedValue[]
}

// Files are tried in the order of their names, each for three roles; the first hit of a role counts.
function readMetadata(files: BundleFiles): Metadata {
  let annotations: Readonly<Record<string, string>> | undefined
  let annotationsFile = ''
  let dependencies: readonly TypedValue[] = []
  let properties: readonly TypedValue[] = []
  for (const [file, bytes] of filesIn(files, 'metadata')) {
    const document = readManifest(bytes)
    if (document.kind !== 'value') continue
    const found = stringMap(dataOf(valueAt(document.value, 'annotations')))
    const says = [annotationKeys.package, annotationKeys.channels, annotationKeys.defaultChannel]
    if (!annotations && says.some((key) => (found[key] ?? '') !== '')) {
      annotations = found
      annotationsFile = file
    }
    if (dependencies.length === 0) dependencies = typedValues(valueAt(document.value, 'dependencies'))
    if (properties.length === 0) properties = typedValues(valueAt(document.value, 'properties'))
  }
  return { annotations, annotationsFile, dependencies, properties }
}

function typedValues(value: Value | undefined): readonly TypedValue[] {
  if (value?.kind !== 'list') return []
  return value.items.map((item) => {
    const inner = valueAt(item, 'value')
    return {
      type: scalar(valueAt(item, 'type')),
      value: dataOf(inner) ?? null,
      text: inner ? rawJson(inner) : 'null',
    }
  })
}

function missingOwned(csv: ManifestObject, crds: readonly ManifestObject[]): string | undefined {
  const plurals = new Set(
    crds.flatMap((crd) =>
      definedKinds([crd]).map(
        ({ group, version, kind }) =>
          `${textOf(at(crd.data, 'spec', 'names', 'plural'))}.${group} ${version} ${kind}`,
      ),
    ),
  )
  const owned = listOf(at(csv.data, 'spec', 'customresourcedefinitions', 'owned')).map((entry) =>
    ['name', 'version', 'kind'].map((key) => textOf(at(entry, key))).join(' '),
  )
  const missing = sortedByBytes(owned).filter((entry) => !plurals.has(entry))
  return missing.length === 0
    ? undefined
    : `error checking provided apis in bundle ${csv.name}: couldn't find ${missing.join(', ')} in bundle`
}

function stringMap(value: Json | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(objectOf(value)).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  )
}

function scalar(value: Value | undefined): string {
  return value?.kind === 'string' ? value.value : ''
}
