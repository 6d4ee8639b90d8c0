// Parses one tar header block (V7, USTAR, GNU). Rejects headers that Go's archive/tar could read as another number,
// name, or format.
import { RegistryError } from '../registry-error.ts'

/** Other keys (owners, times, attributes) do not matter here. */
export interface PaxRecords {
  readonly path?: string
  readonly linkpath?: string
  readonly size?: number
}

// The maximum number of digits. Five digits already exceed the largest accepted header.
const maxPaxLengthDigits = 6

const paxIntegerPattern = /^-?\d{1,18}$/

const paxTimePattern = /^-?\d{1,18}(?:\.\d*)?$/

const valuePatternByPaxKey: ReadonlyMap<string, RegExp> = new Map([
  ['uid', paxIntegerPattern],
  ['gid', paxIntegerPattern],
  ['atime', paxTimePattern],
  ['mtime', paxTimePattern],
  ['ctime', paxTimePattern],
])

export interface TarHeader {
  /** The type flag, one character. */
  readonly type: string
  /** Includes the prefix. Bytes, because an extended header may replace an undecodable name. */
  readonly name: Uint8Array
  readonly link: Uint8Array
  readonly size: number
}

export const tarBlockBytes = 512

/** Throws a RegistryError `unsupported`. */
export function parseTarHeader(header: Uint8Array): TarHeader {
  // Go also accepts a signed checksum (Sun's tar), which differs only for names outside ASCII.
  if (parseOctal(header.subarray(148, 156)) !== computeTarChecksums(header)[0])
    throw createRejectedImageError('the archive contains a damaged header')
  const form = detectTarFormat(header)
  const fields = form === 'v7' ? tarNumericFieldRanges : ustarNumericFieldRanges
  for (const [start, end] of fields)
    if (parseTarNumber(header.subarray(start, end)) === undefined)
      throw createRejectedImageError('a header contains an invalid number')
  const size = parseTarNumber(header.subarray(124, 136)) ?? -1
  if (!Number.isSafeInteger(size) || size < 0) throw createRejectedImageError('an entry has an invalid size')
  const name = sliceUntilNul(header.subarray(0, 100))
  const prefix = form === 'ustar' ? sliceUntilNul(header.subarray(345, 500)) : emptyBytes
  return {
    type: String.fromCharCode(header[156] ?? 0),
    name: prefix.length === 0 ? name : Uint8Array.from([...prefix, slashByte, ...name]),
    link: sliceUntilNul(header.subarray(157, 257)),
    size,
  }
}

/** Whether some reader would treat the block as a header because its signed or unsigned checksum matches. */
export function isTarHeader(block: Uint8Array): boolean {
  if (block.length < tarBlockBytes) return false
  const written = decodeLatin1(block.subarray(148, 156))
    .replace(/^[ \0]+/, '')
    .replace(/[ \0].*$/s, '')
  return /^[0-7]{1,8}$/.test(written) && computeTarChecksums(block).includes(Number.parseInt(written, 8))
}

/** Rejects names that are not UTF-8, because two could decode to the same text. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8Decoder.decode(bytes)
  } catch (cause) {
    throw createRejectedImageError('the archive contains a name that is not UTF-8', cause)
  }
}

export function sliceUntilNul(bytes: Uint8Array): Uint8Array {
  const end = bytes.indexOf(0)
  return end < 0 ? bytes : bytes.subarray(0, end)
}

const decodeLatin1 = (bytes: Uint8Array): string => String.fromCharCode(...bytes)

export function createRejectedImageError(reason: string, cause?: unknown): RegistryError {
  return new RegistryError('unsupported', `catalog-bot rejects the image because ${reason}`, { cause })
}

const emptyBytes = new Uint8Array(0)
const slashByte = 0x2f
// Preserves the byte order mark.
const utf8Decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Mode, user, group, and time don't matter here, but Go fails if they are not numbers. */
const tarNumericFieldRanges = [
  [100, 108],
  [108, 116],
  [116, 124],
  [136, 148],
] as const
const ustarNumericFieldRanges = [...tarNumericFieldRanges, [329, 337], [337, 345]] as const

function detectTarFormat(header: Uint8Array): 'v7' | 'ustar' | 'gnu' {
  const magic = decodeLatin1(header.subarray(257, 265))
  if (magic.startsWith('ustar\0')) {
    // Schily's star has a shorter prefix.
    if (decodeLatin1(header.subarray(508, 512)) === 'tar\0')
      throw createRejectedImageError('the archive contains a header in the star format')
    return 'ustar'
  }
  if (magic === 'ustar  \0') {
    // Go reads invalid times as a prefix, which its own writer once put there (golang.org/issue/12594).
    for (const start of [345, 357])
      if (header[start] !== 0 && parseTarNumber(header.subarray(start, start + 12)) === undefined)
        throw createRejectedImageError('a GNU header has a prefix')
    return 'gnu'
  }
  if (/^\0*$/.test(magic)) return 'v7'
  throw createRejectedImageError('the archive contains a header in an unknown format')
}

function parseTarNumber(field: Uint8Array): number | undefined {
  return ((field[0] ?? 0) & 0x80) === 0 ? parseOctal(field) : parseBase256(field)
}

/** Spaces, digits, then spaces and NULs. Readers disagree on anything else. */
function parseOctal(field: Uint8Array): number | undefined {
  let at = 0
  let value = 0
  while (field[at] === 0x20) at += 1
  for (let digit = field[at]; digit !== undefined && digit >= 0x30 && digit <= 0x37; digit = field[at]) {
    value = value * 8 + digit - 0x30
    at += 1
  }
  for (; at < field.length; at += 1) if (field[at] !== 0x20 && field[at] !== 0) return undefined
  return value
}

/** GNU's format for large numbers: two's complement with the first bit set. */
function parseBase256(field: Uint8Array): number | undefined {
  const inverse = ((field[0] ?? 0) & 0x40) === 0 ? 0 : 0xff
  let value = 0
  for (const [index, byte] of field.entries())
    value = value * 256 + ((byte ^ inverse) & (index === 0 ? 0x7f : 0xff))
  if (value >= 2 ** 63) return undefined
  return inverse === 0 ? value : -value - 1
}

/** Unsigned and signed sums, with the checksum field read as spaces. */
function computeTarChecksums(header: Uint8Array): readonly [number, number] {
  let unsigned = 8 * 0x20
  let negative = 0
  for (let at = 0; at < tarBlockBytes; at += 1) {
    if (at >= 148 && at < 156) continue
    const byte = header[at] ?? 0
    unsigned += byte
    if (byte > 0x7f) negative += 256
  }
  return [unsigned, unsigned - negative]
}

/**
 * PAX extended header records (POSIX.1-2001, pax): `LENGTH KEY=VALUE\n`, where the length includes itself. Rejects
 * records that Go reads differently from others. Throws a RegistryError `unsupported`.
 */
export function parsePaxRecords(bytes: Uint8Array): PaxRecords {
  const found: { path?: string; linkpath?: string; size?: number } = {}
  for (const [key, value] of splitPaxRecords(bytes)) {
    if (key === 'path' || key === 'linkpath') {
      const text = decodeUtf8(value)
      // Go ignores an empty value. In the standard, it removes an earlier one.
      if (text === '') throw createRejectedImageError(`an extended header has an empty ${key}`)
      if (text.includes('\0'))
        throw createRejectedImageError(`the ${key} in an extended header contains a NUL`)
      found[key] = text
    } else if (key === 'size') {
      if (!/^\d{1,15}$/.test(decodeLatin1(value)))
        throw createRejectedImageError('an entry has an invalid size')
      found.size = Number(decodeLatin1(value))
    } else checkPaxValue(key, value)
  }
  return found
}

/** Rejects global headers with records other than git's comments. Go ignores such records; others don't. */
export function checkGlobalPaxRecords(bytes: Uint8Array): void {
  for (const [key] of splitPaxRecords(bytes))
    if (key !== 'comment')
      throw createRejectedImageError(
        `a global header sets ${JSON.stringify(key.slice(0, 100))} for all entries`,
      )
}

/** Rejects values that make Go stop reading. */
function checkPaxValue(key: string, value: Uint8Array): void {
  const pattern = valuePatternByPaxKey.get(key)
  if (pattern !== undefined && value.length > 0 && !pattern.test(decodeLatin1(value)))
    throw createRejectedImageError(`an extended header has an invalid ${key}`)
  if ((key === 'uname' || key === 'gname') && value.includes(0))
    throw createRejectedImageError(`the ${key} in an extended header contains a NUL`)
}

function splitPaxRecords(bytes: Uint8Array): ReadonlyMap<string, Uint8Array> {
  const found = new Map<string, Uint8Array>()
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at)
    const digits = space < 0 || space - at > maxPaxLengthDigits ? '' : decodeLatin1(bytes.subarray(at, space))
    const end = /^[1-9]\d*$/.test(digits) ? at + Number(digits) : 0
    const equals = bytes.indexOf(0x3d, space)
    if (end > bytes.length || equals <= space + 1 || equals >= end - 1 || bytes[end - 1] !== 0x0a)
      throw createRejectedImageError('the archive contains a damaged extended header')
    const key = decodeLatin1(bytes.subarray(space + 1, equals))
    if (key.includes('\0')) throw createRejectedImageError('the archive contains a damaged extended header')
    if (key.startsWith('GNU.sparse.')) throw createRejectedImageError('the archive contains sparse files')
    if (found.has(key))
      throw createRejectedImageError(`an extended header contains ${JSON.stringify(key.slice(0, 100))} twice`)
    found.set(key, bytes.subarray(equals + 1, end - 1))
    at = end
  }
  return found
}
