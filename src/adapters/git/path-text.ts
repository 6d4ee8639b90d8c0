// Paths between git's bytes and our strings, without loss: a path in a tree is any bytes but NUL, not always UTF-8.
// A byte that is not part of valid UTF-8 becomes the lone surrogate U+DC00 + byte, which valid UTF-8 never yields;
// so two different paths never become the same string, and odd paths are checked (T08) instead of dropped.

const strictUtf8Decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function decodePath(bytes: Uint8Array): string {
  try {
    return strictUtf8Decoder.decode(bytes)
  } catch {
    return decodePathWithInvalidUtf8(bytes)
  }
}

export function encodePath(path: string): Buffer {
  if (path.isWellFormed()) return Buffer.from(path, 'utf8')
  const parts: Buffer[] = []
  for (const character of path) {
    const code = character.codePointAt(0) ?? 0
    if (code >= 0xdc80 && code <= 0xdcff) parts.push(Buffer.from([code - 0xdc00]))
    else parts.push(Buffer.from(character, 'utf8'))
  }
  return Buffer.concat(parts)
}

/** Order by UTF-16 units, the order of `<` on strings, whatever order git lists them in. */
export function compareByPath(a: { readonly path: string }, b: { readonly path: string }): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0
}

function decodePathWithInvalidUtf8(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length;) {
    const length = getUtf8SequenceLength(bytes, at)
    text +=
      length === 0
        ? String.fromCharCode(0xdc00 + (bytes[at] ?? 0))
        : strictUtf8Decoder.decode(bytes.subarray(at, at + length))
    at += Math.max(length, 1)
  }
  return text
}

/** How many bytes the valid UTF-8 sequence at `at` has; 0 if the bytes are not valid UTF-8. */
function getUtf8SequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0
  const length =
    first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0
  if (length === 0 || at + length > bytes.length) return 0
  try {
    strictUtf8Decoder.decode(bytes.subarray(at, at + length))
    return length
  } catch {
    return 0
  }
}
