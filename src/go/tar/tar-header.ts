// Writes tar headers byte for byte like Go's archive/tar, without owners and times: USTAR, preceded by a PAX record for
// long names. opm hashes such archives.

const block = 512
/** Limits of the name and prefix fields (POSIX.1-1988, ustar). */
const nameSize = 100
const prefixSize = 155
/** The limit of eleven octal digits; Go writes larger sizes as a PAX record. */
const largestSize = 8 ** 11 - 1

export interface TarMember {
  readonly kind: 'file' | 'directory'
  /** As in the archive; the caller decides whether directories end with a slash. */
  readonly name: string
  readonly mode: number
  readonly size: number
}

const encoder = new TextEncoder()

/** The blocks before a member's content. Names must not contain NUL, which tar cannot represent. */
export function tarHeader(member: TarMember): Uint8Array {
  if (member.size > largestSize) throw new Error('a file of 8 GiB has no place in a catalog')
  const name = encoder.encode(member.name)
  const isAscii = name.length === member.name.length
  if (isAscii && name.length <= nameSize) return filled(member, name, undefined)
  const split = isAscii ? splitName(member.name) : undefined
  if (split) return filled(member, encoder.encode(split.name), encoder.encode(split.prefix))
  const record = encoder.encode(paxRecord('path', member.name, name.length))
  const header = new Uint8Array(block + padded(record.length) + block)
  header.set(paxHeader(member.name, record.length))
  header.set(record, block)
  header.set(filled(member, encoder.encode(asciiOnly(member.name)), undefined), block + padded(record.length))
  return header
}

/** The number of zero bytes that fill the last block. */
export function tarPadding(size: number): number {
  return padded(size) - size
}

/** The number of zero bytes at the end of an archive. */
export const tarEnd = 2 * block

function padded(size: number): number {
  return Math.ceil(size / block) * block
}

function filled(member: TarMember, name: Uint8Array, prefix: Uint8Array | undefined): Uint8Array {
  const header = new Uint8Array(block)
  header.set(name.subarray(0, nameSize))
  octal(header, 100, 8, member.mode)
  octal(header, 108, 8, 0)
  octal(header, 116, 8, 0)
  octal(header, 124, 12, member.size)
  octal(header, 136, 12, 0)
  header[156] = member.kind === 'directory' ? 0x35 : 0x30
  octal(header, 329, 8, 0)
  octal(header, 337, 8, 0)
  if (prefix) header.set(prefix, 345)
  return signed(header)
}

/** Go leaves unused fields of this header empty. */
function paxHeader(name: string, size: number): Uint8Array {
  const slash = name.lastIndexOf('/')
  const directory = slash < 0 ? '' : `${name.slice(0, slash)}/`
  const shown = asciiOnly(`${directory}PaxHeaders.0/${name.slice(slash + 1)}`)
    .slice(0, nameSize)
    .replace(/\/+$/, '')
  const header = new Uint8Array(block)
  header.set(encoder.encode(shown))
  octal(header, 100, 8, 0)
  octal(header, 108, 8, 0)
  octal(header, 116, 8, 0)
  octal(header, 124, 12, size)
  octal(header, 136, 12, 0)
  header[156] = 0x78
  return signed(header)
}

function signed(header: Uint8Array): Uint8Array {
  header.set(magic, 257)
  header.fill(0x20, 148, 156)
  let sum = 0
  for (const byte of header) sum += byte
  octal(header, 148, 7, sum)
  header[155] = 0x20
  return header
}

/** `ustar`, NUL, and the version. */
const magic = encoder.encode('ustar\u000000')

function octal(header: Uint8Array, at: number, width: number, value: number): void {
  const digits = value.toString(8).padStart(width - 1, '0')
  for (let index = 0; index < digits.length; index++) header[at + index] = digits.charCodeAt(index)
  header[at + width - 1] = 0
}

function splitName(name: string): { readonly prefix: string; readonly name: string } | undefined {
  const most =
    name.length > prefixSize + 1 ? prefixSize + 1 : name.endsWith('/') ? name.length - 1 : name.length
  const slash = name.slice(0, most).lastIndexOf('/')
  const rest = name.slice(slash + 1)
  if (slash <= 0 || rest === '' || rest.length > nameSize || slash > prefixSize) return undefined
  return { prefix: name.slice(0, slash), name: rest }
}

/** `LENGTH KEY=VALUE` and a line feed; the length includes itself. */
function paxRecord(key: string, value: string, bytes: number): string {
  const rest = key.length + bytes + 3
  let length = rest + String(rest).length
  if (rest + String(length).length !== length) length = rest + String(length).length
  return `${length} ${key}=${value}\n`
}

function asciiOnly(text: string): string {
  return text.replace(/[^\x00-\x7f]/gu, '')
}
