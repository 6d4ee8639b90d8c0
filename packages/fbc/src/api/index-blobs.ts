// The data that OLM's registry API needs from olm.package, olm.channel, and olm.deprecations blobs beyond their facts.
import { encodeBase64 } from '../go/base64.ts'
import {
  decodeGoStruct,
  getDecodedStructList,
  getDecodedStringField,
  getDecodedStringList,
} from '../go/decode/decode.ts'
import type { DecodedStruct } from '../go/decode/decoded.ts'
import type { ParsedValue } from '../go/tree.ts'
import { channelStructType, deprecationStructType, packageStructType } from '../load/blob-types.ts'
import type { BlobMeta } from '../load/meta.ts'

export interface PackageIndexBlobs {
  readonly packages: IndexPackageBlob[]
  readonly channels: IndexChannelBlob[]
  readonly deprecations: IndexDeprecationBlob[]
}

export interface IndexPackageBlob {
  readonly name: string
  readonly description: string
  readonly defaultChannel: string
  readonly icon?: PackageIcon
}

export interface PackageIcon {
  /** Base64; null if the icon has no data, which Go writes differently from empty data. */
  readonly data: string | null
  readonly mediaType: string
}

export interface IndexChannelBlob {
  readonly package: string
  readonly name: string
  readonly entries: readonly {
    readonly name: string
    readonly replaces: string
    readonly skips: readonly string[]
    /** Go writes an absent list differently from an empty one. */
    readonly hasSkips: boolean
    readonly skipRange: string
  }[]
}

export interface IndexDeprecationBlob {
  readonly package: string
  readonly schema: string
  readonly name: string
  readonly message: string
}

/** Returns false if the blob has another schema. */
export function addPackageIndexBlob(
  into: PackageIndexBlobs,
  { schema, value }: Pick<BlobMeta, 'schema' | 'value'>,
): boolean {
  if (schema === 'olm.package') into.packages.push(toIndexPackage(value))
  else if (schema === 'olm.channel') into.channels.push(toIndexChannel(value))
  else if (schema === 'olm.deprecations') into.deprecations.push(...toIndexDeprecations(value))
  else return false
  return true
}

function toIndexPackage(value: ParsedValue): IndexPackageBlob {
  const { decoded } = decodeGoStruct(packageStructType, value)
  const icon = getDecodedStructField(decoded, 'icon')
  const data = icon?.fields.get('base64data')
  return {
    name: getDecodedStringField(decoded, 'name'),
    description: getDecodedStringField(decoded, 'description'),
    defaultChannel: getDecodedStringField(decoded, 'defaultChannel'),
    ...(icon && {
      icon: {
        data: data instanceof Uint8Array ? encodeBase64(data) : null,
        mediaType: getDecodedStringField(icon, 'mediatype'),
      },
    }),
  }
}

function toIndexChannel(value: ParsedValue): IndexChannelBlob {
  const { decoded } = decodeGoStruct(channelStructType, value)
  return {
    package: getDecodedStringField(decoded, 'package'),
    name: getDecodedStringField(decoded, 'name'),
    entries: getDecodedStructList(decoded, 'entries').map((entry) => ({
      name: getDecodedStringField(entry, 'name'),
      replaces: getDecodedStringField(entry, 'replaces'),
      skips: getDecodedStringList(entry, 'skips'),
      hasSkips: Array.isArray(entry.fields.get('skips')),
      skipRange: getDecodedStringField(entry, 'skipRange'),
    })),
  }
}

function toIndexDeprecations(value: ParsedValue): readonly IndexDeprecationBlob[] {
  const { decoded } = decodeGoStruct(deprecationStructType, value)
  return getDecodedStructList(decoded, 'entries').map((entry) => {
    const reference = getDecodedStructField(entry, 'reference')
    return {
      package: getDecodedStringField(decoded, 'package'),
      schema: reference ? getDecodedStringField(reference, 'schema') : '',
      name: reference ? getDecodedStringField(reference, 'name') : '',
      message: getDecodedStringField(entry, 'message'),
    }
  })
}

function getDecodedStructField(decoded: DecodedStruct, field: string): DecodedStruct | undefined {
  const found = decoded.fields.get(field)
  return typeof found === 'object' && 'fields' in found ? found : undefined
}
