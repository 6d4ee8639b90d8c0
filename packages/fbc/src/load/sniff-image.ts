// Detects an image's media type from its first bytes, as browsers do.

/** In bytes. An SVG can start with a declaration, comments, and a document type. */
const maxSniffBytes = 4096

const imageSignatures: readonly (readonly [mediatype: string, at: number, bytes: readonly number[]])[] = [
  ['image/png', 0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ['image/jpeg', 0, [0xff, 0xd8, 0xff]],
  ['image/gif', 0, [0x47, 0x49, 0x46, 0x38]],
  ['image/webp', 8, [0x57, 0x45, 0x42, 0x50]],
  ['image/bmp', 0, [0x42, 0x4d]],
  ['image/x-icon', 0, [0x00, 0x00, 0x01, 0x00]],
  ['image/tiff', 0, [0x49, 0x49, 0x2a, 0x00]],
  ['image/tiff', 0, [0x4d, 0x4d, 0x00, 0x2a]],
]

const mediaTypeByRootElement: Readonly<Record<string, string>> = {
  svg: 'image/svg+xml',
  html: 'text/html',
  head: 'text/html',
  body: 'text/html',
}

/** Can also return `text/html` and `application/gzip`, because catalogs contain both. */
export function sniffImage(bytes: Uint8Array): string | undefined {
  for (const [mediatype, at, wanted] of imageSignatures) {
    if (wanted.every((byte, index) => bytes[at + index] === byte)) return mediatype
  }
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return 'application/gzip'
  const text = new TextDecoder().decode(bytes.subarray(0, maxSniffBytes)).trimStart()
  if (!text.startsWith('<')) return undefined
  const root = /<(?![!?])(?:[\w-]+:)?([a-z]+)/i.exec(text.replace(/<!--[\s\S]*?(?:-->|$)/g, ''))
  return mediaTypeByRootElement[root?.[1]?.toLowerCase() ?? '']
}
