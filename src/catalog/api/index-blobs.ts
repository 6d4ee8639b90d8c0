// What OLM's registry API needs from olm.package, olm.channel and olm.deprecations beyond their facts.
import { encodeBase64 } from '../../go/base64.ts'
import { decode, structsOf, textOf, textsOf } from '../../go/decode/decode.ts'
import type { Decoded } from '../../go/decode/decoded.ts'
import type { Value } from '../../go/tree.ts'
import { channelType, deprecationType, packageType } from '../load/blob-types.ts'
import type { Meta } from '../load/meta.ts'

export interface IndexBlobs {
  readonly packages: PackageBlob[]
  readonly channels: ChannelBlob[]
  readonly deprecations: DeprecationBlob[]
}

export interface PackageBlob {
  readonly name: string
  readonly description: string
  readonly defaultChannel: string
  readonly icon?: Icon
}

export interface Icon {
  /** Base64; null if the icon has no data, which Go writes differently from empty data. */
  readonly data: string | null
  readonly mediaType: string
}

export interface ChannelBlob {
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

export interface DeprecationBlob {
  readonly package: string
  readonly schema: string
  readonly name: string
  readonly message: string
}

/** Returns false if the blob has another schema. */
export function keepIndexBlob(into: IndexBlobs, { schema, value }: Pick<Meta, 'schema' | 'value'>): boolean {
  if (schema === 'olm.package') into.packages.push(readPackage(value))
  else if (schema === 'olm.channel') into.channels.push(readChannel(value))
  else if (schema === 'olm.deprecations') into.deprecations.push(...readDeprecations(value))
  else return false
  return true
}

function readPackage(value: Value): PackageBlob {
  const { decoded } = decode(packageType, value)
  const icon = structAt(decoded, 'icon')
  const data = icon?.fields.get('base64data')
  return {
    name: textOf(decoded, 'name'),
    description: textOf(decoded, 'description'),
    defaultChannel: textOf(decoded, 'defaultChannel'),
    ...(icon && {
      icon: {
        data: data instanceof Uint8Array ? encodeBase64(data) : null,
        mediaType: textOf(icon, 'mediatype'),
      },
    }),
  }
}

function readChannel(value: Value): ChannelBlob {
  const { decoded } = decode(channelType, value)
  return {
    package: textOf(decoded, 'package'),
    name: textOf(decoded, 'name'),
    entries: structsOf(decoded, 'entries').map((entry) => ({
      name: textOf(entry, 'name'),
      replaces: textOf(entry, 'replaces'),
      skips: textsOf(entry, 'skips'),
      hasSkips: Array.isArray(entry.fields.get('skips')),
      skipRange: textOf(entry, 'skipRange'),
    })),
  }
}

function readDeprecations(value: Value): readonly DeprecationBlob[] {
  const { decoded } = decode(deprecationType, value)
  return structsOf(decoded, 'entries').map((entry) => {
    const reference = structAt(entry, 'reference')
    return {
      package: textOf(decoded, 'package'),
      schema: reference ? textOf(reference, 'schema') : '',
      name: reference ? textOf(reference, 'name') : '',
      message: textOf(entry, 'message'),
    }
  })
}

function structAt(decoded: Decoded, field: string): Decoded | undefined {
  const found = decoded.fields.get(field)
  return typeof found === 'object' && 'fields' in found ? found : undefined
}
