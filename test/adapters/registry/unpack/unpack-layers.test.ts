// Layers with untrusted content: hostile archives, each rejected with a reason, and honest archives.
import { createHash } from 'node:crypto'
import { constants, gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import {
  unpackLayersInWorkerProcess,
  defaultImagePullLimits,
} from '../../../../src/adapters/registry/pull-bundle.ts'
import {
  defaultUnpackLimits,
  unpackLayers,
  type CompressedLayer,
} from '../../../../src/adapters/registry/unpack/unpack-layers.ts'
import { listChildProcesses, readPeakMemoryBytes } from '../../../processes.ts'
import { createPaxHeader, createTar, createTarOfFiles, type TarEntry } from '../tar-writer.ts'

const bundleDirectoryNames = ['manifests', 'metadata']

function compressLayer(archive: Buffer, bytes: Buffer = gzipSync(archive)): CompressedLayer {
  return { bytes, diffId: `sha256:${createHash('sha256').update(archive).digest('hex')}` }
}
async function unpackToText(
  ...layers: (readonly TarEntry[] | CompressedLayer)[]
): Promise<Record<string, string>> {
  const packed = layers.map((one) => ('diffId' in one ? one : compressLayer(createTar(one))))
  const files = await unpackLayers(packed, bundleDirectoryNames)
  return Object.fromEntries([...files].map(([path, bytes]) => [path, Buffer.from(bytes).toString()]))
}
const listUnpackedPaths = async (...layers: Parameters<typeof unpackToText>) =>
  Object.keys(await unpackToText(...layers))
const file = (name: string, data = name): TarEntry => ({ name, data })

describe('honest archives', () => {
  test('gzip, zstd, or uncompressed, with ./ and / prefixes, and only the requested directories', async () => {
    const archive = createTarOfFiles({
      './manifests/a.yaml': 'a',
      '/metadata/b.yaml': 'b',
      'other/c': 'c',
      'manifestsx/d': 'd',
    })
    for (const bytes of [gzipSync(archive), zstdCompressSync(archive), archive])
      expect(await unpackToText(compressLayer(archive, bytes))).toEqual({
        'manifests/a.yaml': 'a',
        'metadata/b.yaml': 'b',
      })
  })
  test('gzip with several members, and zstd with several frames and skippable frames', async () => {
    const archive = createTarOfFiles({ 'manifests/a': 'x'.repeat(3000) })
    const halves = [archive.subarray(0, 700), archive.subarray(700)]
    const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3])
    for (const bytes of [
      Buffer.concat(halves.map((half) => gzipSync(half))),
      Buffer.concat([...halves.map((half) => zstdCompressSync(half)), skippable]),
    ])
      expect(await listUnpackedPaths(compressLayer(archive, bytes))).toEqual(['manifests/a'])
  })
  test('zstd at the highest level, with a checksum, and with large and small windows', async () => {
    const archive = createTarOfFiles({
      'manifests/a': Buffer.from(Array.from({ length: 300_000 }, (_, n) => (n * n) % 251)),
    })
    const {
      ZSTD_c_compressionLevel: level,
      ZSTD_c_checksumFlag: checksum,
      ZSTD_c_windowLog: windowLog,
    } = constants
    for (const params of [
      { [level]: 22 },
      { [checksum]: 1 },
      { [windowLog]: 27 },
      { [level]: 1, [windowLog]: 10 },
    ])
      expect(await listUnpackedPaths(compressLayer(archive, zstdCompressSync(archive, { params })))).toEqual([
        'manifests/a',
      ])
  })
  test('long names in PAX headers, GNU headers, and the prefix field', async () => {
    const long = `manifests/${'n'.repeat(150)}.yaml`
    expect(await listUnpackedPaths([createPaxHeader({ path: long }), file('short')])).toEqual([long])
    expect(
      await listUnpackedPaths([{ name: '././@LongLink', type: 'L', data: `${long}\0` }, file('short')]),
    ).toEqual([long])
    expect(await listUnpackedPaths([{ name: 'a.yaml', prefix: 'manifests', data: '1' }])).toEqual([
      'manifests/a.yaml',
    ])
  })
  test('empty layers, no layers, and only directories', async () => {
    expect(await unpackToText()).toEqual({})
    expect(await unpackToText([])).toEqual({})
    expect(
      await unpackToText([
        { name: 'manifests/', type: '5' },
        { name: './/', type: '5' },
      ]),
    ).toEqual({})
  })
})

describe('stacked layers', () => {
  test('a later layer replaces files, and a file that replaces a directory removes its contents', async () => {
    expect(
      await unpackToText(
        [file('manifests/a', '1'), file('manifests/d/x')],
        [file('manifests/a', '2'), file('manifests/d', 'now a file')],
      ),
    ).toEqual({ 'manifests/a': '2', 'manifests/d': 'now a file' })
  })
  test('if one layer contains a name twice, the last entry wins', async () => {
    expect(await unpackToText([file('manifests/a', '1'), file('manifests/a', '2')])).toEqual({
      'manifests/a': '2',
    })
  })
  test('a whiteout hides the lower file or directory, but not files in the same layer', async () => {
    const lower = [file('manifests/a'), file('manifests/d/x'), file('manifests/ab')]
    expect(
      await listUnpackedPaths(lower, [file('manifests/.wh.a', ''), file('manifests/.wh.d', '')]),
    ).toEqual(['manifests/ab'])
    expect(
      await unpackToText(lower, [file('manifests/.wh.a', ''), file('manifests/a', 'new')]),
    ).toMatchObject({ 'manifests/a': 'new' })
  })
  test('an opaque directory hides lower layers, regardless of where its marker is in the archive', async () => {
    const lower = [file('manifests/a'), file('manifests/d/x')]
    for (const upper of [
      [file('manifests/.wh..wh..opq', ''), file('manifests/n')],
      [file('manifests/n'), file('manifests/.wh..wh..opq', '')],
    ])
      expect(await listUnpackedPaths(lower, upper)).toEqual(['manifests/n'])
  })
})

describe('links', () => {
  test('are followed only inside the image', async () => {
    expect(
      await unpackToText([
        file('data/a', '1'),
        { name: 'manifests/a', type: '2', link: '../data/a' },
        { name: 'manifests/b', type: '2', link: './././a' },
        { name: 'manifests/c', type: '1', link: 'data/a' },
      ]),
    ).toEqual({ 'manifests/a': '1', 'manifests/b': '1', 'manifests/c': '1' })
    expect(
      await unpackToText([
        file('bundle/manifests/a', '1'),
        { name: 'manifests', type: '2', link: 'bundle/manifests' },
      ]),
    ).toEqual({ 'manifests/a': '1' })
  })
  test.each([
    ['/etc/passwd', '2', 'opm cannot resolve the link'],
    ['../../../etc/passwd', '2', 'points outside the image'],
    ['a', '2', 'is a dangling link'],
    ['etc/passwd', '1', 'does not exist'],
  ])('a link to %s (type %s) without a valid target is rejected', async (link, type, reason) => {
    await expect(unpackToText([{ name: 'manifests/a', type, link }])).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining(reason),
    })
  })
  test('chains of more than eight links, including loops, are rejected', async () => {
    const chain = (length: number) => [
      file('manifests/l0', 'end'),
      ...Array.from({ length }, (_, n) => ({ name: `manifests/l${n + 1}`, type: '2', link: `l${n}` })),
    ]
    expect(await listUnpackedPaths(chain(8))).toHaveLength(9)
    await expect(unpackToText(chain(9))).rejects.toMatchObject({ code: 'unsupported' })
    await expect(
      unpackToText([
        { name: 'manifests/x', type: '2', link: 'y' },
        { name: 'manifests/y', type: '2', link: 'x' },
      ]),
    ).rejects.toMatchObject({ code: 'unsupported' })
  })
})

describe('rejected with a reason', () => {
  test.each<[string, readonly TarEntry[], RegExp]>([
    ['a name with a path traversal', [file('manifests/../../etc/passwd')], /points outside the archive/],
    [
      'a PAX name with a path traversal',
      [createPaxHeader({ path: '../x' }), file('x')],
      /points outside the archive/,
    ],
    [
      'a hard link with a path traversal',
      [{ name: 'manifests/a', type: '1', link: '../../etc/passwd' }],
      /points outside the archive/,
    ],
    ['a NUL in a PAX name', [createPaxHeader({ path: 'manifests/a\0b' }), file('x')], /NUL/],
    ['a NUL in a link', [createPaxHeader({ linkpath: 'a\0b' }), { name: 'manifests/a', type: '2' }], /NUL/],
    ['a leading backslash', [file('\\\\host\\share')], /Windows path/],
    ['a drive letter', [file('C:/x')], /Windows path/],
    ['a damaged checksum', [{ ...file('manifests/a'), breakChecksum: true }], /damaged/],
    ['a negative size', [{ name: 'manifests/a', size: new Uint8Array(12).fill(0xff) }], /size/],
    [
      'an enormous size',
      [
        {
          name: 'manifests/a',
          size: Uint8Array.from([0x80, 0x7f, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255]),
        },
      ],
      /size/,
    ],
    ['a non-numeric size', [{ name: 'manifests/a', size: '9x9' }], /size/],
    ['a negative PAX size', [createPaxHeader({ size: '-1' }), file('manifests/a')], /size/],
    ['a file larger than 8 MiB', [{ name: 'manifests/a', size: 9 * 1024 * 1024 }], /larger than/],
    ['a GNU sparse file', [{ name: 'manifests/a', type: 'S' }], /sparse/],
    ['a PAX sparse file', [createPaxHeader({ 'GNU.sparse.major': '1' }), file('manifests/a')], /sparse/],
    [
      'a PAX header larger than 64 KiB',
      [createPaxHeader({ comment: 'x'.repeat(70_000) }), file('a')],
      /extended header/,
    ],
    [
      'a PAX header with wrong lengths',
      [{ name: 'p', type: 'x', data: '999 path=a\n' }, file('a')],
      /extended header/,
    ],
    [
      'a name longer than the path limit',
      [createPaxHeader({ path: 'a/'.repeat(20_000) }), file('a')],
      /longer than/,
    ],
    ['a file without a name', [file('.//', '')].map((part) => ({ ...part, name: '.' })), /no name/],
  ])('%s', async (_name, parts, reason) => {
    await expect(unpackToText(parts)).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(reason),
    })
  })
  test.each(['3', '4', '6'])(
    'a device or pipe (type %s) in a requested directory, while others are skipped',
    async (type) => {
      await expect(unpackToText([{ name: 'manifests/dev', type }])).rejects.toMatchObject({
        code: 'unsupported',
        message: expect.stringContaining('device'),
      })
      expect(await unpackToText([{ name: 'dev/null', type }, file('manifests/a', '1')])).toEqual({
        'manifests/a': '1',
      })
    },
  )
  test('more than 20,000 entries', async () => {
    const archive = createTar(Array.from({ length: 20_001 }, () => ({ name: 'a', type: '5' })))
    await expect(unpackToText(compressLayer(archive))).rejects.toMatchObject({
      message: expect.stringContaining('20000 entries'),
    })
  })
  test('an archive that ends in the middle of a file', async () => {
    const archive = createTar([file('manifests/a', 'x'.repeat(2000))], { end: false }).subarray(0, 1100)
    await expect(unpackToText(compressLayer(archive))).rejects.toMatchObject({
      message: expect.stringContaining('middle'),
    })
  })
  test('truncated gzip, gzip with trailing bytes, and data that is not an archive', async () => {
    const archive = createTarOfFiles({ 'manifests/a': 'x'.repeat(5000) })
    const packed = gzipSync(archive)
    for (const bytes of [packed.subarray(0, -9), Buffer.concat([packed, Buffer.from('rubbish')])])
      await expect(unpackToText(compressLayer(archive, bytes))).rejects.toMatchObject({
        code: 'unsupported',
        message: expect.stringContaining('compressed data'),
      })
    await expect(unpackToText(compressLayer(archive, Buffer.alloc(600, 65)))).rejects.toMatchObject({
      code: 'unsupported',
    })
  })
  test('a wrong diff ID, and trailing archive bytes that the diff ID does not cover', async () => {
    const archive = createTarOfFiles({ 'manifests/a': '1' })
    await expect(
      unpackToText({ ...compressLayer(archive), diffId: `sha256:${'0'.repeat(64)}` }),
    ).rejects.toMatchObject({ code: 'digest-mismatch' })
    const longer = Buffer.concat([archive, Buffer.alloc(512)])
    await expect(unpackToText({ ...compressLayer(archive), bytes: gzipSync(longer) })).rejects.toMatchObject({
      code: 'digest-mismatch',
    })
  })
  test('files with a total size over the limit', async () => {
    const limits = { ...defaultUnpackLimits, contentBytes: 1000 }
    const archive = createTarOfFiles({ 'manifests/a': 'x'.repeat(600), 'manifests/b': 'x'.repeat(600) })
    await expect(unpackLayers([compressLayer(archive)], bundleDirectoryNames, limits)).rejects.toMatchObject({
      message: expect.stringContaining('1000'),
    })
    // Files outside the requested directories are discarded instead.
    const other = createTarOfFiles({ 'usr/a': 'x'.repeat(900), 'usr/b': 'x'.repeat(600), 'manifests/b': 'x' })
    expect([...(await unpackLayers([compressLayer(other)], bundleDirectoryNames, limits)).keys()]).toEqual([
      'manifests/b',
    ])
  })
  test('layers with an unpacked size over the limit, alone or in total', async () => {
    const limits = { ...defaultUnpackLimits, layer: 50_000, image: 80_000 }
    const archive = (size: number) => compressLayer(createTarOfFiles({ 'usr/a': Buffer.alloc(size, 65) }))
    await expect(unpackLayers([archive(60_000)], bundleDirectoryNames, limits)).rejects.toMatchObject({
      message: expect.stringContaining('50000'),
    })
    await expect(
      unpackLayers([archive(45_000), archive(45_000)], bundleDirectoryNames, limits),
    ).rejects.toMatchObject({ message: expect.stringContaining('80000') })
  })
})

/** A zstd frame with one empty block after the header: flags, then window or content size. */
const createZstdFrame = (header: readonly number[]) =>
  Buffer.from([0x28, 0xb5, 0x2f, 0xfd, ...header, 0x01, 0x00, 0x00])
/** A zstd frame with one compressed block of zeros, a window of 2^`window` bytes, and a declared content size. */
function createRleZstdFrame(size: number, window: number): Buffer {
  const made = zstdCompressSync(Buffer.alloc(size))
  // Magic number, flags for a 2-byte content size in a single segment, and the size. The blocks follow.
  expect(made[4]).toBe(0x60)
  const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x40, (window - 10) << 3, 0, 0])
  header.writeUInt16LE(size - 256, 6)
  return Buffer.concat([header, made.subarray(7)])
}
const oversizedZstdWindowHeaders: readonly (readonly [string, readonly number[]])[] = [
  ['144 MiB', [0x00, 0x89]],
  ['1 GiB', [0x00, 0xa0]],
  // Overflows a 32-bit shift.
  ['2 TiB', [0x00, 0xf8]],
  ['a content of 4 GiB in one segment', [0xa0, 0xff, 0xff, 0xff, 0xff]],
  ['a content of 16 EiB in one segment', [0xe0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]],
]

/** Other tests in this worker may have left a shared one. */
const listUnpackProcesses = () => listChildProcesses('unpack-process')

/** Peak memory in bytes of this process's children while `work` runs, sampled every few milliseconds. */
async function measurePeakMemoryBytes(work: () => Promise<unknown>): Promise<number> {
  let peak = 0
  const sampleMemory = () => {
    peak = Math.max(peak, ...listUnpackProcesses().map(readPeakMemoryBytes))
  }
  const watch = setInterval(sampleMemory, 5)
  try {
    await work()
  } finally {
    clearInterval(watch)
  }
  return peak
}

/** Memory that Node.js and the loaded program need. */
const nodeBaselineMemoryBytes = 110 * 1024 * 1024

describe('in a separate process', () => {
  test('files and rejections are returned', async () => {
    const archive = createTarOfFiles({ 'manifests/a': '1' })
    expect(
      [...(await unpackLayersInWorkerProcess([compressLayer(archive)], bundleDirectoryNames))].map(
        ([path]) => path,
      ),
    ).toEqual(['manifests/a'])
    await expect(
      unpackLayersInWorkerProcess([compressLayer(createTar([file('../x')]))], bundleDirectoryNames),
    ).rejects.toMatchObject({ code: 'unsupported' })
    await expect(
      unpackLayersInWorkerProcess([{ ...compressLayer(archive), diffId: '' }], bundleDirectoryNames),
    ).rejects.toMatchObject({ code: 'digest-mismatch' })
  })
  test('a 1000:1 decompression bomb is stopped early with bounded memory', async () => {
    const archive = createTarOfFiles({ 'usr/zeros': Buffer.alloc(200 * 1024 * 1024) })
    const bomb = { bytes: gzipSync(archive, { level: 9 }), diffId: '' }
    archive.fill(0)
    const peak = await measurePeakMemoryBytes(() =>
      expect(unpackLayersInWorkerProcess([bomb], bundleDirectoryNames)).rejects.toMatchObject({
        code: 'unsupported',
        message: expect.stringContaining('200 times'),
      }),
    )
    expect(peak).toBeGreaterThan(20 * 1024 * 1024)
    expect(peak).toBeLessThan(nodeBaselineMemoryBytes + 150 * 1024 * 1024)
  })
  test.each<[string, () => CompressedLayer[], RegExp]>([
    [
      'a zstd decompression bomb',
      () => [
        compressLayer(
          Buffer.alloc(0),
          zstdCompressSync(createTarOfFiles({ 'usr/zeros': Buffer.alloc(100 * 1024 * 1024) })),
        ),
      ],
      /200 times/,
    ],
    ...oversizedZstdWindowHeaders.map(([size, header]): [string, () => CompressedLayer[], RegExp] => [
      `a zstd window of ${size}, there only to use up memory,`,
      () => [compressLayer(Buffer.alloc(0), createZstdFrame(header))],
      /a zstd window of more than 134217728 bytes/,
    ]),
    [
      'a zstd block slightly larger than its window, in a frame with a declared size,',
      () => [compressLayer(Buffer.alloc(4100), createRleZstdFrame(4100, 12))],
      /corrupt/,
    ],
    [
      'a zstd frame with an empty last block and less content than declared',
      () => {
        const honest = createTarOfFiles({ 'manifests/a': 'a' })
        const oneByteFrame = createZstdFrame([0x80, 0x38, 1, 0, 0, 0])
        return [compressLayer(honest, Buffer.concat([zstdCompressSync(honest), oneByteFrame]))]
      },
      /not have its declared size/,
    ],
    [
      'an oversized zstd window in the second frame',
      () => {
        const skippable = Buffer.from([0x51, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9])
        const honest = zstdCompressSync(Buffer.alloc(1024))
        return [
          compressLayer(
            Buffer.alloc(1024),
            Buffer.concat([honest, skippable, createZstdFrame([0x00, 0xa0])]),
          ),
        ]
      },
      /a zstd window of more than/,
    ],
    [
      'a gzip decompression bomb with many members',
      () => {
        const member = gzipSync(Buffer.alloc(8 * 1024 * 1024))
        return [compressLayer(Buffer.alloc(0), Buffer.concat(Array.from({ length: 40 }, () => member)))]
      },
      /times its compressed size|more than \d+ bytes|corrupt/,
    ],
    [
      'a file with a declared size as large as a disk',
      () => [
        compressLayer(
          createTar([{ name: 'usr/a', size: Uint8Array.from([0x80, 0, 0, 0, 0, 0, 0xff, 0, 0, 0, 0, 0]) }]),
        ),
      ],
      /middle of an entry/,
    ],
    [
      'thousands of long names',
      () => {
        const long = (n: number) => createPaxHeader({ path: `${n}/${'p/'.repeat(2000)}x` })
        return [
          compressLayer(
            createTar(Array.from({ length: 9_999 }, (_, n) => [long(n), { name: 'x', type: '5' }]).flat()),
          ),
        ]
      },
      /^unpacked$|too much memory/,
    ],
  ])('%s: handled with bounded memory', async (_name, layers, reason) => {
    const made = layers()
    let outcome = ''
    const peak = await measurePeakMemoryBytes(async () => {
      outcome = await unpackLayersInWorkerProcess(made, bundleDirectoryNames).then(
        () => 'unpacked',
        (error: Error) => error.message,
      )
    })
    expect(outcome).toMatch(reason)
    // The limits for the heap (160 MiB) and for data outside it (64 MiB), with some margin.
    expect(peak).toBeLessThan(nodeBaselineMemoryBytes + 256 * 1024 * 1024)
  })
  test('a process that is killed from outside is reported as a retryable error', async () => {
    const layers = [compressLayer(createTarOfFiles({ 'manifests/a': '1' }))]
    const unpacking = unpackLayersInWorkerProcess(layers, bundleDirectoryNames)
    const ended = expect(unpacking).rejects.toMatchObject({ code: 'timeout', retryable: true })
    // The first one that is listed may be left from another test, and another one takes the work.
    const killAll = () => listUnpackProcesses().forEach((id) => process.kill(id, 'SIGKILL'))
    const killing = setInterval(killAll, 1)
    killAll()
    await ended.finally(() => clearInterval(killing))
  })
  test('unpacking that exceeds the time limit is stopped', async () => {
    const archive = createTarOfFiles({ 'manifests/a': '1' })
    await expect(
      unpackLayersInWorkerProcess([compressLayer(archive)], bundleDirectoryNames, {
        ...defaultImagePullLimits,
        unpackTime: 1,
      }),
    ).rejects.toMatchObject({ message: expect.stringContaining('longer than 1') })
  })
})
