// PAX extended header records (POSIX.1-2001, pax): `LENGTH KEY=VALUE\n`, the length counting itself. Rejects what Go
// reads differently from others.
import { latin1, refused, textOf } from './tar-header.ts'

/** Other keys (owners, times, attributes) do not matter here. */
export interface PaxRecords {
  readonly path?: string
  readonly linkpath?: string
  readonly size?: number
}

// Digits of a length; five already exceed the largest header that is read.
const longestLength = 6
const wholeNumber = /^-?\d{1,18}$/
const time = /^-?\d{1,18}(?:\.\d*)?$/
const numbers: ReadonlyMap<string, RegExp> = new Map([
  ['uid', wholeNumber],
  ['gid', wholeNumber],
  ['atime', time],
  ['mtime', time],
  ['ctime', time],
])

/** Throws a RegistryError `unsupported`. */
export function readPaxRecords(bytes: Uint8Array): PaxRecords {
  const found: { path?: string; linkpath?: string; size?: number } = {}
  for (const [key, value] of records(bytes)) {
    if (key === 'path' || key === 'linkpath') {
      const text = textOf(value)
      // Go ignores an empty value; in the standard it removes an earlier one.
      if (text === '') throw refused(`an extended header has an empty ${key}`)
      if (text.includes('\0')) throw refused(`an extended header has a NUL in its ${key}`)
      found[key] = text
    } else if (key === 'size') {
      if (!/^\d{1,15}$/.test(latin1(value))) throw refused('an entry has no valid size')
      found.size = Number(latin1(value))
    } else checkValue(key, value)
  }
  return found
}

/**
 * Rejects global headers with records other than comments (git writes the commit there): Go ignores them, others do
 * not.
 */
export function checkGlobalRecords(bytes: Uint8Array): void {
  for (const [key] of records(bytes))
    if (key !== 'comment')
      throw refused(`a global header says ${JSON.stringify(key.slice(0, 100))} of all entries`)
}

/** Rejects values that end Go's reading. */
function checkValue(key: string, value: Uint8Array): void {
  const pattern = numbers.get(key)
  if (pattern !== undefined && value.length > 0 && !pattern.test(latin1(value)))
    throw refused(`an extended header has no valid ${key}`)
  if ((key === 'uname' || key === 'gname') && value.includes(0))
    throw refused(`an extended header has a NUL in its ${key}`)
}

function records(bytes: Uint8Array): ReadonlyMap<string, Uint8Array> {
  const found = new Map<string, Uint8Array>()
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at)
    const digits = space < 0 || space - at > longestLength ? '' : latin1(bytes.subarray(at, space))
    const end = /^[1-9]\d*$/.test(digits) ? at + Number(digits) : 0
    const equals = bytes.indexOf(0x3d, space)
    if (end > bytes.length || equals <= space + 1 || equals >= end - 1 || bytes[end - 1] !== 0x0a)
      throw refused('an extended header of it is damaged')
    const key = latin1(bytes.subarray(space + 1, equals))
    if (key.includes('\0')) throw refused('an extended header of it is damaged')
    if (key.startsWith('GNU.sparse.')) throw refused('it has sparse files')
    if (found.has(key)) throw refused(`an extended header says ${JSON.stringify(key.slice(0, 100))} twice`)
    found.set(key, bytes.subarray(equals + 1, end - 1))
    at = end
  }
  return found
}
