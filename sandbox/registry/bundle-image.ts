// The bundle behind a blob: creates the registry+v1 image from which an `olm.bundle` blob could have been rendered.
// The same blob gives the same bytes. The bundle cannot run: its Operator image is the one in the blob's related
// images.
import { parseAllDocuments } from 'yaml'
import { bundleAnnotationKeys } from '@catalog-bot/bundle/bundle-metadata'
import type { Json } from '@catalog-bot/fbc/go/json/json'
import type { MockImageSpec } from './registry-image.ts'

/** The source of a bundle: its catalog blob. */
export interface OlmBundleBlob {
  readonly name: string
  readonly package: string
  readonly image: string
  readonly properties: readonly { readonly type: string; readonly value: Json }[]
  readonly relatedImages?: readonly { readonly name: string; readonly image: string }[]
}

type JsonObject = { readonly [key: string]: Json }

/** The `olm.bundle` blobs in a catalog, in order. Throws on invalid YAML. */
export function parseOlmBundleBlobs(catalog: string): readonly OlmBundleBlob[] {
  return parseAllDocuments(catalog)
    .map((document) => document.toJS() as { schema?: unknown } | null)
    .filter((blob): blob is OlmBundleBlob & { schema: string } => blob?.schema === 'olm.bundle')
}

/** The image's single layer and its labels. Rendering the image gives the blob. */
export function buildBundleImage(blob: OlmBundleBlob): MockImageSpec {
  const annotations = {
    [bundleAnnotationKeys.mediaType]: 'registry+v1',
    [bundleAnnotationKeys.manifests]: 'manifests/',
    [bundleAnnotationKeys.metadata]: 'metadata/',
    [bundleAnnotationKeys.package]: blob.package,
    [bundleAnnotationKeys.channels]: 'stable',
    [bundleAnnotationKeys.defaultChannel]: 'stable',
  }
  const files: Record<string, string> = {}
  const writeJson = (path: string, content: Json) => (files[path] = `${JSON.stringify(content, null, 2)}\n`)
  const crds = collectCrds(blob)
  writeJson(`manifests/${blob.package}.clusterserviceversion.yaml`, createCsvManifest(blob, crds))
  for (const crd of crds) writeJson(`manifests/${crd.name}.crd.yaml`, createCrdManifest(crd))
  writeJson('metadata/annotations.yaml', { annotations })
  const dependencies = collectBundleDependencies(blob)
  if (dependencies.length > 0) writeJson('metadata/dependencies.yaml', { dependencies })
  const properties = blob.properties.filter(({ type }) => !opmDerivedPropertyTypes.has(type))
  if (properties.length > 0) writeJson('metadata/properties.yaml', { properties })
  return { labels: annotations, files }
}

/** Property types that opm derives from manifests and dependencies. The others are in a separate file. */
const opmDerivedPropertyTypes = new Set([
  'olm.package',
  'olm.gvk',
  'olm.gvk.required',
  'olm.package.required',
  'olm.csv.metadata',
  'olm.bundle.object',
])

interface BundleCrd {
  readonly name: string
  readonly group: string
  readonly kind: string
  readonly versions: readonly string[]
}

const getPropertyValuesByType = ({ properties }: OlmBundleBlob, wanted: string) =>
  properties.filter(({ type }) => type === wanted).map(({ value }) => toObjectOrEmpty(value))
const toStringOrEmpty = (value: Json | undefined) => (typeof value === 'string' ? value : '')
const toObjectArrayOrEmpty = (value: Json | undefined) =>
  Array.isArray(value) ? (value as readonly JsonObject[]) : []
const toObjectOrEmpty = (value: Json | undefined) => (value ?? {}) as JsonObject

function getCsvMetadata(blob: OlmBundleBlob): JsonObject {
  return getPropertyValuesByType(blob, 'olm.csv.metadata')[0] ?? {}
}

/** One for each group and kind, with the name from the metadata. */
function collectCrds(blob: OlmBundleBlob): readonly BundleCrd[] {
  const metadata = getCsvMetadata(blob)
  const names = toObjectArrayOrEmpty(toObjectOrEmpty(metadata['crdDescriptions'])['owned'])
  const services = toObjectArrayOrEmpty(toObjectOrEmpty(metadata['apiServiceDefinitions'])['owned'])
  const crds = new Map<string, BundleCrd>()
  for (const value of getPropertyValuesByType(blob, 'olm.gvk')) {
    const [group, kind, version] = [
      toStringOrEmpty(value['group']),
      toStringOrEmpty(value['kind']),
      toStringOrEmpty(value['version']),
    ]
    if (services.some((service) => service['group'] === group && service['kind'] === kind)) continue
    const described = names.find(
      (entry) => entry['kind'] === kind && toStringOrEmpty(entry['name']).endsWith(`.${group}`),
    )
    const name = toStringOrEmpty(described?.['name']) || `${kind.toLowerCase()}s.${group}`
    crds.set(name, { name, group, kind, versions: [...(crds.get(name)?.versions ?? []), version] })
  }
  return [...crds.values()]
}

function createCrdManifest({ name, group, kind, versions }: BundleCrd): Json {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name },
    spec: {
      group,
      names: { kind, plural: name.slice(0, name.indexOf('.')), singular: kind.toLowerCase() },
      scope: 'Namespaced',
      versions: versions.map((version, index) => ({
        name: version,
        served: true,
        storage: index === 0,
        schema: { openAPIV3Schema: { type: 'object' } },
      })),
    },
  }
}

function createCsvManifest(blob: OlmBundleBlob, crds: readonly BundleCrd[]): Json {
  const metadata = getCsvMetadata(blob)
  const { annotations, labels, apiServiceDefinitions, crdDescriptions, nativeAPIs, ...shown } = metadata
  const described = toObjectOrEmpty(crdDescriptions)
  const plain = crds.flatMap(({ name, kind, versions }) =>
    versions.map((version) => ({ name, kind, version })),
  )
  const own = getPropertyValuesByType(blob, 'olm.package').at(-1) ?? {}
  const related = (blob.relatedImages ?? []).filter(({ image }) => image !== blob.image)
  const operator = related[0]?.image
  return {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: { name: blob.name, ...(annotations && { annotations }), ...(labels && { labels }) },
    spec: {
      displayName: blob.package,
      installModes: [{ type: 'AllNamespaces', supported: true }],
      ...shown,
      ...(nativeAPIs && { nativeAPIs }),
      version: own['version'] ?? '',
      ...(own['release'] !== undefined && { release: own['release'] }),
      apiservicedefinitions: apiServiceDefinitions ?? {},
      customresourcedefinitions: {
        ...described,
        owned:
          toObjectArrayOrEmpty(described['owned']).length > 0
            ? toObjectArrayOrEmpty(described['owned'])
            : plain,
      },
      install: {
        strategy: 'deployment',
        spec: { deployments: operator === undefined ? [] : [createCsvDeployment(blob.package, operator)] },
      },
      relatedImages: related.map(({ name, image }) => ({ name, image })),
    },
  }
}

function createCsvDeployment(name: string, image: string): Json {
  const labels = { app: name }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'operator', image }] } }
  return { name, spec: { replicas: 1, selector: { matchLabels: labels }, template } }
}

/** Requirements that opm does not already derive from the CSV's own lists. */
function collectBundleDependencies(blob: OlmBundleBlob): readonly Json[] {
  const metadata = getCsvMetadata(blob)
  const listed = [
    ...toObjectArrayOrEmpty(toObjectOrEmpty(metadata['crdDescriptions'])['required']),
    ...toObjectArrayOrEmpty(toObjectOrEmpty(metadata['apiServiceDefinitions'])['required']),
  ]
  const kinds = getPropertyValuesByType(blob, 'olm.gvk.required').filter(
    ({ kind, version }) => !listed.some((entry) => entry['kind'] === kind && entry['version'] === version),
  )
  return [
    ...kinds.map((value) => ({ type: 'olm.gvk', value })),
    ...getPropertyValuesByType(blob, 'olm.package.required').map(({ packageName, versionRange }) => ({
      type: 'olm.package',
      value: { packageName: toStringOrEmpty(packageName), version: toStringOrEmpty(versionRange) },
    })),
  ]
}
