// Names that OLM generates from a base and a suffix, and truncates to the length of a label. The suffix is usually a
// hash of the object.
import type { Json } from '@catalog-bot/fbc/go/json/json'
import { decodeUtf8LikeGo } from '@catalog-bot/fbc/go/utf8'

const sha224InitialHash = [
  0xc1059ed8, 0x367cd507, 0x3070dd17, 0xf70e5939, 0xffc00b31, 0x68581511, 0x64f98fa7, 0xbefa4fa4,
] as const

/** The first 32 fractional bits of the cube roots of the first 64 primes. */
const sha224RoundConstants = Uint32Array.from(computeFirstPrimes(64), (prime) =>
  computeCubeRootFraction(prime),
)

const maxObjectNameBytes = 63

/** Truncates the base if both exceed 63 bytes. As in OLM, the dash doesn't count, so the result can have 64 bytes. */
export function formatObjectNameWithSuffix(base: string, suffix: string): string {
  const bytes = new TextEncoder().encode(base)
  const isLong = bytes.length + suffix.length > maxObjectNameBytes
  return `${isLong ? decodeUtf8LikeGo(bytes.subarray(0, maxObjectNameBytes - suffix.length - 1)) : base}-${suffix}`
}

/** The base with the hash of a value: base 36 of the SHA-224 of Go's JSON and a line feed. */
export function formatObjectNameWithHash(base: string, value: Json): string {
  const text = `${formatJsonWithGoEscapes(value)}\n`
  return formatObjectNameWithSuffix(
    base,
    BigInt(`0x${computeSha224(new TextEncoder().encode(text))}`).toString(36),
  )
}

/** Keeps the order of the fields, because a Go struct is written in the order of its type. */
function formatJsonWithGoEscapes(value: Json): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function computeFirstPrimes(count: number): number[] {
  const primes: number[] = []
  for (let candidate = 2; primes.length < count; candidate++)
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate)
  return primes
}

function computeCubeRootFraction(prime: number): number {
  // The root times 2^32, by integer bisection, because floats aren't precise enough.
  const wanted = BigInt(prime) << 96n
  let low = 0n
  let high = 1n << 36n
  while (high - low > 1n) {
    const middle = (low + high) >> 1n
    if (middle ** 3n <= wanted) low = middle
    else high = middle
  }
  return Number(low & 0xffffffffn)
}

// SHA-224 (FIPS 180-4) for OLM's generated names. Not for secrets.

/** Returns hexadecimal digits. */
export function computeSha224(bytes: Uint8Array): string {
  const state = Uint32Array.from(sha224InitialHash)
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64)
  padded.set(bytes)
  padded[bytes.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29))
  view.setUint32(padded.length - 4, (bytes.length << 3) >>> 0)
  for (let at = 0; at < padded.length; at += 64) compressSha224Block(state, view, at)
  return [...state.subarray(0, 7)].map((word) => word.toString(16).padStart(8, '0')).join('')
}

function compressSha224Block(state: Uint32Array, view: DataView, at: number): void {
  const words = new Uint32Array(64)
  const word = (index: number) => words[index] as number
  for (let index = 0; index < 16; index++) words[index] = view.getUint32(at + index * 4)
  for (let index = 16; index < 64; index++) {
    const [early, late] = [word(index - 15), word(index - 2)]
    const first = rotateRight(early, 7) ^ rotateRight(early, 18) ^ (early >>> 3)
    const second = rotateRight(late, 17) ^ rotateRight(late, 19) ^ (late >>> 10)
    words[index] = word(index - 16) + first + word(index - 7) + second
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [
    ...[number, number, number, number],
    ...[number, number, number, number],
  ]
  for (let index = 0; index < 64; index++) {
    const first = h + (rotateRight(e, 6) ^ rotateRight(e, 11) ^ rotateRight(e, 25)) + ((e & f) ^ (~e & g))
    const sum = (first + (sha224RoundConstants[index] as number) + word(index)) >>> 0
    const second =
      (rotateRight(a, 2) ^ rotateRight(a, 13) ^ rotateRight(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
    ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + sum) >>> 0, c, b, a, (sum + second) >>> 0]
  }
  for (const [index, value] of [a, b, c, d, e, f, g, h].entries())
    state[index] = (state[index] as number) + value
}

function rotateRight(value: number, by: number): number {
  return (value >>> by) | (value << (32 - by))
}
