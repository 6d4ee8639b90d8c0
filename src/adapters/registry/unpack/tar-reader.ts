// Streams an untrusted tar archive (USTAR, PAX, GNU long names). Yields exactly the entries of Go's archive/tar, with
// clean names and bounded content, and rejects anything ambiguous.
import {
  parseTarHeader,
  createRejectedImageError,
  tarBlockBytes,
  decodeUtf8,
  sliceUntilNul,
  type TarHeader,
  checkGlobalPaxRecords,
  parsePaxRecords,
  type PaxRecords,
} from './tar-header.ts'

export type TarEntry =
  | { readonly kind: 'file'; readonly path: string; readonly bytes: Uint8Array }
  | { readonly kind: 'directory'; readonly path: string }
  | { readonly kind: 'symlink'; readonly path: string; readonly target: string }
  | { readonly kind: 'hardlink'; readonly path: string; readonly target: string }
  /** A file whose content `shouldRead` did not request. */
  | { readonly kind: 'dropped'; readonly path: string }
  /** A device or a pipe. */
  | { readonly kind: 'special'; readonly path: string }
  /** A global header. Unpacking removes an existing file with its name. */
  | { readonly kind: 'global'; readonly path: string }

export interface TarLimits {
  /** Entries in one archive, including all headers. */
  readonly entries: number
  /** Bytes of one file whose content is read. */
  readonly file: number
  /** Bytes of a PAX header or GNU long name. */
  readonly extension: number
}

export const defaultTarLimits: TarLimits = { entries: 20_000, file: 8 * 1024 * 1024, extension: 65_536 }

// Linux's own limits. Longer paths cannot exist on disk and are expensive to split.
const maxTarPathLength = 4096
const maxPathSegmentLength = 255

/** Calls `shouldRead` before reading a file's content, and `onEntry` for each entry in order. */
export class TarReader {
  readonly #onEntry: (entry: TarEntry) => void
  readonly #shouldRead: (path: string, size: number) => boolean
  readonly #limits: TarLimits
  #pending = new Uint8Array(0)
  #entries = 0
  #ended = false
  #sawZeroBlock = false
  // The consumer of the current data, and the remaining bytes and padding.
  #sink: { readonly pieces: Uint8Array[] | undefined; finish: (bytes: Uint8Array) => void } | undefined
  #dataLeft = 0
  #paddingLeft = 0
  #pax: PaxRecords | undefined
  #longName: string | undefined
  #longLink: string | undefined

  constructor(
    onEntry: (entry: TarEntry) => void,
    shouldRead: (path: string, size: number) => boolean,
    limits: TarLimits = defaultTarLimits,
  ) {
    this.#onEntry = onEntry
    this.#shouldRead = shouldRead
    this.#limits = limits
  }

  /** Throws a RegistryError `unsupported` at the first violation. */
  readonly push = (piece: Uint8Array): void => {
    let at = 0
    while (at < piece.length) {
      if (this.#ended) return rejectDataAfterTarEnd(piece.subarray(at))
      if (this.#dataLeft > 0) {
        const take = Math.min(this.#dataLeft, piece.length - at)
        this.#sink?.pieces?.push(piece.slice(at, at + take))
        this.#dataLeft -= take
        at += take
        if (this.#dataLeft === 0) this.#finishData()
      } else if (this.#paddingLeft > 0) {
        const take = Math.min(this.#paddingLeft, piece.length - at)
        this.#paddingLeft -= take
        at += take
      } else {
        const take = Math.min(tarBlockBytes - this.#pending.length, piece.length - at)
        const joined = new Uint8Array(this.#pending.length + take)
        joined.set(this.#pending)
        joined.set(piece.subarray(at, at + take), this.#pending.length)
        this.#pending = joined
        at += take
        if (this.#pending.length === tarBlockBytes) {
          const header = this.#pending
          this.#pending = new Uint8Array(0)
          this.#readBlock(header)
        }
      }
    }
  }

  /** Marks the end of the input. Throws if the archive is incomplete. */
  readonly end = (): void => {
    if (this.#dataLeft > 0 || this.#paddingLeft > 0 || this.#pending.length > 0 || this.#isExtended())
      throw createRejectedImageError('the archive ends in the middle of an entry')
  }

  #finishData(): void {
    const done = this.#sink
    this.#sink = undefined
    done?.finish(done.pieces === undefined ? new Uint8Array(0) : concatBytes(done.pieces))
  }

  #readBlock(block: Uint8Array): void {
    if (block.every((byte) => byte === 0)) {
      if (this.#isExtended()) throw createRejectedImageError('the archive ends after an extended header')
      if (this.#sawZeroBlock) this.#ended = true
      this.#sawZeroBlock = true
      return
    }
    // After one empty block, some readers stop, some continue, and Go fails.
    if (this.#sawZeroBlock) throw createRejectedImageError('the archive contains data after an empty block')
    this.#entries += 1
    if (this.#entries > this.#limits.entries)
      throw createRejectedImageError(`the archive has more than ${this.#limits.entries} entries`)
    const header = parseTarHeader(block)
    if ('xgLK'.includes(header.type)) this.#readExtension(header)
    else this.#readEntry(header)
  }

  #isExtended(): boolean {
    return this.#pax !== undefined || this.#longName !== undefined || this.#longLink !== undefined
  }

  #readExtension({ type, name, size }: TarHeader): void {
    if (size > this.#limits.extension)
      throw createRejectedImageError(`an extended header is larger than ${this.#limits.extension} bytes`)
    // Readers disagree on which duplicate counts, and on a global header in between.
    const isSecond =
      type === 'L'
        ? this.#longName !== undefined
        : type === 'K'
          ? this.#longLink !== undefined
          : this.#isExtended()
    if (isSecond || this.#pax !== undefined)
      throw createRejectedImageError('an entry has several extended headers')
    this.#expectData(size, true, (bytes) => {
      if (type === 'x') this.#pax = parsePaxRecords(bytes)
      else if (type === 'L') this.#longName = decodeGnuLongName(bytes)
      else if (type === 'K') this.#longLink = decodeGnuLongName(bytes)
      else {
        checkGlobalPaxRecords(bytes)
        this.#onEntry({ kind: 'global', path: normalizeTarEntryPath(decodeUtf8(name)) })
      }
    })
  }

  #readEntry({ type, name, link, size }: TarHeader): void {
    // A PAX size may only repeat the header's size, because readers disagree otherwise.
    if ((this.#pax?.size ?? size) !== size) throw createRejectedImageError('an entry has two different sizes')
    const written = this.#pax?.path ?? this.#longName ?? decodeUtf8(name)
    const target = () => this.#pax?.linkpath ?? this.#longLink ?? decodeUtf8(link)
    const path = normalizeTarEntryPath(written)
    const isFile = type === '0' || (type === '\0' && !written.endsWith('/'))
    // Go reads these as files without the slash. Others read them as directories.
    if (type === '0' && written.endsWith('/'))
      throw createRejectedImageError(`the name of the file ${quoteTruncatedPath(written)} ends with a slash`)
    if (isFile) this.#readFile(path, size)
    else this.#readBodiless(type, path, size, target)
    this.#pax = this.#longName = this.#longLink = undefined
  }

  /** Entries without content. If they have a size, some readers skip that many bytes. Go does not. */
  #readBodiless(type: string, path: string, size: number, target: () => string): void {
    if (type === 'S') throw createRejectedImageError('the archive contains sparse files')
    const kind = headerOnlyEntryKindByTypeflag[type]
    if (kind === undefined)
      throw createRejectedImageError(
        `${quoteTruncatedPath(path)} has the unsupported type ${quoteTruncatedPath(type)}`,
      )
    if (size !== 0)
      throw createRejectedImageError(
        `${quoteTruncatedPath(path)} has a size, but entries of its type have no content`,
      )
    if (path === '') {
      if (kind !== 'directory') throw createRejectedImageError('a link or device has no name')
    } else if (kind === 'hardlink') this.#onEntry({ kind, path, target: normalizeTarEntryPath(target()) })
    else if (kind === 'symlink') this.#onEntry({ kind, path, target: validateTarLinkTarget(path, target()) })
    else this.#onEntry({ kind, path })
  }

  #readFile(path: string, size: number): void {
    if (path === '') throw createRejectedImageError('a file has no name')
    const isNeeded = this.#shouldRead(path, size)
    if (isNeeded && size > this.#limits.file)
      throw createRejectedImageError(`${quoteTruncatedPath(path)} is larger than ${this.#limits.file} bytes`)
    this.#expectData(size, isNeeded, (bytes) =>
      this.#onEntry(isNeeded ? { kind: 'file', path, bytes } : { kind: 'dropped', path }),
    )
  }

  #expectData(size: number, isRetained: boolean, finish: (bytes: Uint8Array) => void): void {
    this.#dataLeft = size
    this.#paddingLeft = (tarBlockBytes - (size % tarBlockBytes)) % tarBlockBytes
    this.#sink = { pieces: isRetained ? [] : undefined, finish }
    if (size === 0) this.#finishData()
  }
}

const headerOnlyEntryKindByTypeflag: Readonly<
  Record<string, 'hardlink' | 'symlink' | 'special' | 'directory'>
> = {
  '1': 'hardlink',
  '2': 'symlink',
  '3': 'special',
  '4': 'special',
  '5': 'directory',
  '6': 'special',
  // V7 has no directory type. The name ends with a slash instead.
  '\0': 'directory',
}

/** Rejects anything but zeros after the archive, because some readers would continue. */
function rejectDataAfterTarEnd(bytes: Uint8Array): void {
  if (bytes.some((byte) => byte !== 0))
    throw createRejectedImageError('the archive contains data after its end')
}

function decodeGnuLongName(bytes: Uint8Array): string {
  const text = sliceUntilNul(bytes)
  if (text.length === 0 || bytes.subarray(text.length).some((byte) => byte !== 0))
    throw createRejectedImageError('a GNU long name entry is corrupt')
  return decodeUtf8(text)
}

function validateTarLinkTarget(path: string, target: string): string {
  if (target.includes('\0'))
    throw createRejectedImageError(`the target of the link ${quoteTruncatedPath(path)} contains a NUL`)
  if (target === '' || target.length > maxTarPathLength)
    throw createRejectedImageError(`the link ${quoteTruncatedPath(path)} has an invalid target`)
  return target
}

/** Removes `.//`, leading `/`, and double slashes. Returns '' for the root. Throws if the path leaves the root. */
function normalizeTarEntryPath(name: string): string {
  if (name.length > maxTarPathLength)
    throw createRejectedImageError(`a name is longer than ${maxTarPathLength} characters`)
  if (name.includes('\0')) throw createRejectedImageError('a name contains a NUL')
  if (name.startsWith('\\') || /^[A-Za-z]:/.test(name))
    throw createRejectedImageError(`${quoteTruncatedPath(name)} is a Windows path`)
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..'))
    throw createRejectedImageError(`${quoteTruncatedPath(name)} points outside the archive`)
  // Characters outside ASCII have up to three bytes in UTF-8.
  if (
    parts.some(
      (part) => part.length > maxPathSegmentLength / 3 && Buffer.byteLength(part) > maxPathSegmentLength,
    )
  )
    throw createRejectedImageError(`a path component is longer than ${maxPathSegmentLength} bytes`)
  return parts.join('/')
}

function concatBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const result = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    result.set(piece, at)
    at += piece.length
  }
  return result
}

function quoteTruncatedPath(path: string): string {
  return JSON.stringify(path.length > 100 ? `${path.slice(0, 100)}…` : path)
}
