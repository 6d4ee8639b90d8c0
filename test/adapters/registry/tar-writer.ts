// Tar archives for tests, valid and malicious: every field can be replaced.

export interface TarEntry {
  readonly name: string | Uint8Array
  readonly type?: string
  readonly data?: Uint8Array | string
  readonly link?: string
  readonly prefix?: string
  /** Replaces the length of the data. */
  readonly size?: number | string | Uint8Array
  readonly breakChecksum?: boolean
  /** Computes the checksum of signed bytes, like the tar of Sun. */
  readonly signedChecksum?: boolean
  /** Magic and version. Default: `ustar\u000000`. */
  readonly magic?: string
  /** Positions and bytes that replace those of the header before its checksum is computed. */
  readonly over?: readonly (readonly [number, string | Uint8Array])[]
}

export function createTar(parts: readonly TarEntry[], options: { readonly end?: boolean } = {}): Buffer {
  const blocks = parts.map(createTarEntry)
  if (options.end !== false) blocks.push(Buffer.alloc(1024))
  return Buffer.concat(blocks)
}

/** A valid archive of files. */
export function createTarOfFiles(files: Readonly<Record<string, Uint8Array | string>>): Buffer {
  return createTar(Object.entries(files).map(([name, data]) => ({ name, data })))
}

/** A PAX header for the next entry. */
export function createPaxHeader(records: Readonly<Record<string, string>>, type = 'x'): TarEntry {
  const data = Object.entries(records)
    .map(([key, value]) => {
      const rest = Buffer.byteLength(` ${key}=${value}\n`)
      let length = rest + 1
      while (String(length).length + rest !== length) length += 1
      return `${length} ${key}=${value}\n`
    })
    .join('')
  return { name: 'PaxHeader', type, data }
}

function createTarEntry(one: TarEntry): Buffer {
  const { name, type = '0', data = '', link = '', prefix = '', size, magic = 'ustar\u000000' } = one
  const content = Buffer.from(data)
  const header = Buffer.alloc(512)
  if (typeof name === 'string') header.write(name, 0, 100, 'utf8')
  else header.set(name.subarray(0, 100))
  header.write('0000644\0', 100)
  header.write('0000000\0', 108)
  header.write('0000000\0', 116)
  const length = size ?? content.length
  if (length instanceof Uint8Array) header.set(length, 124)
  else header.write(typeof length === 'string' ? length : `${length.toString(8).padStart(11, '0')}\0`, 124)
  header.write('00000000000\0', 136)
  header.write('        ', 148)
  header.write(type, 156, 'latin1')
  header.write(link, 157, 100, 'utf8')
  header.write(magic, 257, 'latin1')
  header.write(prefix, 345, 155, 'utf8')
  for (const [at, bytes] of one.over ?? []) header.set(Buffer.from(bytes as string, 'latin1'), at)
  const sum = computeHeaderChecksum(header, one.signedChecksum === true) + (one.breakChecksum ? 1 : 0)
  header.write(`${Math.max(sum, 0).toString(8).padStart(6, '0')}\0 `, 148)
  return Buffer.concat([header, content, Buffer.alloc((512 - (content.length % 512)) % 512)])
}

/** The checksum of a header, with the checksum field as spaces. */
export function computeHeaderChecksum(header: Buffer, isSigned = false): number {
  let sum = 0
  for (const [at, byte] of header.entries())
    sum += at >= 148 && at < 156 ? 32 : isSigned && byte > 127 ? byte - 256 : byte
  return sum
}
