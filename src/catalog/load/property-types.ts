// The property types whose values opm decodes; other types can hold any JSON.
import type { StructType } from '../../go/decode/go-type.ts'
import {
  bool,
  bytes,
  int32,
  mapOf,
  namedString,
  raw,
  slice,
  string,
  struct,
} from '../../go/decode/go-type.ts'

export const gvk = { group: string, kind: string, version: string }

const descriptor = {
  path: string,
  displayName: string,
  description: string,
  'x-descriptors': slice(string),
  value: raw,
}

const described = {
  name: string,
  version: string,
  kind: string,
  displayName: string,
  description: string,
  resources: slice(struct('v1alpha1.APIResourceReference', { name: string, kind: string, version: string })),
  statusDescriptors: slice(struct('v1alpha1.StatusDescriptor', descriptor)),
  specDescriptors: slice(struct('v1alpha1.SpecDescriptor', descriptor)),
  actionDescriptors: slice(struct('v1alpha1.ActionDescriptor', descriptor)),
}

export const apiServiceDescription = struct('v1alpha1.APIServiceDescription', {
  ...described,
  group: string,
  deploymentName: string,
  containerPort: int32,
})
export const crdDescription = struct('v1alpha1.CRDDescription', described)
export const appLink = struct('v1alpha1.AppLink', { name: string, url: string })

const csvMetadata = struct('property.CSVMetadata', {
  annotations: mapOf(string),
  apiServiceDefinitions: struct('v1alpha1.APIServiceDefinitions', {
    owned: slice(apiServiceDescription),
    required: slice(apiServiceDescription),
  }),
  crdDescriptions: struct('v1alpha1.CustomResourceDefinitions', {
    owned: slice(crdDescription),
    required: slice(crdDescription),
  }),
  description: string,
  displayName: string,
  installModes: slice(
    struct('v1alpha1.InstallMode', { type: namedString('v1alpha1.InstallModeType'), supported: bool }),
  ),
  keywords: slice(string),
  labels: mapOf(string),
  links: slice(appLink),
  maintainers: slice(struct('v1alpha1.Maintainer', { name: string, email: string })),
  maturity: string,
  minKubeVersion: string,
  nativeAPIs: slice(struct('v1.GroupVersionKind', gvk)),
  provider: appLink,
})

export const bundleObjectType = struct('property.BundleObject', { data: bytes })

export const propertyTypes: ReadonlyMap<string, StructType> = new Map([
  ['olm.package', struct('property.Package', { packageName: string, version: string, release: string })],
  ['olm.package.required', struct('property.PackageRequired', { packageName: string, versionRange: string })],
  ['olm.channel', struct('property.Channel', { channelName: string })],
  ['olm.gvk', struct('property.GVK', gvk)],
  ['olm.gvk.required', struct('property.GVKRequired', gvk)],
  ['olm.bundle.object', bundleObjectType],
  ['olm.csv.metadata', csvMetadata],
])
