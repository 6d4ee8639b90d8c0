// The property types with values that opm decodes. Other types can contain any JSON.
import {
  type StructType,
  boolType,
  bytesType,
  int32Type,
  createMapType,
  createNamedStringType,
  rawMessageType,
  createSliceType,
  stringType,
  createStructType,
} from '../go/decode/go-type.ts'
import type { BundleObjectSummary } from '../facts/catalog.ts'
import { isJsonObject, tryParseJson } from '../go/json/json.ts'
import { tryReadJson, maxJsonDepth } from '../go/json/read-json.ts'
import { quoteLikeGo } from '../go/text.ts'
import { type ParsedValue, getMapValue } from '../go/tree.ts'
import { decodeUtf8LikeGo, detachStringFromParent } from '../go/utf8.ts'
import { decodeYaml, trimLeadingSpace } from '../go/yaml/encoding.ts'
import { readYaml } from '../go/yaml/read-yaml.ts'
import { decodeGoStruct } from '../go/decode/decode.ts'
import { decodeSingleLineBase64 } from '../go/base64.ts'

interface ParsedBundleObject {
  readonly summary: BundleObjectSummary
  /** The next object without data repeats these bytes, as in opm. */
  readonly data: () => Uint8Array
  /** Go's error. */
  readonly problem?: string
}

const createEmptyBytes = (): Uint8Array => new Uint8Array()

export const gvkStructFields = { group: stringType, kind: stringType, version: stringType }

const descriptorStructFields = {
  path: stringType,
  displayName: stringType,
  description: stringType,
  'x-descriptors': createSliceType(stringType),
  value: rawMessageType,
}

const crdDescriptionStructFields = {
  name: stringType,
  version: stringType,
  kind: stringType,
  displayName: stringType,
  description: stringType,
  resources: createSliceType(
    createStructType('v1alpha1.APIResourceReference', {
      name: stringType,
      kind: stringType,
      version: stringType,
    }),
  ),
  statusDescriptors: createSliceType(createStructType('v1alpha1.StatusDescriptor', descriptorStructFields)),
  specDescriptors: createSliceType(createStructType('v1alpha1.SpecDescriptor', descriptorStructFields)),
  actionDescriptors: createSliceType(createStructType('v1alpha1.ActionDescriptor', descriptorStructFields)),
}

export const apiServiceDescriptionStructType = createStructType('v1alpha1.APIServiceDescription', {
  ...crdDescriptionStructFields,
  group: stringType,
  deploymentName: stringType,
  containerPort: int32Type,
})
export const crdDescriptionStructType = createStructType(
  'v1alpha1.CRDDescription',
  crdDescriptionStructFields,
)
export const appLinkStructType = createStructType('v1alpha1.AppLink', { name: stringType, url: stringType })

export const installModesType = createSliceType(
  createStructType('v1alpha1.InstallMode', {
    type: createNamedStringType('v1alpha1.InstallModeType'),
    supported: boolType,
  }),
)
export const maintainersType = createSliceType(
  createStructType('v1alpha1.Maintainer', { name: stringType, email: stringType }),
)

const csvMetadataStructType = createStructType('property.CSVMetadata', {
  annotations: createMapType(stringType),
  apiServiceDefinitions: createStructType('v1alpha1.APIServiceDefinitions', {
    owned: createSliceType(apiServiceDescriptionStructType),
    required: createSliceType(apiServiceDescriptionStructType),
  }),
  crdDescriptions: createStructType('v1alpha1.CustomResourceDefinitions', {
    owned: createSliceType(crdDescriptionStructType),
    required: createSliceType(crdDescriptionStructType),
  }),
  description: stringType,
  displayName: stringType,
  installModes: installModesType,
  keywords: createSliceType(stringType),
  labels: createMapType(stringType),
  links: createSliceType(appLinkStructType),
  maintainers: maintainersType,
  maturity: stringType,
  minKubeVersion: stringType,
  nativeAPIs: createSliceType(createStructType('v1.GroupVersionKind', gvkStructFields)),
  provider: appLinkStructType,
})

const bundleObjectStructType = createStructType('property.BundleObject', { data: bytesType })

export const structTypeByPropertyType: ReadonlyMap<string, StructType> = new Map([
  [
    'olm.package',
    createStructType('property.Package', {
      packageName: stringType,
      version: stringType,
      release: stringType,
    }),
  ],
  [
    'olm.package.required',
    createStructType('property.PackageRequired', { packageName: stringType, versionRange: stringType }),
  ],
  ['olm.channel', createStructType('property.Channel', { channelName: stringType })],
  ['olm.gvk', createStructType('property.GVK', gvkStructFields)],
  ['olm.gvk.required', createStructType('property.GVKRequired', gvkStructFields)],
  ['olm.bundle.object', bundleObjectStructType],
  ['olm.csv.metadata', csvMetadataStructType],
])

const empty: BundleObjectSummary = { apiVersion: '', kind: '', name: '', bytes: 0 }

/** `previous` is the data of the bundle's previous property. `forVerdict` allows an empty summary. */
export function parseBundleObject(
  value: ParsedValue | undefined,
  previous: () => Uint8Array = createEmptyBytes,
  forVerdict = false,
): ParsedBundleObject {
  const skimmed = tryParseBundleObjectFast(value, forVerdict)
  if (skimmed) return { summary: skimmed, data: () => decodeBundleObjectData(value, previous) }
  if (!value) return { summary: empty, data: previous, problem: 'unexpected end of JSON input' }
  const { decoded, problems } = decodeGoStruct(bundleObjectStructType, value, undefined, [
    ['data', previous()],
  ])
  const first = problems[0]
  if (first) return { summary: empty, data: previous, problem: first.message }
  const found = decoded.fields.get('data')
  const bytes = found instanceof Uint8Array ? found : createEmptyBytes()
  const data = (): Uint8Array => bytes
  const manifest = parseManifest(bytes)
  if (typeof manifest === 'string') return { summary: empty, data, problem: manifest }
  return { summary: { ...getManifestIdentity(manifest.value), bytes: bytes.length }, data }
}

/** The fast path for a value that contains only `data` with a JSON manifest. */
function tryParseBundleObjectFast(
  value: ParsedValue | undefined,
  forVerdict: boolean,
): BundleObjectSummary | undefined {
  const data = value?.kind === 'map' && value.entries.length === 1 ? getMapValue(value, 'data') : undefined
  // opm does not validate text that begins with a brace.
  if (forVerdict && data?.kind === 'string' && data.isBase64OfJson === true) return empty
  return data?.kind === 'string' ? trySummarizeBundleObject(data.value) : undefined
}

function decodeBundleObjectData(value: ParsedValue | undefined, previous: () => Uint8Array): Uint8Array {
  const found = value && decodeGoStruct(bundleObjectStructType, value).decoded.fields.get('data')
  return found instanceof Uint8Array ? found : previous()
}

/** opm's error for a bundle object that it cannot convert or parse. */
export function formatBundleObjectError(
  bundle: { name: string; package: string },
  index: number,
  problem: string,
): string {
  const convert =
    problem.startsWith('yaml: ') ||
    problem.startsWith('json: unsupported') ||
    problem.startsWith('unsupported map key')
  const action = convert
    ? `convert bundle object property at index ${index} to JSON`
    : `parse property at index ${index} as bundle object`
  return `read bundle objects: package ${quoteLikeGo(bundle.package)}, bundle ${quoteLikeGo(bundle.name)}: ${action}: ${problem}`
}

/** Returns the manifest or an error. Like opm, does not validate text that starts with a brace. */
export function parseManifest(data: Uint8Array): { value: ParsedValue | undefined } | string {
  const text = trimLeadingSpace(decodeUtf8LikeGo(data))
  if (text.startsWith('{')) return { value: tryReadJson(text)?.value }
  const result = readYaml(decodeYaml(data))
  if (result.ok) return { value: result.value }
  return result.error.stage === 'converting' ? result.error.message : { value: undefined }
}

function getManifestIdentity(manifest: ParsedValue | undefined): Omit<BundleObjectSummary, 'bytes'> {
  return {
    apiVersion: copyStringFieldOrEmpty(manifest, 'apiVersion'),
    kind: copyStringFieldOrEmpty(manifest, 'kind'),
    name: copyStringFieldOrEmpty(getMapValue(manifest, 'metadata'), 'name'),
  }
}

function copyStringFieldOrEmpty(value: ParsedValue | undefined, key: string): string {
  const found = getMapValue(value, key)
  return found?.kind === 'string' ? detachStringFromParent(found.value) : ''
}

/** Returns undefined for base64 with line ends or bad padding and for manifests that require the exact reader. */
function trySummarizeBundleObject(base64: string): BundleObjectSummary | undefined {
  // 'e' is the first base64 letter of an opening brace.
  const json = base64.startsWith('e') ? decodeSingleLineBase64(base64) : undefined
  const manifest = json === undefined || mayExceedJsonDepth(json) ? undefined : tryParseJson(json)
  if (json === undefined || !isJsonObject(manifest)) return undefined
  const { apiVersion: version, kind: type, metadata } = manifest
  const [apiVersion, kind, name] = [version, type, isJsonObject(metadata) ? metadata['name'] : ''].map(
    (text) => (typeof text === 'string' ? text : ''),
  ) as [string, string, string]
  // Each character of `json` is one byte, so the exact reader must decode other text.
  if (!/^[ -~]*$/.test(apiVersion + kind + name)) return undefined
  return { apiVersion, kind, name, bytes: json.length }
}

/** JSON.parse has no limit. */
function mayExceedJsonDepth(json: string): boolean {
  return json.length > 2 * maxJsonDepth && (json.match(/[[{]/g)?.length ?? 0) > maxJsonDepth
}
