// The property types whose values opm decodes. Other types can contain any JSON.
import type { StructType } from '../go/decode/go-type.ts'
import {
  bool,
  bytes,
  int32,
  mapOf,
  namedString,
  rawMessage,
  slice,
  string,
  struct,
} from '../go/decode/go-type.ts'

export const gvkFields = { group: string, kind: string, version: string }

const descriptorFields = {
  path: string,
  displayName: string,
  description: string,
  'x-descriptors': slice(string),
  value: rawMessage,
}

const crdDescriptionFields = {
  name: string,
  version: string,
  kind: string,
  displayName: string,
  description: string,
  resources: slice(struct('v1alpha1.APIResourceReference', { name: string, kind: string, version: string })),
  statusDescriptors: slice(struct('v1alpha1.StatusDescriptor', descriptorFields)),
  specDescriptors: slice(struct('v1alpha1.SpecDescriptor', descriptorFields)),
  actionDescriptors: slice(struct('v1alpha1.ActionDescriptor', descriptorFields)),
}

export const apiServiceDescriptionType = struct('v1alpha1.APIServiceDescription', {
  ...crdDescriptionFields,
  group: string,
  deploymentName: string,
  containerPort: int32,
})
export const crdDescriptionType = struct('v1alpha1.CRDDescription', crdDescriptionFields)
export const appLinkType = struct('v1alpha1.AppLink', { name: string, url: string })

const csvMetadataType = struct('property.CSVMetadata', {
  annotations: mapOf(string),
  apiServiceDefinitions: struct('v1alpha1.APIServiceDefinitions', {
    owned: slice(apiServiceDescriptionType),
    required: slice(apiServiceDescriptionType),
  }),
  crdDescriptions: struct('v1alpha1.CustomResourceDefinitions', {
    owned: slice(crdDescriptionType),
    required: slice(crdDescriptionType),
  }),
  description: string,
  displayName: string,
  installModes: slice(
    struct('v1alpha1.InstallMode', { type: namedString('v1alpha1.InstallModeType'), supported: bool }),
  ),
  keywords: slice(string),
  labels: mapOf(string),
  links: slice(appLinkType),
  maintainers: slice(struct('v1alpha1.Maintainer', { name: string, email: string })),
  maturity: string,
  minKubeVersion: string,
  nativeAPIs: slice(struct('v1.GroupVersionKind', gvkFields)),
  provider: appLinkType,
})

export const bundleObjectType = struct('property.BundleObject', { data: bytes })

export const propertyTypes: ReadonlyMap<string, StructType> = new Map([
  ['olm.package', struct('property.Package', { packageName: string, version: string, release: string })],
  ['olm.package.required', struct('property.PackageRequired', { packageName: string, versionRange: string })],
  ['olm.channel', struct('property.Channel', { channelName: string })],
  ['olm.gvk', struct('property.GVK', gvkFields)],
  ['olm.gvk.required', struct('property.GVKRequired', gvkFields)],
  ['olm.bundle.object', bundleObjectType],
  ['olm.csv.metadata', csvMetadataType],
])
