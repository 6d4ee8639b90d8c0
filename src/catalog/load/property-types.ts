// The property types whose values opm decodes (facts 2.4, R19). All others may hold any JSON.
import type { StructType } from './go-type.ts'
import { bool, bytes, int32, mapOf, namedString, raw, slice, string, struct } from './go-type.ts'

const gvk = { group: string, kind: string, version: string }

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

const apiService = struct('v1alpha1.APIServiceDescription', {
  ...described,
  group: string,
  deploymentName: string,
  containerPort: int32,
})
const crd = struct('v1alpha1.CRDDescription', described)
const link = struct('v1alpha1.AppLink', { name: string, url: string })

const csvMetadata = struct('property.CSVMetadata', {
  annotations: mapOf(string),
  apiServiceDefinitions: struct('v1alpha1.APIServiceDefinitions', {
    owned: slice(apiService),
    required: slice(apiService),
  }),
  crdDescriptions: struct('v1alpha1.CustomResourceDefinitions', { owned: slice(crd), required: slice(crd) }),
  description: string,
  displayName: string,
  installModes: slice(
    struct('v1alpha1.InstallMode', { type: namedString('v1alpha1.InstallModeType'), supported: bool }),
  ),
  keywords: slice(string),
  labels: mapOf(string),
  links: slice(link),
  maintainers: slice(struct('v1alpha1.Maintainer', { name: string, email: string })),
  maturity: string,
  minKubeVersion: string,
  nativeAPIs: slice(struct('v1.GroupVersionKind', gvk)),
  provider: link,
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
