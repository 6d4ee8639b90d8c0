// Archives a folder in the order of Go's tree walk, in which each directory comes before its contents.
import { comparePathsInWalkOrder } from '../text.ts'

export type ByteChunkTree = Uint8Array | readonly ByteChunkTree[]

const tarBlockBytes = 512

/** Limits of the name and prefix fields (POSIX.1-1988, ustar). */
const maxUstarNameBytes = 100
const maxUstarPrefixBytes = 155

/** The limit of eleven octal digits; Go writes larger sizes as a PAX record. */
const maxOctalFileSizeBytes = 8 ** 11 - 1

interface TarMember {
  readonly kind: 'file' | 'directory'
  /** As in the archive. The caller decides whether directories end with a slash. */
  readonly name: string
  readonly mode: number
  readonly size: number
}

const utf8Encoder = new TextEncoder()

/** The number of zero bytes at the end of an archive. */
const tarEndMarkerByteCount = 2 * tarBlockBytes

/** `ustar`, NUL, and the version. */
const ustarMagic = utf8Encoder.encode('ustar\u000000')

export interface TarTreeFile {
  /** Relative to the tree's root, separated by `/`. */
  readonly path: string
  readonly pieces: readonly ByteChunkTree[]
}

export interface TarTreeFileModes {
  readonly directory: number
  readonly file: number
}

/** Returns a path's name in the archive; undefined omits the member and its content. */
export type ArchivePathMapper = (path: string, kind: 'file' | 'directory') => string | undefined

const tarEndMarkerBuffer = new Uint8Array(tarEndMarkerByteCount)

/** Yields the archive without its end. The root's path is empty. */
export function* packTarTree(
  files: readonly TarTreeFile[],
  modes: TarTreeFileModes,
  nameOf: ArchivePathMapper,
): Generator<ByteChunkTree> {
  const packedDirectories = new Set<string>()
  function* packDirectory(path: string): Generator<Uint8Array> {
    if (packedDirectories.has(path)) return
    packedDirectories.add(path)
    if (path !== '') yield* packDirectory(path.slice(0, Math.max(path.lastIndexOf('/'), 0)))
    const name = nameOf(path, 'directory')
    if (name !== undefined) yield encodeTarHeader({ kind: 'directory', name, mode: modes.directory, size: 0 })
  }
  yield* packDirectory('')
  for (const { path, pieces } of [...files].sort((a, b) => comparePathsInWalkOrder(a.path, b.path))) {
    yield* packDirectory(path.slice(0, Math.max(path.lastIndexOf('/'), 0)))
    const name = nameOf(path, 'file')
    if (name === undefined) continue
    const size = getByteChunkTreeLength(pieces)
    yield encodeTarHeader({ kind: 'file', name, mode: modes.file, size })
    yield* pieces
    const padding = getTarPadding(size)
    if (padding > 0) yield tarEndMarkerBuffer.subarray(0, padding)
  }
}

export function getTarEndMarker(): Uint8Array {
  return tarEndMarkerBuffer
}

/** The blocks before a member's content. Names must not contain NUL, which tar cannot represent. */
function encodeTarHeader(member: TarMember): Uint8Array {
  if (member.size > maxOctalFileSizeBytes)
    throw new Error('a catalog must not contain files of 8 GiB or more')
  const name = utf8Encoder.encode(member.name)
  const isAscii = name.length === member.name.length
  if (isAscii && name.length <= maxUstarNameBytes) return encodeUstarHeader(member, name, undefined)
  const split = isAscii ? splitUstarName(member.name) : undefined
  if (split)
    return encodeUstarHeader(member, utf8Encoder.encode(split.name), utf8Encoder.encode(split.prefix))
  const record = utf8Encoder.encode(formatPaxRecord('path', member.name, name.length))
  const header = new Uint8Array(tarBlockBytes + roundUpToTarBlock(record.length) + tarBlockBytes)
  header.set(encodePaxHeader(member.name, record.length))
  header.set(record, tarBlockBytes)
  header.set(
    encodeUstarHeader(member, utf8Encoder.encode(removeNonAsciiCharacters(member.name)), undefined),
    tarBlockBytes + roundUpToTarBlock(record.length),
  )
  return header
}

/** The number of zero bytes that fill the last block. */
function getTarPadding(size: number): number {
  return roundUpToTarBlock(size) - size
}

function roundUpToTarBlock(size: number): number {
  return Math.ceil(size / tarBlockBytes) * tarBlockBytes
}

function encodeUstarHeader(member: TarMember, name: Uint8Array, prefix: Uint8Array | undefined): Uint8Array {
  const header = new Uint8Array(tarBlockBytes)
  header.set(name.subarray(0, maxUstarNameBytes))
  writeOctal(header, 100, 8, member.mode)
  writeOctal(header, 108, 8, 0)
  writeOctal(header, 116, 8, 0)
  writeOctal(header, 124, 12, member.size)
  writeOctal(header, 136, 12, 0)
  header[156] = member.kind === 'directory' ? 0x35 : 0x30
  writeOctal(header, 329, 8, 0)
  writeOctal(header, 337, 8, 0)
  if (prefix) header.set(prefix, 345)
  return addUstarMagicAndChecksum(header)
}

/** Go leaves unused fields of this header empty. */
function encodePaxHeader(name: string, size: number): Uint8Array {
  const slash = name.lastIndexOf('/')
  const directory = slash < 0 ? '' : `${name.slice(0, slash)}/`
  const shown = removeNonAsciiCharacters(`${directory}PaxHeaders.0/${name.slice(slash + 1)}`)
    .slice(0, maxUstarNameBytes)
    .replace(/\/+$/, '')
  const header = new Uint8Array(tarBlockBytes)
  header.set(utf8Encoder.encode(shown))
  writeOctal(header, 100, 8, 0)
  writeOctal(header, 108, 8, 0)
  writeOctal(header, 116, 8, 0)
  writeOctal(header, 124, 12, size)
  writeOctal(header, 136, 12, 0)
  header[156] = 0x78
  return addUstarMagicAndChecksum(header)
}

function addUstarMagicAndChecksum(header: Uint8Array): Uint8Array {
  header.set(ustarMagic, 257)
  header.fill(0x20, 148, 156)
  let sum = 0
  for (const byte of header) sum += byte
  writeOctal(header, 148, 7, sum)
  header[155] = 0x20
  return header
}

function writeOctal(header: Uint8Array, at: number, width: number, value: number): void {
  const digits = value.toString(8).padStart(width - 1, '0')
  for (let index = 0; index < digits.length; index++) header[at + index] = digits.charCodeAt(index)
  header[at + width - 1] = 0
}

function splitUstarName(name: string): { readonly prefix: string; readonly name: string } | undefined {
  const maxPrefixEnd =
    name.length > maxUstarPrefixBytes + 1
      ? maxUstarPrefixBytes + 1
      : name.endsWith('/')
        ? name.length - 1
        : name.length
  const slash = name.slice(0, maxPrefixEnd).lastIndexOf('/')
  const rest = name.slice(slash + 1)
  if (slash <= 0 || rest === '' || rest.length > maxUstarNameBytes || slash > maxUstarPrefixBytes)
    return undefined
  return { prefix: name.slice(0, slash), name: rest }
}

/** `LENGTH KEY=VALUE` and a line feed; the length includes itself. */
function formatPaxRecord(key: string, value: string, bytes: number): string {
  const rest = key.length + bytes + 3
  let length = rest + String(rest).length
  if (rest + String(length).length !== length) length = rest + String(length).length
  return `${length} ${key}=${value}\n`
}

function removeNonAsciiCharacters(text: string): string {
  return text.replace(/[^\x00-\x7f]/gu, '')
}

export function forEachByteChunk(piece: ByteChunkTree, take: (bytes: Uint8Array) => void): void {
  if (piece instanceof Uint8Array) take(piece)
  else for (const part of piece) forEachByteChunk(part, take)
}

/** Nested lists of bytes, so that content that repeats in an archive is one shared object. */
export function getByteChunkTreeLength(piece: ByteChunkTree): number {
  if (piece instanceof Uint8Array) return piece.length
  let length = 0
  for (const part of piece) length += getByteChunkTreeLength(part)
  return length
}

export function joinByteChunks(piece: ByteChunkTree): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(getByteChunkTreeLength(piece))
  let at = 0
  forEachByteChunk(piece, (part) => {
    bytes.set(part, at)
    at += part.length
  })
  return bytes
}
