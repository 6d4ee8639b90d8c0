// The types of the four OLM blobs, as opm v1.73 declares them.
import {
  bytesType,
  rawMessageType,
  createSliceType,
  stringType,
  createStructType,
} from '../go/decode/go-type.ts'

const propertyStructType = createStructType('property.Property', { type: stringType, value: rawMessageType })

export const packageStructType = createStructType('declcfg.Package', {
  schema: stringType,
  name: stringType,
  defaultChannel: stringType,
  icon: createStructType('declcfg.Icon', { base64data: bytesType, mediatype: stringType }),
  description: stringType,
  properties: createSliceType(propertyStructType),
})

export const channelStructType = createStructType('declcfg.Channel', {
  schema: stringType,
  name: stringType,
  package: stringType,
  entries: createSliceType(
    createStructType('declcfg.ChannelEntry', {
      name: stringType,
      replaces: stringType,
      skips: createSliceType(stringType),
      skipRange: stringType,
    }),
  ),
  properties: createSliceType(propertyStructType),
})

export const bundleStructType = createStructType('declcfg.Bundle', {
  schema: stringType,
  name: stringType,
  package: stringType,
  image: stringType,
  properties: createSliceType(propertyStructType),
  relatedImages: createSliceType(
    createStructType('declcfg.RelatedImage', { name: stringType, image: stringType }),
  ),
})

export const deprecationStructType = createStructType('declcfg.Deprecation', {
  schema: stringType,
  package: stringType,
  entries: createSliceType(
    createStructType('declcfg.DeprecationEntry', {
      reference: createStructType('declcfg.PackageScopedReference', { schema: stringType, name: stringType }),
      message: stringType,
    }),
  ),
})
