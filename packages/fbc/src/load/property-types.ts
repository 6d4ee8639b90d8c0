// The property types whose values opm decodes. Other types can contain any JSON.
import type { StructType } from '../go/decode/go-type.ts'
import {
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

export const gvkFields = { group: stringType, kind: stringType, version: stringType }

const descriptorFields = {
  path: stringType,
  displayName: stringType,
  description: stringType,
  'x-descriptors': createSliceType(stringType),
  value: rawMessageType,
}

const crdDescriptionFields = {
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
  statusDescriptors: createSliceType(createStructType('v1alpha1.StatusDescriptor', descriptorFields)),
  specDescriptors: createSliceType(createStructType('v1alpha1.SpecDescriptor', descriptorFields)),
  actionDescriptors: createSliceType(createStructType('v1alpha1.ActionDescriptor', descriptorFields)),
}

export const apiServiceDescriptionStructType = createStructType('v1alpha1.APIServiceDescription', {
  ...crdDescriptionFields,
  group: stringType,
  deploymentName: stringType,
  containerPort: int32Type,
})
export const crdDescriptionStructType = createStructType('v1alpha1.CRDDescription', crdDescriptionFields)
export const appLinkStructType = createStructType('v1alpha1.AppLink', { name: stringType, url: stringType })

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
  installModes: createSliceType(
    createStructType('v1alpha1.InstallMode', {
      type: createNamedStringType('v1alpha1.InstallModeType'),
      supported: boolType,
    }),
  ),
  keywords: createSliceType(stringType),
  labels: createMapType(stringType),
  links: createSliceType(appLinkStructType),
  maintainers: createSliceType(
    createStructType('v1alpha1.Maintainer', { name: stringType, email: stringType }),
  ),
  maturity: stringType,
  minKubeVersion: stringType,
  nativeAPIs: createSliceType(createStructType('v1.GroupVersionKind', gvkFields)),
  provider: appLinkStructType,
})

export const bundleObjectStructType = createStructType('property.BundleObject', { data: bytesType })

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
  ['olm.gvk', createStructType('property.GVK', gvkFields)],
  ['olm.gvk.required', createStructType('property.GVKRequired', gvkFields)],
  ['olm.bundle.object', bundleObjectStructType],
  ['olm.csv.metadata', csvMetadataStructType],
])
