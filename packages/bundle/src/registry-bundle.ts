// Reads a registry+v1 bundle as opm does. Skips undecodable files, all documents of a file after the first, and all
// ClusterServiceVersions after the first.
import { memoizeOnce, memoizePerObject } from '@catalog-bot/findings/memoize'
import type { Json } from '@catalog-bot/fbc/go/json/json'
import { compareBytes, quoteLikeGo } from '@catalog-bot/fbc/go/text'
import {
  getDecodedStringField,
  getDecodedStringFields,
  getDecodedStructField,
  getDecodedStructList,
} from '@catalog-bot/fbc/go/decode/decode'
import {
  type DecodedStruct,
  kubernetesObjectStructType,
  getJsonTypeName,
} from '@catalog-bot/fbc/go/decode/go-type'
import { type ParsedValue, getMapValue, getStringByKey } from '@catalog-bot/fbc/go/tree'
import { bundleAnnotationKeys, parseBundleMetadata, type BundleMetadata } from './bundle-metadata.ts'
import { findFilesInDirectory, type BundleFiles } from './bundle-files.ts'
import {
  crdStructType,
  apiDefinitionsStructType,
  csvInstallStructType,
  relatedImageStructType,
} from './csv-type.ts'
import {
  deriveBundleProperties,
  type BundlePropertySources,
  type Gvk,
  type DerivedProperty,
  decodeGoStructOrThrow,
  BundleRejectedError,
  type BundleRejectionLocation,
} from './derived-properties.ts'
import { convertParsedValueToJson, readManifest } from './manifest-document.ts'

export interface ManifestObject {
  readonly file: string
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  /** Truncated if very large. `tree` is never truncated. */
  readonly data: Json
  readonly tree: ParsedValue
}

export interface BundleApi extends Gvk {
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
  /** In opm's order, without the properties that contain whole manifests. */
  readonly derivedProperties: readonly DerivedProperty[]
  /** `spec.relatedImages`, including duplicates. */
  readonly relatedImages: readonly RelatedImage[]
  /** Images of all containers and init containers, without duplicates; '' for a container without an image. */
  readonly operatorImages: readonly string[]
}

export type RegistryBundleResult =
  | { readonly bundle: RegistryBundle; readonly problem?: undefined }
  | { readonly bundle?: undefined; readonly problem: string }

/** `problem` is opm's reason for rejecting the bundle. */
export function readRegistryBundle(files: BundleFiles): RegistryBundleResult {
  const { bundle, rejections } = readPartialRegistryBundle(files)
  const [first] = rejections
  if (first) return { problem: first.message }
  return bundle ? { bundle } : { problem: 'no csv in bundle' }
}

export interface PartialRegistryBundle {
  /** The readable parts, even if opm rejects the bundle. Absent without a ClusterServiceVersion. */
  readonly bundle?: RegistryBundle
  /** All reasons, starting with the one that opm reports. */
  readonly rejections: readonly BundleRejectedError[]
}

/** The objects of `manifests/` that opm sees, including every ClusterServiceVersion, in file order. */
export const readManifestObjects = memoizePerObject((files: BundleFiles) =>
  findFilesInDirectory(files, 'manifests').flatMap(([file, bytes]) => {
    const document = readManifest(bytes)
    const type = document.kind === 'value' ? parseApiVersionAndKind(document.value) : undefined
    if (document.kind !== 'value' || type === undefined) return []
    const { value: tree } = document
    const name = getStringByKey(getMapValue(tree, 'metadata'), 'name')
    const data = memoizeOnce(() => convertParsedValueToJson(tree) ?? null)
    return [
      {
        file,
        ...type,
        name,
        // Lazy, because callers usually need only a few fields from the tree.
        get data() {
          return data()
        },
        tree,
      },
    ]
  }),
)

/** Undefined for objects that opm's decoder skips, which have no kind or an invalid version. */
export function parseApiVersionAndKind(
  tree: ParsedValue,
): { readonly apiVersion: string; readonly kind: string } | undefined {
  const kind = getStringByKey(tree, 'kind')
  const apiVersion = getStringByKey(tree, 'apiVersion')
  return kind === '' || apiVersion.split('/').length > 2 ? undefined : { apiVersion, kind }
}

/** Only the first one in a bundle counts. */
export function isCsv({ kind }: Pick<ManifestObject, 'kind'>): boolean {
  return kind === 'ClusterServiceVersion'
}

/** Includes versions that aren't served. */
export function getApisDefinedByCrds(crds: readonly ManifestObject[]): readonly BundleApi[] {
  return crds.flatMap(({ tree, apiVersion }) => {
    const spec = getMapValue(tree, 'spec')
    const names = getMapValue(spec, 'names')
    const listed = getMapValue(spec, 'versions')
    const versions = (listed?.kind === 'list' ? listed.items : []).map((version) =>
      getStringByKey(version, 'name'),
    )
    // v1beta1 can name a single version beside the list.
    const single = apiVersion.endsWith('/v1beta1') ? getStringByKey(spec, 'version') : ''
    return [...versions, ...(single === '' ? [] : [single])].map((version) => ({
      group: getStringByKey(spec, 'group'),
      version,
      kind: getStringByKey(names, 'kind'),
      plural: getStringByKey(names, 'plural'),
    }))
  })
}

/** Continues after a reason to reject the bundle, to collect all of them. */
class BundleRejectionCollector {
  readonly rejections: BundleRejectedError[] = []

  attempt<Result>(fallback: Result, step: () => Result): Result {
    try {
      return step()
    } catch (error) {
      if (!(error instanceof BundleRejectedError)) throw error
      this.rejections.push(error)
      return fallback
    }
  }
}

/** Collects every reason to reject the bundle, in opm's order. Cached per bundle. */
export const readPartialRegistryBundle = memoizePerObject((files: BundleFiles): PartialRegistryBundle => {
  const collector = new BundleRejectionCollector()
  const { rejections } = collector
  const objects = readManifestObjects(files)
  if (objects.length === 0) return { rejections: [new BundleRejectedError('no bundle objects found')] }
  const csv = objects.find(({ kind }) => kind === 'ClusterServiceVersion')
  if (csv)
    collector.attempt(
      undefined,
      () =>
        void decodeGoStructOrThrow(kubernetesObjectStructType, csv.tree, '', { file: csv.file, path: [] }),
    )
  const relevantObjects = objects.filter(
    (object) => object === csv || object.kind !== 'ClusterServiceVersion',
  )
  const crds = relevantObjects.filter(isCrd)
  for (const crd of crds) collector.attempt(undefined, () => rejectInvalidCrd(crd))
  if (!csv) return { rejections: [...rejections, new BundleRejectedError('no csv in bundle')] }

  const apis = readCsvApis(csv, crds, collector)
  const metadata = parseBundleMetadata(files)
  if (!metadata.annotations) rejections.push(new BundleRejectedError('Could not find annotations file'))
  const derivedProperties = collector.attempt([], () =>
    deriveBundleProperties({ name: csv.name, csv: csv.tree, file: csv.file, metadata, ...apis }),
  )
  const beforeImages = `get related images for bundle ${quoteLikeGo(csv.name)}: `
  const bundle: RegistryBundle = {
    ...metadata,
    annotations: metadata.annotations ?? {},
    package: metadata.annotations?.[bundleAnnotationKeys.package] ?? '',
    csv,
    objects: relevantObjects,
    crds,
    derivedProperties,
    relatedImages: collector.attempt([], () => decodeRelatedImages(csv, apis.spec, beforeImages)),
    operatorImages: collector.attempt([], () => findOperatorImages(csv, beforeImages)),
  }
  return { bundle, rejections }
})

/** The fields of the spec, the APIs that the bundle provides, and the ones that it requires. */
function readCsvApis(
  csv: ManifestObject,
  crds: readonly ManifestObject[],
  collector: BundleRejectionCollector,
): Pick<BundlePropertySources, 'spec' | 'required'> & { readonly provided: readonly BundleApi[] } {
  const before = `error checking provided apis in bundle ${csv.name}: `
  const beforeServices = `${before}error getting apiservice definitions: `
  const none: ApiDefinitions = { owned: [], required: [] }
  const spec = collector.attempt(new Map<string, ParsedValue>(), () =>
    requireCsvSpecFields(csv, `${beforeServices}error unmarshaling into object map: `),
  )
  const services = collector.attempt(none, () =>
    decodeApiDefinitions(csv, spec, 'apiservicedefinitions', beforeServices),
  )
  const resources = collector.attempt(none, () =>
    decodeApiDefinitions(csv, spec, 'customresourcedefinitions', before),
  )
  const provided = [...getApisDefinedByCrds(crds), ...services.owned.map(toBundleApiFromApiService)]
  const ownedCrdLocation = (index: number): BundleRejectionLocation => ({
    file: csv.file,
    path: ['spec', 'customresourcedefinitions', 'owned', index],
  })
  const owned = resources.owned.flatMap((key, index) =>
    collector.attempt([], () => [
      { api: toBundleApiFromCrd(key, before, ownedCrdLocation(index)), at: ownedCrdLocation(index) },
    ]),
  )
  collector.rejections.push(...findMissingOwnedApis(owned, provided, before))
  const beforeRequired = `get properties for bundle ${quoteLikeGo(csv.name)}: get required apis: `
  return {
    spec,
    provided,
    required: () => [
      ...resources.required.map((key) => toBundleApiFromCrd(key, beforeRequired)),
      ...services.required.map(toBundleApiFromApiService),
    ],
  }
}

function isCrd({ kind, apiVersion }: ManifestObject): boolean {
  return kind === 'CustomResourceDefinition' && /(?:^|\/)v1(?:beta1)?$/.test(apiVersion)
}

function rejectInvalidCrd({ file, tree, apiVersion }: ManifestObject): void {
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1)
  const before = `error decoding ${version} CRD: `
  if (!apiVersion.startsWith('apiextensions.k8s.io/'))
    throw new BundleRejectedError(
      `${before}no kind "CustomResourceDefinition" is registered for version ${quoteLikeGo(apiVersion)}`,
      { file, path: ['apiVersion'] },
    )
  decodeGoStructOrThrow(crdStructType, tree, before, { file, path: [] })
}

function requireCsvSpecFields({ file, tree }: ManifestObject, before: string): Map<string, ParsedValue> {
  const spec = getMapValue(tree, 'spec')
  if (spec === undefined)
    throw new BundleRejectedError(`${before}unexpected end of JSON input`, { file, path: [] })
  if (spec.kind === 'null') return new Map()
  if (spec.kind !== 'map')
    throw new BundleRejectedError(
      `${before}json: cannot unmarshal ${getJsonTypeName(spec)} into Go value of type map[string]*json.RawMessage`,
      { file, path: ['spec'] },
    )
  return new Map(spec.entries.map(({ key, value }) => [key, value]))
}

interface ApiDefinitions {
  readonly owned: readonly DecodedStruct[]
  readonly required: readonly DecodedStruct[]
}

function decodeApiDefinitions(
  { file }: ManifestObject,
  spec: ReadonlyMap<string, ParsedValue>,
  field: string,
  before: string,
): ApiDefinitions {
  const value = spec.get(field)
  if (!value) return { owned: [], required: [] }
  const decoded = decodeGoStructOrThrow(apiDefinitionsStructType, value, before, {
    file,
    path: ['spec', field],
  })
  return {
    owned: getDecodedStructList(decoded, 'owned'),
    required: getDecodedStructList(decoded, 'required'),
  }
}

function toBundleApiFromApiService(key: DecodedStruct): BundleApi {
  const gvk = getDecodedStringFields(key, 'group', 'version', 'kind')
  return { ...gvk, plural: getDecodedStringField(key, 'name') }
}

function toBundleApiFromCrd(key: DecodedStruct, before: string, at?: BundleRejectionLocation): BundleApi {
  const name = getDecodedStringField(key, 'name')
  const dot = name.indexOf('.')
  if (dot < 0)
    throw new BundleRejectedError(`${before}couldn't parse plural.group from crd name: ${name}`, at)
  const versionAndKind = getDecodedStringFields(key, 'version', 'kind')
  return { ...versionAndKind, group: name.slice(dot + 1), plural: name.slice(0, dot) }
}

/** opm reports only the first. */
function findMissingOwnedApis(
  owned: readonly { readonly api: BundleApi; readonly at: BundleRejectionLocation }[],
  provided: readonly BundleApi[],
  before: string,
): readonly BundleRejectedError[] {
  const found = new Set(provided.map(formatBundleApi))
  const missing = owned.filter(({ api }) => !found.has(formatBundleApi(api)))
  if (missing.length === 0) return []
  const shown = [
    ...new Set([...provided].sort(compareBundleApis).map((api) => `${formatBundleApi(api)}:{}`)),
  ].join(' ')
  return missing.map(
    ({ api, at }) =>
      new BundleRejectedError(
        `${before}couldn't find ${formatBundleApi(api)} in bundle. found: map[${shown}]`,
        at,
      ),
  )
}

function compareBundleApis(a: BundleApi, b: BundleApi): number {
  return (
    compareBytes(a.group, b.group) ||
    compareBytes(a.version, b.version) ||
    compareBytes(a.kind, b.kind) ||
    compareBytes(a.plural, b.plural)
  )
}

function formatBundleApi({ group, version, kind, plural }: BundleApi): string {
  return `${group}/${version}/${kind} (${plural})`
}

function decodeRelatedImages(
  { file }: ManifestObject,
  spec: ReadonlyMap<string, ParsedValue>,
  before: string,
): readonly RelatedImage[] {
  const value = spec.get('relatedImages')
  if (!value || value.kind === 'null') return []
  if (value.kind !== 'list')
    throw new BundleRejectedError(
      `${before}json: cannot unmarshal ${getJsonTypeName(value)} into Go value of type []declcfg.RelatedImage`,
      { file, path: ['spec', 'relatedImages'] },
    )
  return value.items.map((item, index) => {
    const at = { file, path: ['spec', 'relatedImages', index] }
    return getDecodedStringFields(
      decodeGoStructOrThrow(relatedImageStructType, item, before, at),
      'name',
      'image',
    )
  })
}

function findOperatorImages({ file, tree }: ManifestObject, before: string): readonly string[] {
  const spec = getMapValue(tree, 'spec')
  if (spec?.kind !== 'map') return []
  const decoded = decodeGoStructOrThrow(csvInstallStructType, spec, before, { file, path: ['spec'] })
  const install = getDecodedStructField(decoded, 'Install')
  if (!install || getDecodedStringField(install, 'strategy') !== 'deployment') return []
  const deployments = getDecodedStructField(install, 'spec')
  const pods = (deployments ? getDecodedStructList(deployments, 'Deployments') : [])
    .flatMap((deployment) => getDecodedStructField(deployment, 'Spec') ?? [])
    .flatMap((deploymentSpec) => getDecodedStructField(deploymentSpec, 'template') ?? [])
    .flatMap((template) => getDecodedStructField(template, 'spec') ?? [])
  const containers = pods.flatMap((pod) => [
    ...getDecodedStructList(pod, 'containers'),
    ...getDecodedStructList(pod, 'initContainers'),
  ])
  return [...new Set(containers.map((container) => getDecodedStringField(container, 'image')))]
}
