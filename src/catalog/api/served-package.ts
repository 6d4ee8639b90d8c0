// What opm serves of an olm.package and an olm.channel blob beyond their facts: the icon itself, and whether a list that
// holds nothing was written at all. Reads blobs that opm accepts; judges nothing.
import { decode, structsOf, textOf } from '../../go/decode/decode.ts'
import type { Value } from '../../go/tree.ts'
import { channelType, packageType } from '../load/blob-types.ts'

export interface ServedPackage {
  readonly name: string
  readonly description: string
  /** Absent where the blob has none. `data` is null where the icon has none: Go writes that in another way. */
  readonly icon?: { readonly data: Uint8Array | null; readonly mediaType: string }
}

export interface ServedChannel {
  readonly package: string
  readonly name: string
  /** Entries whose `skips` are written, though they may be empty. */
  readonly withSkips: ReadonlySet<string>
}

export function readServedPackage(value: Value): ServedPackage {
  const { decoded } = decode(packageType, value)
  const icon = decoded.fields.get('icon')
  const isThere = typeof icon === 'object' && 'fields' in icon
  const data = isThere ? icon.fields.get('base64data') : undefined
  return {
    name: textOf(decoded, 'name'),
    description: textOf(decoded, 'description'),
    ...(isThere && {
      icon: { data: data instanceof Uint8Array ? data : null, mediaType: textOf(icon, 'mediatype') },
    }),
  }
}

export function readServedChannel(value: Value): ServedChannel {
  const { decoded } = decode(channelType, value)
  const entries = structsOf(decoded, 'entries').filter(({ fields }) => Array.isArray(fields.get('skips')))
  return {
    package: textOf(decoded, 'package'),
    name: textOf(decoded, 'name'),
    withSkips: new Set(entries.map((entry) => textOf(entry, 'name'))),
  }
}
