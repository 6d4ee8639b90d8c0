// A registry+v1 bundle out of its files, read as opm reads it: first documents only, undecodable files passed over,
// the first ClusterServiceVersion kept. Says what makes opm refuse it; what is merely unwise is judged elsewhere.
import type { Json } from '../catalog/catalog.ts'
import { compareBytes, quote } from '../catalog/go-text.ts'
import { structsOf, textOf, type Decoded } from '../catalog/load/decode.ts'
import { goKind } from '../catalog/load/meta.ts'
import type { Value } from '../catalog/tree.ts'
import { valueAt } from '../catalog/tree.ts'
import { annotationKeys, readMetadata, type BundleMetadata } from './bundle-metadata.ts'
import { filesIn, type BundleFiles } from './bundle-files.ts'
import { crdType, definitionsType, installType, objectType, relatedImageType } from './csv-type.ts'
import { derivedProperties, type Gvk, type Property } from './derived-properties.ts'
import { dataOf, readManifest } from './manifest-document.ts'
import { decodeOrRefuse, Refusal } from './refusal.ts'

export interface ManifestObject {
  readonly file: string
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  /** Cut off where it is too large to be looked at; `tree` never is. */
  readonly data: Json
  readonly tree: Value
}

/** An API with the plural name of its CustomResourceDefinition. */
export interface Api extends Gvk {
  readonly plural: string
}

export interface RelatedImage {
  readonly name: string
  readonly image: string
}

export interface RegistryBundle extends BundleMetadata {
  readonly annotations: Readonly<Record<string, string>>
  readonly package: string
  readonly csv: ManifestObject
  readonly objects: readonly ManifestObject[]
  readonly crds: readonly ManifestObject[]
  /** All properties of the blob but those that hold whole manifests, in opm's order. */
  readonly described: readonly Property[]
  /** `spec.relatedImages`, duplicates and all. */
  readonly relatedImages: readonly RelatedImage[]
  /** Of the containers and init containers that OLM would run, each once; '' where one has none. */
  readonly operatorImages: readonly string[]
}

export type ReadBundle =
  | { readonly bundle: RegistryBundle; readonly problem?: undefined }
  | { readonly bundle?: undefined; readonly problem: string }

/** Reads a bundle. `problem` is why opm refuses it, in opm's words. */
export function readRegistryBundle(files: BundleFiles): ReadBundle {
  try {
    return { bundle: read(files) }
  } catch (error) {
    if (error instanceof Refusal) return { problem: error.message }
    throw error
  }
}

/** The objects of `manifests/` that opm sees, every ClusterServiceVersion among them, in the order of their files. */
export function manifestObjects(files: BundleFiles): readonly ManifestObject[] {
  return filesIn(files, 'manifests').flatMap(([file, bytes]) => {
    const document = readManifest(bytes)
    if (document.kind !== 'value' || document.value.kind !== 'map') return []
    const { value: tree } = document
    const kind = scalar(valueAt(tree, 'kind'))
    const apiVersion = scalar(valueAt(tree, 'apiVersion'))
    // Without a kind, or with an unreadable version, it is no Kubernetes object, and opm's decoder passes over it.
    if (kind === '' || apiVersion.split('/').length > 2) return []
    const name = scalar(valueAt(valueAt(tree, 'metadata'), 'name'))
    return [{ file, apiVersion, kind, name, data: dataOf(tree) ?? null, tree }]
  })
}

/** Every API that the bundle's CRDs define; versions that are not served count too. */
export function definedApis(crds: readonly ManifestObject[]): readonly Api[] {
  return crds.flatMap(({ tree, apiVersion }) => {
    const spec = valueAt(tree, 'spec')
    const names = valueAt(spec, 'names')
    const listed = valueAt(spec, 'versions')
    const versions = (listed?.kind === 'list' ? listed.items : []).map((version) =>
      scalar(valueAt(version, 'name')),
    )
    // v1beta1 may name its single version beside the list.
    const single = apiVersion.endsWith('/v1beta1') ? scalar(valueAt(spec, 'version')) : ''
    return [...versions, ...(single === '' ? [] : [single])].map((version) => ({
      group: scalar(valueAt(spec, 'group')),
      version,
      kind: scalar(valueAt(names, 'kind')),
      plural: scalar(valueAt(names, 'plural')),
    }))
  })
}

function read(files: BundleFiles): RegistryBundle {
  const objects = manifestObjects(files)
  if (objects.length === 0) throw new Refusal('no bundle objects found')
  const csv = objects.find(({ kind }) => kind === 'ClusterServiceVersion')
  if (csv) decodeOrRefuse(objectType, csv.tree)
  const kept = objects.filter((object) => object === csv || object.kind !== 'ClusterServiceVersion')
  const crds = kept.filter(isCrd)
  crds.forEach(refuseBrokenCrd)
  if (!csv) throw new Refusal('no csv in bundle')

  const before = `error checking provided apis in bundle ${csv.name}: `
  const beforeServices = `${before}error getting apiservice definitions: `
  const spec = specOf(csv.tree, `${beforeServices}error unmarshaling into object map: `)
  const services = definitions(spec, 'apiservicedefinitions', beforeServices)
  const resources = definitions(spec, 'customresourcedefinitions', before)
  const provided = [...definedApis(crds), ...services.owned.map(serviceApi)]
  refuseMissing(
    resources.owned.map((key) => resourceApi(key, before)),
    provided,
    before,
  )

  const metadata = readMetadata(files)
  if (!metadata.annotations) throw new Refusal('Could not find annotations file')
  const beforeRequired = `get properties for bundle ${quote(csv.name)}: get required apis: `
  const described = derivedProperties({
    name: csv.name,
    csv: csv.tree,
    spec,
    metadata,
    provided,
    required: () => [
      ...resources.required.map((key) => resourceApi(key, beforeRequired)),
      ...services.required.map(serviceApi),
    ],
  })
  const beforeImages = `get related images for bundle ${quote(csv.name)}: `
  return {
    ...metadata,
    annotations: metadata.annotations,
    package: metadata.annotations[annotationKeys.package] ?? '',
    csv,
    objects: kept,
    crds,
    described,
    relatedImages: relatedImages(spec, beforeImages),
    operatorImages: operatorImages(csv.tree, beforeImages),
  }
}

function isCrd({ kind, apiVersion }: ManifestObject): boolean {
  return kind === 'CustomResourceDefinition' && /(?:^|\/)v1(?:beta1)?$/.test(apiVersion)
}

function refuseBrokenCrd({ tree, apiVersion }: ManifestObject): void {
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1)
  const before = `error decoding ${version} CRD: `
  if (!apiVersion.startsWith('apiextensions.k8s.io/'))
    throw new Refusal(
      `${before}no kind "CustomResourceDefinition" is registered for version ${quote(apiVersion)}`,
    )
  decodeOrRefuse(crdType, tree, before)
}

function specOf(csv: Value, before: string): ReadonlyMap<string, Value> {
  const spec = valueAt(csv, 'spec')
  if (spec === undefined) throw new Refusal(`${before}unexpected end of JSON input`)
  if (spec.kind === 'null') return new Map()
  if (spec.kind !== 'map')
    throw new Refusal(
      `${before}json: cannot unmarshal ${goKind(spec)} into Go value of type map[string]*json.RawMessage`,
    )
  return new Map(spec.entries.map(({ key, value }) => [key, value]))
}

function definitions(
  spec: ReadonlyMap<string, Value>,
  field: string,
  before: string,
): { readonly owned: readonly Decoded[]; readonly required: readonly Decoded[] } {
  const value = spec.get(field)
  if (!value) return { owned: [], required: [] }
  const decoded = decodeOrRefuse(definitionsType, value, before)
  return { owned: structsOf(decoded, 'owned'), required: structsOf(decoded, 'required') }
}

function serviceApi(key: Decoded): Api {
  return { ...gvk(key), group: textOf(key, 'group'), plural: textOf(key, 'name') }
}

function resourceApi(key: Decoded, before: string): Api {
  const name = textOf(key, 'name')
  const dot = name.indexOf('.')
  if (dot < 0) throw new Refusal(`${before}couldn't parse plural.group from crd name: ${name}`)
  return { ...gvk(key), group: name.slice(dot + 1), plural: name.slice(0, dot) }
}

function gvk(key: Decoded): { readonly version: string; readonly kind: string } {
  return { version: textOf(key, 'version'), kind: textOf(key, 'kind') }
}

function refuseMissing(owned: readonly Api[], provided: readonly Api[], before: string): void {
  const found = new Set(provided.map(apiText))
  const missing = owned.map(apiText).find((text) => !found.has(text))
  if (missing === undefined) return
  const shown = [...new Set([...provided].sort(compareApis).map((api) => `${apiText(api)}:{}`))]
  throw new Refusal(`${before}couldn't find ${missing} in bundle. found: map[${shown.join(' ')}]`)
}

function compareApis(a: Api, b: Api): number {
  return (
    compareBytes(a.group, b.group) ||
    compareBytes(a.version, b.version) ||
    compareBytes(a.kind, b.kind) ||
    compareBytes(a.plural, b.plural)
  )
}

function apiText({ group, version, kind, plural }: Api): string {
  return `${group}/${version}/${kind} (${plural})`
}

function relatedImages(spec: ReadonlyMap<string, Value>, before: string): readonly RelatedImage[] {
  const value = spec.get('relatedImages')
  if (!value || value.kind === 'null') return []
  if (value.kind !== 'list')
    throw new Refusal(
      `${before}json: cannot unmarshal ${goKind(value)} into Go value of type []declcfg.RelatedImage`,
    )
  return value.items.map((item) => {
    const entry = decodeOrRefuse(relatedImageType, item, before)
    return { name: textOf(entry, 'name'), image: textOf(entry, 'image') }
  })
}

function operatorImages(csv: Value, before: string): readonly string[] {
  const spec = valueAt(csv, 'spec')
  if (spec?.kind !== 'map') return []
  const install = structOf(decodeOrRefuse(installType, spec, before), 'Install')
  if (!install || textOf(install, 'strategy') !== 'deployment') return []
  const deployments = structOf(install, 'spec')
  const images = (deployments ? structsOf(deployments, 'Deployments') : []).flatMap((deployment) => {
    const pod = structOf(structOf(structOf(deployment, 'Spec'), 'template'), 'spec')
    if (!pod) return []
    return [...structsOf(pod, 'containers'), ...structsOf(pod, 'initContainers')].map((container) =>
      textOf(container, 'image'),
    )
  })
  return [...new Set(images)]
}

function structOf(decoded: Decoded | undefined, field: string): Decoded | undefined {
  const value = decoded?.fields.get(field)
  return typeof value === 'object' && 'fields' in value ? value : undefined
}

function scalar(value: Value | undefined): string {
  return value?.kind === 'string' ? value.value : ''
}
