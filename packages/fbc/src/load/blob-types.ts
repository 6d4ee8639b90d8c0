// The types of the four OLM blobs, as opm v1.73 declares them.
import { bytes, rawMessage, slice, string, struct } from '../go/decode/go-type.ts'

const propertyStructType = struct('property.Property', { type: string, value: rawMessage })

export const packageStructType = struct('declcfg.Package', {
  schema: string,
  name: string,
  defaultChannel: string,
  icon: struct('declcfg.Icon', { base64data: bytes, mediatype: string }),
  description: string,
  properties: slice(propertyStructType),
})

export const channelStructType = struct('declcfg.Channel', {
  schema: string,
  name: string,
  package: string,
  entries: slice(
    struct('declcfg.ChannelEntry', {
      name: string,
      replaces: string,
      skips: slice(string),
      skipRange: string,
    }),
  ),
  properties: slice(propertyStructType),
})

export const bundleStructType = struct('declcfg.Bundle', {
  schema: string,
  name: string,
  package: string,
  image: string,
  properties: slice(propertyStructType),
  relatedImages: slice(struct('declcfg.RelatedImage', { name: string, image: string })),
})

export const deprecationStructType = struct('declcfg.Deprecation', {
  schema: string,
  package: string,
  entries: slice(
    struct('declcfg.DeprecationEntry', {
      reference: struct('declcfg.PackageScopedReference', { schema: string, name: string }),
      message: string,
    }),
  ),
})
