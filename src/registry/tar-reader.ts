// Reads a tar archive from a stranger, piece by piece: USTAR, PAX and GNU long names. Gives entries with clean
// names and bounded content; refuses what cannot be told apart safely. Writes nothing anywhere.
import { RegistryError } from './registry-error.ts'

export type TarEntry =
  | { readonly kind: 'file'; readonly path: string; readonly bytes: Uint8Array }
  | { readonly kind: 'directory'; readonly path: string }
  | { readonly kind: 'symlink' | 'hardlink'; readonly path: string; readonly target: string }
  /** A file that `keep` did not want: it was there, its content is gone. */
  | { readonly kind: 'dropped'; readonly path: string }

export interface TarLimits {
  /** Entries in one archive, headers of any kind counted. */
  readonly entries: number
  /** Bytes of one file that is kept. */
  readonly file: number
  /** Bytes of a PAX header or a GNU long name. */
  readonly extension: number
}

export const defaultTarLimits: TarLimits = { entries: 20_000, file: 8 * 1024 * 1024, extension: 65_536 }

const block = 512

// Linux's own bound. Longer ones cannot be made on any disk, and cost much to take apart.
const longestPath = 4096

export interface TarReader {
  /** Takes the next piece. Throws a RegistryError `unsupported` at the first thing that is refused. */
  push(piece: Uint8Array): void
  /** Says that there is no more. Throws when the archive ends in the middle of something. */
  end(): void
}

/**
 * `keep` says whether a file's content is wanted, before it is read. `onEntry` gets each entry in order.
 * Devices and pipes are passed over.
 */
export function tarReader(
  onEntry: (entry: TarEntry) => void,
  keep: (path: string, size: number) => boolean,
  limits: TarLimits = defaultTarLimits,
): TarReader {
  let pending = new Uint8Array(0)
  let entries = 0
  let ended = false
  let sawZeroBlock = false
  // What the data that comes now belongs to, and how much of it and of its padding is still to come.
  let sink: { readonly pieces: Uint8Array[] | undefined; finish: (bytes: Uint8Array) => void } | undefined
  let dataLeft = 0
  let paddingLeft = 0
  let extended: Map<string, string> = new Map()
  let globally: Map<string, string> = new Map()

  function push(piece: Uint8Array): void {
    let at = 0
    while (at < piece.length) {
      if (ended) return
      if (dataLeft > 0) {
        const take = Math.min(dataLeft, piece.length - at)
        sink?.pieces?.push(piece.slice(at, at + take))
        dataLeft -= take
        at += take
        if (dataLeft === 0) finishData()
      } else if (paddingLeft > 0) {
        const take = Math.min(paddingLeft, piece.length - at)
        paddingLeft -= take
        at += take
      } else {
        const take = Math.min(block - pending.length, piece.length - at)
        const joined = new Uint8Array(pending.length + take)
        joined.set(pending)
        joined.set(piece.subarray(at, at + take), pending.length)
        pending = joined
        at += take
        if (pending.length === block) {
          const header = pending
          pending = new Uint8Array(0)
          readHeader(header)
        }
      }
    }
  }

  function finishData(): void {
    const done = sink
    sink = undefined
    done?.finish(done.pieces === undefined ? new Uint8Array(0) : concatenate(done.pieces))
  }

  function readHeader(header: Uint8Array): void {
    if (header.every((byte) => byte === 0)) {
      if (sawZeroBlock) ended = true
      sawZeroBlock = true
      return
    }
    sawZeroBlock = false
    entries += 1
    if (entries > limits.entries) throw refused(`it has more than ${limits.entries} entries`)
    checkSum(header)
    const type = String.fromCharCode(header[156] ?? 0)
    const pax = new Map([...globally, ...extended])
    const size = sizeOf(header, type === 'x' || type === 'g' ? undefined : pax.get('size'))
    if (type === 'x' || type === 'g' || type === 'L' || type === 'K') {
      if (size > limits.extension)
        throw refused(`an extended header is larger than ${limits.extension} bytes`)
      expectData(size, true, (bytes) => readExtension(type, bytes))
      return
    }
    extended = new Map()
    if (type === 'S' || [...pax.keys()].some((key) => key.startsWith('GNU.sparse.')))
      throw refused('it has sparse files')
    const path = cleanPath(pax.get('path') ?? nameOf(header))
    const target = pax.get('linkpath') ?? text(header.subarray(157, 257))
    switch (type) {
      case '0':
      case '\0':
      case '7':
        // A name that ends in a slash is a directory in archives older than the type for it.
        if (path.isDirectory) return emitAndSkip({ kind: 'directory', path: path.name }, size)
        return readFile(path.name, size)
      case '5':
        return emitAndSkip({ kind: 'directory', path: path.name }, size)
      case '1':
        return emitAndSkip({ kind: 'hardlink', path: path.name, target: cleanPath(target).name }, size)
      case '2':
        if (target.includes('\0')) throw refused(`the link ${shown(path.name)} has a NUL in its target`)
        return emitAndSkip({ kind: 'symlink', path: path.name, target }, size)
      default:
        // Devices, pipes and what nobody knows: nothing that a bundle is made of.
        return expectData(size, false, () => undefined)
    }
  }

  function emitAndSkip(entry: TarEntry, size: number): void {
    expectData(size, false, () => undefined)
    if (entry.path !== '') onEntry(entry)
  }

  function readFile(path: string, size: number): void {
    if (path === '') throw refused('a file has no name')
    const wanted = keep(path, size)
    if (wanted && size > limits.file) throw refused(`${shown(path)} is larger than ${limits.file} bytes`)
    expectData(size, wanted, (bytes) =>
      onEntry(wanted ? { kind: 'file', path, bytes } : { kind: 'dropped', path }),
    )
  }

  function expectData(size: number, kept: boolean, finish: (bytes: Uint8Array) => void): void {
    dataLeft = size
    paddingLeft = (block - (size % block)) % block
    sink = { pieces: kept ? [] : undefined, finish }
    if (size === 0) finishData()
  }

  function readExtension(type: string, bytes: Uint8Array): void {
    if (type === 'L') extended.set('path', text(bytes))
    else if (type === 'K') extended.set('linkpath', text(bytes))
    else if (type === 'x') extended = new Map([...extended, ...paxRecords(bytes)])
    else globally = new Map([...globally, ...paxRecords(bytes)])
  }

  return {
    push,
    end() {
      if (dataLeft > 0 || pending.length > 0) throw refused('it ends in the middle of an entry')
    },
  }
}

/** A path without `./`, leading `/` and double slashes. Throws for one that leads elsewhere. */
function cleanPath(name: string): { readonly name: string; readonly isDirectory: boolean } {
  if (name.length > longestPath) throw refused(`a name is longer than ${longestPath} characters`)
  if (name.includes('\0')) throw refused('a name has a NUL in it')
  if (name.startsWith('\\') || /^[A-Za-z]:/.test(name))
    throw refused(`${shown(name)} is a name of another system`)
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..')) throw refused(`${shown(name)} leads out of the archive`)
  return { name: parts.join('/'), isDirectory: name.endsWith('/') }
}

function nameOf(header: Uint8Array): string {
  const name = text(header.subarray(0, 100))
  const isUstar = text(header.subarray(257, 262)) === 'ustar' && header[262] === 0
  const prefix = isUstar ? text(header.subarray(345, 500)) : ''
  return prefix === '' ? name : `${prefix}/${name}`
}

function sizeOf(header: Uint8Array, pax: string | undefined): number {
  if (pax !== undefined) {
    if (!/^\d{1,15}$/.test(pax)) throw refused('an entry has no valid size')
    return Number(pax)
  }
  const field = header.subarray(124, 136)
  // GNU's base-256, for sizes from 8 GiB on; the sign bit makes it negative.
  if (((field[0] ?? 0) & 0x80) !== 0) {
    let value = (field[0] ?? 0) & 0x7f
    for (const byte of field.subarray(1)) value = value * 256 + byte
    if (field[0] === 0xff || !Number.isSafeInteger(value)) throw refused('an entry has no valid size')
    return value
  }
  const digits = text(field).trim()
  if (!/^[0-7]{0,12}$/.test(digits)) throw refused('an entry has no valid size')
  return digits === '' ? 0 : Number.parseInt(digits, 8)
}

function checkSum(header: Uint8Array): void {
  const written = text(header.subarray(148, 156)).trim()
  let sum = 0
  for (let at = 0; at < block; at += 1) sum += at >= 148 && at < 156 ? 32 : (header[at] ?? 0)
  if (!/^[0-7]{1,7}$/.test(written) || Number.parseInt(written, 8) !== sum)
    throw refused('a header of it is damaged')
}

/** `LENGTH KEY=VALUE\n`, the length counting itself. */
function paxRecords(bytes: Uint8Array): Map<string, string> {
  const records = new Map<string, string>()
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at)
    const length = space < 0 ? Number.NaN : Number(text(bytes.subarray(at, space)))
    const end = at + length
    if (!Number.isSafeInteger(length) || end > bytes.length || end <= space + 1 || bytes[end - 1] !== 0x0a)
      throw refused('an extended header of it is damaged')
    const record = decoder.decode(bytes.subarray(space + 1, end - 1))
    const equals = record.indexOf('=')
    if (equals < 1) throw refused('an extended header of it is damaged')
    records.set(record.slice(0, equals), record.slice(equals + 1))
    at = end
  }
  return records
}

const decoder = new TextDecoder()

/** Text up to the first NUL. */
function text(bytes: Uint8Array): string {
  const end = bytes.indexOf(0)
  return decoder.decode(end < 0 ? bytes : bytes.subarray(0, end))
}

function concatenate(pieces: readonly Uint8Array[]): Uint8Array {
  const result = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    result.set(piece, at)
    at += piece.length
  }
  return result
}

function shown(path: string): string {
  return JSON.stringify(path.length > 100 ? `${path.slice(0, 100)}…` : path)
}

function refused(reason: string): RegistryError {
  return new RegistryError('unsupported', `the archive is refused: ${reason}`)
}
