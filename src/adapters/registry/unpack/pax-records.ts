// PAX extended header records (POSIX.1-2001, pax): `LENGTH KEY=VALUE\n`, where the length includes itself. Rejects
// records that Go reads differently from others.
import { decodeLatin1, createRejectedArchiveError, decodeUtf8 } from './tar-header.ts'

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

/** Throws a RegistryError `unsupported`. */
export function parsePaxRecords(bytes: Uint8Array): PaxRecords {
  const found: { path?: string; linkpath?: string; size?: number } = {}
  for (const [key, value] of splitPaxRecords(bytes)) {
    if (key === 'path' || key === 'linkpath') {
      const text = decodeUtf8(value)
      // Go ignores an empty value. In the standard, it removes an earlier one.
      if (text === '') throw createRejectedArchiveError(`an extended header has an empty ${key}`)
      if (text.includes('\0'))
        throw createRejectedArchiveError(`the ${key} in an extended header contains a NUL`)
      found[key] = text
    } else if (key === 'size') {
      if (!/^\d{1,15}$/.test(decodeLatin1(value)))
        throw createRejectedArchiveError('an entry has an invalid size')
      found.size = Number(decodeLatin1(value))
    } else checkPaxValue(key, value)
  }
  return found
}

/**
 * Rejects global headers with records other than comments, where git writes the commit. Go ignores such records; others
 * don't.
 */
export function checkGlobalPaxRecords(bytes: Uint8Array): void {
  for (const [key] of splitPaxRecords(bytes))
    if (key !== 'comment')
      throw createRejectedArchiveError(
        `a global header sets ${JSON.stringify(key.slice(0, 100))} for all entries`,
      )
}

/** Rejects values that make Go stop reading. */
function checkPaxValue(key: string, value: Uint8Array): void {
  const pattern = valuePatternByPaxKey.get(key)
  if (pattern !== undefined && value.length > 0 && !pattern.test(decodeLatin1(value)))
    throw createRejectedArchiveError(`an extended header has an invalid ${key}`)
  if ((key === 'uname' || key === 'gname') && value.includes(0))
    throw createRejectedArchiveError(`the ${key} in an extended header contains a NUL`)
}

function splitPaxRecords(bytes: Uint8Array): ReadonlyMap<string, Uint8Array> {
  const found = new Map<string, Uint8Array>()
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at)
    const digits = space < 0 || space - at > maxPaxLengthDigits ? '' : decodeLatin1(bytes.subarray(at, space))
    const end = /^[1-9]\d*$/.test(digits) ? at + Number(digits) : 0
    const equals = bytes.indexOf(0x3d, space)
    if (end > bytes.length || equals <= space + 1 || equals >= end - 1 || bytes[end - 1] !== 0x0a)
      throw createRejectedArchiveError('it contains a damaged extended header')
    const key = decodeLatin1(bytes.subarray(space + 1, equals))
    if (key.includes('\0')) throw createRejectedArchiveError('it contains a damaged extended header')
    if (key.startsWith('GNU.sparse.')) throw createRejectedArchiveError('it contains sparse files')
    if (found.has(key))
      throw createRejectedArchiveError(
        `an extended header contains ${JSON.stringify(key.slice(0, 100))} twice`,
      )
    found.set(key, bytes.subarray(equals + 1, end - 1))
    at = end
  }
  return found
}
