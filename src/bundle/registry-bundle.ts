// Reads a registry+v1 bundle as opm does: only first documents, without undecodable files, and the first
// ClusterServiceVersion.
import { once, oncePer } from '../findings/once.ts'
import type { Json } from '../go/json/json.ts'
import { compareBytes, quote } from '../go/text.ts'
import { structsOf, textOf } from '../go/decode/decode.ts'
import type { Decoded } from '../go/decode/decoded.ts'
import { goKind } from '../go/decode/go-value.ts'
import type { Value } from '../go/tree.ts'
import { valueAt } from '../go/tree.ts'
import { annotationKeys, readMetadata, type BundleMetadata } from './bundle-metadata.ts'
import { filesIn, type BundleFiles } from './bundle-files.ts'
import { objectType } from '../go/decode/object-type.ts'
import { crdType, definitionsType, installType, relatedImageType } from './csv-type.ts'
import { derivedProperties, type Gvk, type Property } from './derived-properties.ts'
import { dataOf, readManifest } from './manifest-document.ts'
import { decodeOrRefuse, Refusal, type RefusedPlace } from './refusal.ts'

export interface ManifestObject {
  readonly file: string
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  /** Truncated if very large; `tree` never is. */
  readonly data: Json
  readonly tree: Value
}

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
  /** In opm's order, without the properties that hold whole manifests. */
  readonly described: readonly Property[]
  /** `spec.relatedImages`, including duplicates. */
  readonly relatedImages: readonly RelatedImage[]
  /** Images of all containers and init containers, without duplicates; '' for a container without one. */
  readonly operatorImages: readonly string[]
}

export type ReadBundle =
  | { readonly bundle: RegistryBundle; readonly problem?: undefined }
  | { readonly bundle?: undefined; readonly problem: string }

/** `problem` is opm's reason to refuse the bundle. */
export function readRegistryBundle(files: BundleFiles): ReadBundle {
  const { bundle, refusals } = readAsFarAsPossible(files)
  const [first] = refusals
  if (first) return { problem: first.message }
  return bundle ? { bundle } : { problem: 'no csv in bundle' }
}

export interface PartlyReadBundle {
  /** What can be read, even if opm refuses the bundle. Absent without a ClusterServiceVersion. */
  readonly bundle?: RegistryBundle
  /** All reasons, starting with the one that opm reports. */
  readonly refusals: readonly Refusal[]
}

/** The objects of `manifests/` that opm sees, including every ClusterServiceVersion, in file order. */
export const manifestObjects = oncePer((files: BundleFiles): readonly ManifestObject[] =>
  filesIn(files, 'manifests').flatMap(([file, bytes]) => {
    const document = readManifest(bytes)
    const type = document.kind === 'value' ? objectTypeOf(document.value) : undefined
    if (document.kind !== 'value' || type === undefined) return []
    const { value: tree } = document
    const name = scalar(valueAt(valueAt(tree, 'metadata'), 'name'))
    const data = once(() => dataOf(tree) ?? null)
    return [
      {
        file,
        ...type,
        name,
        // Lazy, because most objects need few fields, which come from the tree.
        get data() {
          return data()
        },
        tree,
      },
    ]
  }),
)

/** Undefined for objects that opm's decoder skips: no kind, or an invalid version. */
export function objectTypeOf(
  tree: Value,
): { readonly apiVersion: string; readonly kind: string } | undefined {
  const kind = scalar(valueAt(tree, 'kind'))
  const apiVersion = scalar(valueAt(tree, 'apiVersion'))
  return kind === '' || apiVersion.split('/').length > 2 ? undefined : { apiVersion, kind }
}

/** The first in a bundle counts. */
export function isCsv({ kind }: Pick<ManifestObject, 'kind'>): boolean {
  return kind === 'ClusterServiceVersion'
}

/** Includes versions that aren't served. */
export function definedApis(crds: readonly ManifestObject[]): readonly Api[] {
  return crds.flatMap(({ tree, apiVersion }) => {
    const spec = valueAt(tree, 'spec')
    const names = valueAt(spec, 'names')
    const listed = valueAt(spec, 'versions')
    const versions = (listed?.kind === 'list' ? listed.items : []).map((version) =>
      scalar(valueAt(version, 'name')),
    )
    // v1beta1 can name a single version beside the list.
    const single = apiVersion.endsWith('/v1beta1') ? scalar(valueAt(spec, 'version')) : ''
    return [...versions, ...(single === '' ? [] : [single])].map((version) => ({
      group: scalar(valueAt(spec, 'group')),
      version,
      kind: scalar(valueAt(names, 'kind')),
      plural: scalar(valueAt(names, 'plural')),
    }))
  })
}

/** Continues after each reason to refuse the bundle, in opm's order. Cached per bundle. */
export const readAsFarAsPossible = oncePer((files: BundleFiles): PartlyReadBundle => {
  const refusals: Refusal[] = []
  const attempt = <Result>(fallback: Result, step: () => Result): Result => {
    try {
      return step()
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      refusals.push(error)
      return fallback
    }
  }
  const objects = manifestObjects(files)
  if (objects.length === 0) return { refusals: [new Refusal('no bundle objects found')] }
  const csv = objects.find(({ kind }) => kind === 'ClusterServiceVersion')
  if (csv)
    attempt(undefined, () => void decodeOrRefuse(objectType, csv.tree, '', { file: csv.file, path: [] }))
  const kept = objects.filter((object) => object === csv || object.kind !== 'ClusterServiceVersion')
  const crds = kept.filter(isCrd)
  for (const crd of crds) attempt(undefined, () => refuseBrokenCrd(crd))
  if (!csv) return { refusals: [...refusals, new Refusal('no csv in bundle')] }

  const before = `error checking provided apis in bundle ${csv.name}: `
  const beforeServices = `${before}error getting apiservice definitions: `
  const none: Definitions = { owned: [], required: [] }
  const spec = attempt(new Map<string, Value>(), () =>
    specOf(csv, `${beforeServices}error unmarshaling into object map: `),
  )
  const services = attempt(none, () => definitions(csv, spec, 'apiservicedefinitions', beforeServices))
  const resources = attempt(none, () => definitions(csv, spec, 'customresourcedefinitions', before))
  const provided = [...definedApis(crds), ...services.owned.map(serviceApi)]
  const place = (index: number): RefusedPlace => ({
    file: csv.file,
    path: ['spec', 'customresourcedefinitions', 'owned', index],
  })
  const owned = resources.owned.flatMap((key, index) =>
    attempt([], () => [{ api: resourceApi(key, before, place(index)), at: place(index) }]),
  )
  refusals.push(...missingApis(owned, provided, before))

  const metadata = readMetadata(files)
  if (!metadata.annotations) refusals.push(new Refusal('Could not find annotations file'))
  const beforeRequired = `get properties for bundle ${quote(csv.name)}: get required apis: `
  const described = attempt([], () =>
    derivedProperties({
      name: csv.name,
      csv: csv.tree,
      file: csv.file,
      spec,
      metadata,
      provided,
      required: () => [
        ...resources.required.map((key) => resourceApi(key, beforeRequired)),
        ...services.required.map(serviceApi),
      ],
    }),
  )
  const beforeImages = `get related images for bundle ${quote(csv.name)}: `
  const bundle: RegistryBundle = {
    ...metadata,
    annotations: metadata.annotations ?? {},
    package: metadata.annotations?.[annotationKeys.package] ?? '',
    csv,
    objects: kept,
    crds,
    described,
    relatedImages: attempt([], () => relatedImages(csv, spec, beforeImages)),
    operatorImages: attempt([], () => operatorImages(csv, beforeImages)),
  }
  return { bundle, refusals }
})

function isCrd({ kind, apiVersion }: ManifestObject): boolean {
  return kind === 'CustomResourceDefinition' && /(?:^|\/)v1(?:beta1)?$/.test(apiVersion)
}

function refuseBrokenCrd({ file, tree, apiVersion }: ManifestObject): void {
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1)
  const before = `error decoding ${version} CRD: `
  if (!apiVersion.startsWith('apiextensions.k8s.io/'))
    throw new Refusal(
      `${before}no kind "CustomResourceDefinition" is registered for version ${quote(apiVersion)}`,
      { file, path: ['apiVersion'] },
    )
  decodeOrRefuse(crdType, tree, before, { file, path: [] })
}

function specOf({ file, tree }: ManifestObject, before: string): Map<string, Value> {
  const spec = valueAt(tree, 'spec')
  if (spec === undefined) throw new Refusal(`${before}unexpected end of JSON input`, { file, path: [] })
  if (spec.kind === 'null') return new Map()
  if (spec.kind !== 'map')
    throw new Refusal(
      `${before}json: cannot unmarshal ${goKind(spec)} into Go value of type map[string]*json.RawMessage`,
      { file, path: ['spec'] },
    )
  return new Map(spec.entries.map(({ key, value }) => [key, value]))
}

interface Definitions {
  readonly owned: readonly Decoded[]
  readonly required: readonly Decoded[]
}

function definitions(
  { file }: ManifestObject,
  spec: ReadonlyMap<string, Value>,
  field: string,
  before: string,
): Definitions {
  const value = spec.get(field)
  if (!value) return { owned: [], required: [] }
  const decoded = decodeOrRefuse(definitionsType, value, before, { file, path: ['spec', field] })
  return { owned: structsOf(decoded, 'owned'), required: structsOf(decoded, 'required') }
}

function serviceApi(key: Decoded): Api {
  return { ...gvk(key), group: textOf(key, 'group'), plural: textOf(key, 'name') }
}

function resourceApi(key: Decoded, before: string, at?: RefusedPlace): Api {
  const name = textOf(key, 'name')
  const dot = name.indexOf('.')
  if (dot < 0) throw new Refusal(`${before}couldn't parse plural.group from crd name: ${name}`, at)
  return { ...gvk(key), group: name.slice(dot + 1), plural: name.slice(0, dot) }
}

function gvk(key: Decoded): { readonly version: string; readonly kind: string } {
  return { version: textOf(key, 'version'), kind: textOf(key, 'kind') }
}

/** opm reports only the first. */
function missingApis(
  owned: readonly { readonly api: Api; readonly at: RefusedPlace }[],
  provided: readonly Api[],
  before: string,
): readonly Refusal[] {
  const found = new Set(provided.map(apiText))
  const missing = owned.filter(({ api }) => !found.has(apiText(api)))
  if (missing.length === 0) return []
  const shown = [...new Set([...provided].sort(compareApis).map((api) => `${apiText(api)}:{}`))].join(' ')
  return missing.map(
    ({ api, at }) =>
      new Refusal(`${before}couldn't find ${apiText(api)} in bundle. found: map[${shown}]`, at),
  )
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

function relatedImages(
  { file }: ManifestObject,
  spec: ReadonlyMap<string, Value>,
  before: string,
): readonly RelatedImage[] {
  const value = spec.get('relatedImages')
  if (!value || value.kind === 'null') return []
  if (value.kind !== 'list')
    throw new Refusal(
      `${before}json: cannot unmarshal ${goKind(value)} into Go value of type []declcfg.RelatedImage`,
      { file, path: ['spec', 'relatedImages'] },
    )
  return value.items.map((item, index) => {
    const at = { file, path: ['spec', 'relatedImages', index] }
    const entry = decodeOrRefuse(relatedImageType, item, before, at)
    return { name: textOf(entry, 'name'), image: textOf(entry, 'image') }
  })
}

function operatorImages({ file, tree }: ManifestObject, before: string): readonly string[] {
  const spec = valueAt(tree, 'spec')
  if (spec?.kind !== 'map') return []
  const decoded = decodeOrRefuse(installType, spec, before, { file, path: ['spec'] })
  const install = structOf(decoded, 'Install')
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
