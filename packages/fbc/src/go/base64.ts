// Encodes and decodes standard base64 as Go does. The decoder requires padding and ignores CR and LF.

const base64ValueByCharCode = new Int8Array(128).fill(-1)
for (const [at, letter] of [
  ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
].entries()) {
  base64ValueByCharCode[letter.charCodeAt(0)] = at
}

/** The decoded bytes, or the offset (in UTF-8 bytes) that Go reports. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | number {
  const binary = decodeSingleLineBase64(text)
  if (binary !== undefined) {
    const bytes = new Uint8Array(binary.length)
    for (let at = 0; at < bytes.length; at++) bytes[at] = binary.charCodeAt(at)
    return bytes
  }
  const out = new Uint8Array(Math.ceil((text.length * 3) / 4))
  const { length } = text
  let size = 0
  let at = 0
  while (at < length) {
    // A group of four. For errors, Go reports the invalid byte, or the start of an incomplete group.
    let bits = 0
    let count = 0
    while (count < 4) {
      if (at >= length) {
        if (count === 0) return out.subarray(0, size)
        return countUtf8Bytes(text, length) - count
      }
      const c = text.charCodeAt(at)
      at++
      const value = c < 128 ? (base64ValueByCharCode[c] as number) : -1
      if (value >= 0) {
        bits = (bits << 6) | value
        count++
        continue
      }
      if (c === 0x0a || c === 0x0d) continue
      if (c !== 0x3d) return countUtf8Bytes(text, at - 1)
      return decodeBase64Padding(text, at, bits, count, out, size)
    }
    out[size++] = bits >> 16
    out[size++] = bits >> 8
    out[size++] = bits
  }
  return out.subarray(0, size)
}

/** Decodes base64 without line breaks with the faster platform decoder. Returns undefined for any other text. */
export function decodeSingleLineBase64(text: string): string | undefined {
  if (text.length % 4 !== 0) return undefined
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  try {
    const binary = atob(text)
    // atob ignores all whitespace, but Go ignores only line breaks. A shorter result reveals the difference.
    return binary.length === (text.length / 4) * 3 - padding ? binary : undefined
  } catch {
    return undefined
  }
}

/** Checks that only the required padding and line breaks follow the first `=`. */
function decodeBase64Padding(
  text: string,
  from: number,
  bits: number,
  count: number,
  out: Uint8Array<ArrayBuffer>,
  size: number,
): Uint8Array<ArrayBuffer> | number {
  let at = from
  if (count < 2) return countUtf8Bytes(text, at - 1)
  const skipLineEnds = (): void => {
    while (at < text.length && (text.charCodeAt(at) === 0x0a || text.charCodeAt(at) === 0x0d)) at++
  }
  if (count === 2) {
    skipLineEnds()
    if (at >= text.length) return countUtf8Bytes(text, text.length)
    // Go reports the previous byte: the padding, or the last line break after it.
    if (text.charCodeAt(at) !== 0x3d) return countUtf8Bytes(text, at) - 1
    at++
  }
  skipLineEnds()
  if (at < text.length) return countUtf8Bytes(text, at)
  const full = bits << (6 * (4 - count))
  out[size++] = full >> 16
  if (count === 3) out[size++] = full >> 8
  return out.subarray(0, size)
}

function countUtf8Bytes(text: string, end: number): number {
  let bytes = 0
  for (let at = 0; at < end; at++) {
    const c = text.charCodeAt(at)
    bytes += c < 0x80 ? 1 : c < 0x800 ? 2 : c >= 0xd800 && c <= 0xdfff ? 2 : 3
  }
  return bytes
}

export function encodeBase64(bytes: Uint8Array): string {
  const pieces: string[] = []
  // In chunks that end between groups and fit into the arguments of a call.
  for (let at = 0; at < bytes.length; at += 6144)
    pieces.push(
      btoa(String.fromCharCode.apply(undefined, bytes.subarray(at, at + 6144) as unknown as number[])),
    )
  return pieces.join('')
}
