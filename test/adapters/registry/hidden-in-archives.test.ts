// Archives that we and Go (and therefore opm) read differently are rejected with a reason. The samples represent the
// classes that bench/fuzz-archives.ts generates at random.
import { createHash } from 'node:crypto'
import { constants, gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import { unpackLayers } from '../../../src/adapters/registry/unpack/unpack-layers.ts'
import { createPaxHeader, createTar, createTarOfFiles, type TarEntry } from './tar-writer.ts'

const file = (name: string, data = name): TarEntry => ({ name, data })
const evilFile = file('manifests/evil')
const sized = (name: string, type: string, more: Partial<TarEntry> = {}): TarEntry => ({
  name,
  type,
  size: 1024,
  ...more,
})
const longName = (name: string, type = 'L'): TarEntry => ({ name: '././@LongLink', type, data: `${name}\0` })
const computeArchiveDigest = (archive: Buffer) =>
  `sha256:${createHash('sha256').update(archive).digest('hex')}`
const unpackArchives = (archives: readonly Buffer[], packed: readonly Buffer[] = archives) =>
  unpackLayers(
    archives.map((archive, index) => ({
      bytes: packed[index] ?? archive,
      diffId: computeArchiveDigest(archive),
    })),
    ['manifests', 'metadata'],
  )
const unsupported = (reason: RegExp) => ({ code: 'unsupported', message: expect.stringMatching(reason) })

describe('entries', () => {
  test.each<[string, readonly TarEntry[], RegExp]>([
    ['a directory with a size', [sized('x/', '5'), evilFile], /has a size/],
    ['an old directory with a size', [sized('x/', '\0'), evilFile], /has a size/],
    ['a symbolic link with a size', [sized('x', '2', { link: 'a' }), evilFile], /has a size/],
    ['a hard link with a size', [file('a'), sized('x', '1', { link: 'a' }), evilFile], /has a size/],
    ['a device with a size', [sized('x', '3'), evilFile], /has a size/],
    ['a pipe with a size', [sized('x', '6'), evilFile], /has a size/],
    [
      'a directory with a size in an extended header',
      [createPaxHeader({ size: '512' }), { name: 'x/', type: '5' }, evilFile],
      /two different sizes/,
    ],
    [
      'two sizes for a file',
      [createPaxHeader({ size: '512' }), file('x', ''), evilFile],
      /two different sizes/,
    ],
    ['a file with the name of a directory', [file('manifests/a/')], /ends with a slash/],
    ['a contiguous file', [{ ...evilFile, type: '7' }], /unsupported type/],
    ['an unknown type', [{ ...evilFile, type: 'D' }], /unsupported type/],
    ['a size after a NUL', [{ name: 'x', size: '\x0000000001000' }, evilFile], /invalid size/],
    ['a size with garbage after a NUL', [{ name: 'x', size: '0\0zz' }, evilFile], /invalid size/],
    ['a size after a tab', [{ name: 'x', size: '\t0000001000' }, evilFile], /invalid size/],
    [
      'a negative binary size',
      [{ name: 'x', size: Uint8Array.from([0xc0, ...Array<number>(11).fill(0)]) }],
      /size/,
    ],
    ['a mode that is not a number', [{ ...evilFile, over: [[100, 'zzzz']] }], /invalid number/],
    ['a checksum over signed bytes', [{ ...file('manifests/é'), signedChecksum: true }], /damaged/],
    ['a prefix in the GNU format', [{ ...evilFile, magic: 'ustar  \0', prefix: 'other' }], /has a prefix/],
    ['the star format', [{ ...evilFile, over: [[508, 'tar\0']] }], /star format/],
    ['an unknown format', [{ ...evilFile, magic: 'ustar 00' }], /unknown format/],
    [
      'a name that is not UTF-8',
      [{ ...evilFile, name: Buffer.from('manifests/\xff', 'latin1') }],
      /not UTF-8/,
    ],
    [
      'a name component that is too long for file systems',
      [createPaxHeader({ path: `manifests/${'n'.repeat(256)}` }), evilFile],
      /255 bytes/,
    ],
    ['an entry below a whiteout', [file('manifests/.wh.a/b')], /name of a whiteout/],
  ])('rejects %s', async (_name, parts, reason) => {
    await expect(unpackArchives([createTar(parts)])).rejects.toMatchObject(unsupported(reason))
  })
  test('a byte order mark is part of a name', async () => {
    expect([
      ...(await unpackArchives([createTar([file('\ufeffmanifests/a'), file('manifests/b')])])).keys(),
    ]).toEqual(['manifests/b'])
  })
})

describe('extended headers', () => {
  test.each<[string, readonly TarEntry[], RegExp]>([
    ['a global path', [createPaxHeader({ path: 'x' }, 'g'), evilFile], /a global header sets "path"/],
    ['a global size', [createPaxHeader({ size: '0' }, 'g'), evilFile], /a global header sets "size"/],
    [
      'a global header named like a file',
      [evilFile, { ...createPaxHeader({ comment: 'x' }, 'g'), name: 'manifests/evil' }],
      /has the invalid name/,
    ],
    [
      'a global header named like a whiteout',
      [{ ...createPaxHeader({ comment: 'x' }, 'g'), name: 'manifests/.wh.a' }],
      /has the invalid name/,
    ],
    [
      'two for one entry',
      [createPaxHeader({ path: 'x' }), createPaxHeader({ mtime: '1' }), evilFile],
      /several extended headers/,
    ],
    [
      'a global header between an extended header and its entry',
      [createPaxHeader({ path: 'x' }), createPaxHeader({ comment: 'x' }, 'g'), evilFile],
      /several extended headers/,
    ],
    ['PAX and GNU', [createPaxHeader({ path: 'x' }), longName('y'), evilFile], /several extended headers/],
    ['GNU and PAX', [longName('y'), createPaxHeader({ path: 'x' }), evilFile], /several extended headers/],
    ['two long names', [longName('x'), longName('y'), evilFile], /several extended headers/],
    ['an empty long name', [longName(''), evilFile], /long name/],
    ['a long name with trailing garbage', [longName('x\0y'), evilFile], /long name/],
    ['an empty path', [createPaxHeader({ path: '' }), evilFile], /empty path/],
    ['a path twice', [{ name: 'p', type: 'x', data: '9 path=a\n9 path=b\n' }, evilFile], /"path" twice/],
    [
      'a length in hexadecimal',
      [{ name: 'p', type: 'x', data: '0xb path=a\n' }, evilFile],
      /damaged|corrupt/,
    ],
    ['a length with a sign', [{ name: 'p', type: 'x', data: '+10 path=a\n' }, evilFile], /damaged/],
    [
      'a path that is not UTF-8',
      [{ name: 'p', type: 'x', data: Buffer.from('9 path=\xff\n', 'latin1') }, evilFile],
      /UTF-8/,
    ],
    ['an owner that is not a number', [createPaxHeader({ uid: 'me' }), evilFile], /invalid uid/],
    [
      'a sparse file, format 0.0',
      [{ name: 'p', type: 'x', data: '23 GNU.sparse.offset=0\n' }, evilFile],
      /sparse/,
    ],
    ['a sparse file, format 0.1', [createPaxHeader({ 'GNU.sparse.map': '0,1' }), evilFile], /sparse/],
    [
      'a sparse file marked only by its name',
      [createPaxHeader({ 'GNU.sparse.name': 'manifests/x' }), evilFile],
      /sparse/,
    ],
    ['one without an entry', [evilFile, createPaxHeader({ path: 'x' })], /after an extended header/],
  ])('rejects %s', async (_name, parts, reason) => {
    await expect(unpackArchives([createTar(parts)])).rejects.toMatchObject(unsupported(reason))
  })
  test('headers that git and other common tools write are accepted', async () => {
    const parts = [
      { ...createPaxHeader({ comment: '0'.repeat(40) }, 'g'), name: 'pax_global_header' },
      { ...createPaxHeader({ path: 'manifests/a', mtime: '1700000000.123', 'SCHILY.xattr.user.a': '\0' }) },
      { name: Buffer.from('manifests/\xff', 'latin1'), data: '1' },
      { name: 'manifests/d/', type: '5' },
      { name: 'metadata/', type: '\0' },
      { name: 'metadata/b', type: '\0', magic: '\0\0\0\0\0\0\0\0', data: '2' },
    ]
    expect([...(await unpackArchives([createTar(parts)])).keys()]).toEqual(['manifests/a', 'metadata/b'])
  })
})

describe('the end of an archive', () => {
  const first = createTar([file('manifests/a')], { end: false })
  const second = createTar([evilFile])
  test.each<[string, Buffer, RegExp]>([
    [
      'an empty block between entries',
      Buffer.concat([first, Buffer.alloc(512), second]),
      /after an empty block/,
    ],
    ['an archive after the end', Buffer.concat([first, Buffer.alloc(1024), second]), /after its end/],
    ['text after the end', Buffer.concat([first, Buffer.alloc(1024), Buffer.from('x')]), /after its end/],
    ['half a block', Buffer.concat([first, Buffer.alloc(700)]), /middle/],
    ['a file without its padding', first.subarray(0, 512 + 'manifests/a'.length), /middle/],
  ])('rejects %s', async (_name, archive, reason) => {
    await expect(unpackArchives([archive])).rejects.toMatchObject(unsupported(reason))
  })
  test('zero, one, or twenty empty blocks at the end are accepted', async () => {
    for (const blocks of [0, 1, 20])
      expect((await unpackArchives([Buffer.concat([first, Buffer.alloc(512 * blocks)])])).size).toBe(1)
  })
})

describe('compression', () => {
  const archive = createTarOfFiles({ 'manifests/a': 'x'.repeat(3000) })
  const hidden = gzipSync(createTar([evilFile]))
  /** A gzip stream whose header contains a file name that makes the first block a valid tar header. */
  const twoInOne = () => {
    const packed = gzipSync(archive)
    const head = Buffer.alloc(512)
    packed.copy(head, 0, 0, 10)
    head[3] = 4
    head.writeUInt16LE(508, 10)
    head.write('        ', 148)
    head.write(
      `${[...head]
        .reduce((sum, byte) => sum + byte, 0)
        .toString(8)
        .padStart(6, '0')}\0 `,
      148,
    )
    return Buffer.concat([head, Buffer.alloc(8), packed.subarray(10)])
  }
  const zstdCompressedNothing = zstdCompressSync(Buffer.alloc(0))
  /** A frame with a wrong checksum, or with these flags set. */
  const summed = (flags: number) => {
    const frame = zstdCompressSync(archive, { params: { [constants.ZSTD_c_checksumFlag]: 1 } })
    if (flags === 0) frame[frame.length - 1] = (frame.at(-1) ?? 0) ^ 1
    else frame[4] = (frame[4] ?? 0) | flags
    return frame
  }
  test.each<[string, Buffer, RegExp]>([
    [
      'a member after zeros',
      Buffer.concat([gzipSync(archive), Buffer.alloc(4), hidden]),
      /data after the end/,
    ],
    ['a gzip stream that is a tar archive', twoInOne(), /whether a client decompresses the layer with gzip/],
    [
      'a skippable frame at the start that only some readers skip',
      Buffer.concat([Buffer.from([0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0]), zstdCompressSync(archive)]),
      /not all clients support/,
    ],
    [
      'a zstd frame after bytes outside a frame',
      Buffer.concat([zstdCompressSync(archive), Buffer.alloc(8), zstdCompressSync(archive)]),
      /data after the end/,
    ],
    ['a truncated zstd frame', zstdCompressSync(archive).subarray(0, -1), /truncated/],
    ['a zstd frame with a wrong checksum', summed(0), /corrupt/],
    ['a reserved zstd bit', summed(0x10), /reserved bit/],
    ['a zstd frame with a dictionary', summed(0x01), /dictionary|corrupt/],
    [
      'too many zstd frames',
      Buffer.concat([
        zstdCompressSync(archive),
        ...Array.from({ length: 50_000 }, () => zstdCompressedNothing),
      ]),
      /50000 zstd frames/,
    ],
    ['bzip2', Buffer.concat([Buffer.from('BZh9'), archive]), /bzip2/],
    ['xz', Buffer.concat([Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]), archive]), /bzip2 or xz/],
  ])('rejects %s', async (_name, bytes, reason) => {
    await expect(unpackArchives([archive], [bytes])).rejects.toMatchObject(unsupported(reason))
  })
  test('rejects a tar archive with a first name that starts like bzip2 data', async () => {
    await expect(unpackArchives([createTar([file('BZh/a')])])).rejects.toMatchObject(unsupported(/bzip2/))
  })
})

describe('layers', () => {
  const linked = { name: 'manifests', type: '2', link: 'other' }
  test.each<[string, readonly (readonly TarEntry[])[], RegExp]>([
    ['a file below a linked directory', [[linked, evilFile]], /through the link "manifests"/],
    ['a file below a link in a lower layer', [[linked], [evilFile]], /through the link "manifests"/],
    ['a whiteout below a link', [[file('other/a'), linked], [file('manifests/.wh.a')]], /through the link/],
    ['a file below a file', [[file('manifests'), evilFile]], /not a directory/],
    [
      'a whiteout of a file in the same layer',
      [[evilFile, file('manifests/.wh.evil')]],
      /entry in the same layer/,
    ],
    [
      'a whiteout of a directory in the same layer',
      [[file('manifests/d/x'), file('manifests/.wh.d')]],
      /entry in the same layer/,
    ],
    ['a whiteout of nothing', [[file('manifests/.wh.')]], /hides nothing/],
    ['a whiteout of its parent directory', [[file('manifests/.wh...')]], /hides nothing/],
    [
      'an opaque whiteout after the content of its directory',
      [[file('manifests/d/x'), file('manifests/.wh..wh..opq')]],
      /opaque whiteout for .* follows/,
    ],
    [
      'a second opaque whiteout',
      [[file('manifests/.wh..wh..opq'), file('manifests/.wh..wh..opq')]],
      /appears twice/,
    ],
    [
      'a hard link to a later entry',
      [[{ name: 'manifests/a', type: '1', link: 'b' }, file('b')]],
      /does not exist/,
    ],
    [
      'a hard link to itself',
      [[file('manifests/a'), { name: 'manifests/a', type: '1', link: 'manifests/a' }]],
      /does not exist/,
    ],
    [
      'a hard link to a link',
      [
        [
          { ...linked, name: 'x' },
          { name: 'manifests/a', type: '1', link: 'x' },
        ],
      ],
      /another link/,
    ],
    [
      'a hard link to a directory',
      [[file('x/a'), { name: 'manifests/a', type: '1', link: 'x' }]],
      /does not exist/,
    ],
    ['an absolute link', [[file('x'), { name: 'manifests/a', type: '2', link: '/x' }]], /starts with "\/"/],
    [
      'a link with ".." after a directory',
      [[file('x'), { name: 'manifests/a', type: '2', link: 'd/../../x' }]],
      /".." after a directory/,
    ],
    [
      'a link to a file as a directory',
      [[file('x'), { name: 'manifests/a', type: '2', link: '../x/' }]],
      /dangling link/,
    ],
    [
      'a link to a directory',
      [[file('x/a'), { name: 'manifests/a', type: '2', link: '../x' }]],
      /link to a directory/,
    ],
    ['a link without a target', [[{ name: 'manifests/a', type: '2', link: '' }]], /invalid target/],
    [
      'a dangling link in place of a directory',
      [[{ ...linked, link: '/bundle' }]],
      /opm cannot resolve the link/,
    ],
  ])('rejects %s', async (_name, layers, reason) => {
    await expect(unpackArchives(layers.map((parts) => createTar(parts)))).rejects.toMatchObject(
      unsupported(reason),
    )
  })
  test('an opaque whiteout keeps the files of its layer and hides those of lower layers', async () => {
    const lower = createTar([file('manifests/old')])
    const upper = createTar([
      { name: 'manifests/d/', type: '5' },
      file('manifests/d/x'),
      file('manifests/.wh..wh..opq'),
    ])
    expect([...(await unpackArchives([lower, upper])).keys()]).toEqual(['manifests/d/x'])
  })
  test('a hard link to a file in a lower layer has the content of that file', async () => {
    const files = await unpackArchives([
      createTar([file('x', '1')]),
      createTar([{ name: 'manifests/a', type: '1', link: 'x' }]),
    ])
    expect(Buffer.from(files.get('manifests/a') ?? []).toString()).toBe('1')
  })
  test('a diff ID can use sha512', async () => {
    const archive = createTar([evilFile])
    const diffId = `sha512:${createHash('sha512').update(archive).digest('hex')}`
    expect((await unpackLayers([{ bytes: archive, diffId }], ['manifests'])).size).toBe(1)
  })
})
