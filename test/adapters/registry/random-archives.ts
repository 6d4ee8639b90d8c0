// Random but reproducible images with all forms of tar headers, including ambiguous ones, some with damaged bytes.
// bench/fuzz-archives.ts compares how we and Go read them.
import { gzipSync } from 'node:zlib'
import type { SeededRandom } from '../../packages/fbc/go/fast/mutated-documents.ts'
import {
  compressIntoFrames,
  createRandomCompressedFrames,
  type CompressedFrame,
  type CompressionFormat,
} from './random-frames.ts'
import { computeHeaderChecksum, createPaxHeader, createTar, type TarEntry } from './tar-writer.ts'

export interface RandomLayer {
  readonly parts: readonly TarEntry[]
  /** The bytes after the entries: usually two empty blocks. */
  readonly ending: Uint8Array
  /** Positions and values of changed bytes, and whether to correct the checksum of the header. */
  readonly damage: readonly (readonly [number, number, boolean])[]
  readonly cut: number
  readonly packing: CompressionFormat | 'none'
  /** The compressed frames. */
  readonly frames: readonly CompressedFrame[]
  /** Positions from the end, and values, of bytes that are changed after compression. */
  readonly packedDamage: readonly (readonly [number, number])[]
  /** The bytes after the compressed ones. */
  readonly rest: Uint8Array
}

const commonTarEntryNames = [
  'manifests/a',
  'manifests/b',
  'manifests/d/x',
  'manifests/d',
  'manifests',
  'metadata/a',
  'other/a',
  'other/d/x',
  'other',
]
const unusualTarEntryNames: readonly (string | Uint8Array)[] = [
  './manifests/a',
  'manifests//a',
  '/manifests/a',
  'manifests/a/',
  'manifests/d/',
  'manifests/',
  'metadata/../manifests/a',
  'manifests/./a',
  'manifests/.wh.a',
  'manifests/.wh.d',
  'manifests/d/.wh.x',
  'manifests/.wh..wh..opq',
  'manifests/d/.wh..wh..opq',
  '.wh..wh..opq',
  '.wh.manifests',
  'manifests/.wh.',
  'manifests/.wh..',
  'manifests/.wh.../a',
  'manifests/.wh.a/b',
  'Manifests/a',
  'manifests/A',
  'manifests\\a',
  'manifests/a\u0301',
  '\ufeffmanifests/a',
  Buffer.from('manifests/\xe9', 'latin1'),
  Buffer.from('manifests/\xff', 'latin1'),
  'manifests/ a',
  'manifests/a ',
  'manifests/a\n',
  '.',
  '',
  '..',
  `manifests/${'n'.repeat(80)}`,
  'pax_global_header',
]
const tarLinkTargets = [
  'a',
  'b',
  '../other/a',
  '../other',
  'other',
  'other/a',
  'manifests',
  'manifests/a',
  'd/x',
  '/other/a',
  'd/../a',
  '../../x',
  '../d/a',
  'a/',
  'd/.',
  './a',
  '.',
  '',
]
const tarMagicFieldValues = [
  'ustar\u000000',
  'ustar  \0',
  '\0\0\0\0\0\0\0\0',
  'ustar\0  ',
  'ustar 00',
  'ustar\0\0\0',
  'xxxxxxxx',
]
const tarNumberFieldValues: readonly (string | Uint8Array)[] = [
  '00000001000\0',
  '\x0000000001000',
  '       1000 ',
  '1000\0\0\0zz\0\0\0',
  '1000 \t\0\0\0\0\0\0',
  '-0000000001\0',
  '0x200\0\0\0\0\0\0\0',
  '+00000001000',
  '00000000009\0',
  '\0\0\0\0\0\0\0\0\0\0\0\0',
  '            ',
  '777777777777',
  Uint8Array.from([0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0]),
  Uint8Array.from([0x80, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 2, 0]),
  Uint8Array.from([0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0]),
  new Uint8Array(12).fill(0xff),
]

export function createRandomImage(random: SeededRandom): readonly RandomLayer[] {
  // One archive in four is nearly valid, so that the readers have something to agree on.
  const wildness = random.pick([2, 10, 25, 45])
  const layers = 1 + random.below(2) * random.below(2)
  return Array.from({ length: layers }, () => createRandomLayer(random, wildness))
}

function createRandomLayer(random: SeededRandom, wildness: number): RandomLayer {
  const isOdd = (share = 1) => random.below(100) < wildness * share
  const parts = Array.from({ length: 1 + random.below(5) }, () =>
    createRandomTarEntries(random, isOdd),
  ).flat()
  const length = parts.length * 700
  const packing = random.pick(['none', 'none', 'none', 'gzip', 'zstd', 'zstd'] as const)
  return {
    parts,
    ending: isOdd(0.5) ? random.pick(tarTrailerGenerators)() : Buffer.alloc(1024),
    damage: Array.from({ length: isOdd(0.6) ? 1 + random.below(3) : 0 }, () => [
      // Usually in the header.
      random.below(3) === 0 ? random.below(length) : 512 * random.below(parts.length * 2) + random.below(512),
      random.pick([
        0,
        0x20,
        0x2f,
        0x30,
        0x31,
        0x35,
        0x37,
        0x53,
        0x78,
        0x67,
        0x4c,
        0x80,
        0xff,
        random.below(256),
      ]),
      random.below(4) !== 0,
    ]),
    cut: isOdd(0.3) ? random.below(1500) : 0,
    packing,
    frames: packing === 'none' ? [] : createRandomCompressedFrames(random, packing, isOdd),
    packedDamage: Array.from({ length: isOdd(0.3) ? 1 : 0 }, () => [
      1 + random.below(300),
      random.below(256),
    ]),
    rest: isOdd(0.3)
      ? random.pick([Buffer.alloc(9), Buffer.from('rest'), gzipSync(Buffer.alloc(512))])
      : Buffer.alloc(0),
  }
}

const tarTrailerGenerators: readonly (() => Buffer)[] = [
  () => Buffer.alloc(0),
  () => Buffer.alloc(512),
  () => Buffer.alloc(700),
  () => Buffer.alloc(10_240),
  () => Buffer.concat([Buffer.alloc(512), createTar([{ name: 'manifests/late', data: 'late' }])]),
  () => Buffer.concat([Buffer.alloc(1024), createTar([{ name: 'manifests/late', data: 'late' }])]),
  () => Buffer.concat([Buffer.alloc(1024), Buffer.from('garbage')]),
]

type RandomBooleanGenerator = (share?: number) => boolean

/** One entry with its preceding extended headers. */
function createRandomTarEntries(random: SeededRandom, isOdd: RandomBooleanGenerator): readonly TarEntry[] {
  const type = isOdd() ? random.pick([...'\x007123456SDMNVXAgxLK9']) : random.pick([...'0000000055512'])
  const name = isOdd() ? random.pick(unusualTarEntryNames) : random.pick(commonTarEntryNames)
  const hasData = isOdd() ? random.below(2) === 0 : type === '0' || type === '\0'
  const part: TarEntry = {
    name: type === '5' && typeof name === 'string' && random.below(2) === 0 ? `${name}/` : name,
    type,
    ...(hasData && { data: createRandomFileContent(random) }),
    ...('12'.includes(type) && {
      link: isOdd()
        ? random.pick(tarLinkTargets)
        : random.pick(type === '1' ? commonTarEntryNames : tarLinkTargets),
    }),
    ...(isOdd(0.5) && { size: random.pick([0, 1, 511, 512, 513, 1024, ...tarNumberFieldValues]) }),
    ...(isOdd() && { magic: random.pick(tarMagicFieldValues) }),
    ...(isOdd(0.5) && { prefix: random.pick(['manifests', 'other', 'manifests/d/', '.', '\xff', '12345']) }),
    ...(isOdd(0.2) && { breakChecksum: true }),
    ...(isOdd(0.2) && { signedChecksum: true }),
    ...(isOdd(0.5) && { over: [createRandomTarHeaderField(random)] }),
  }
  return isOdd(1.2) ? [...createRandomTarExtensionEntries(random, isOdd), part] : [part]
}

/** Fields without effect on the content, times that may be a prefix, the mark of star, and the sparse map. */
function createRandomTarHeaderField(random: SeededRandom): readonly [number, string | Uint8Array] {
  const [at, length] = random.pick([
    [100, 8],
    [108, 8],
    [136, 12],
    [329, 8],
    [345, 12],
    [357, 12],
    [386, 12],
    [483, 12],
  ] as const)
  const value = random.pick(tarNumberFieldValues)
  return random.below(6) === 0 ? [508, 'tar\0'] : [at, value.slice(0, length)]
}

const paxKeys = [
  'path',
  'path',
  'linkpath',
  'size',
  'size',
  'mtime',
  'uid',
  'comment',
  'SCHILY.xattr.user.a',
  'hdrcharset',
]
const sparsePaxKeys = ['major', 'minor', 'name', 'realsize', 'size', 'map', 'numblocks', 'offset', 'numbytes']

function createRandomTarExtensionEntries(
  random: SeededRandom,
  isOdd: RandomBooleanGenerator,
): readonly TarEntry[] {
  return Array.from({ length: isOdd() ? 2 + random.below(2) : 1 }, () => {
    const name = random.pick(['PaxHeader', '././@LongLink', 'manifests/a'])
    const kind = random.below(10)
    if (kind < 2)
      return {
        name,
        type: random.pick(['L', 'K']),
        data: `${String(random.pick(commonTarEntryNames))}${isOdd() ? '' : '\0'}`,
      }
    if (kind === 2) return { name, type: 'x', data: random.pick(malformedPaxRecords) }
    const records: Record<string, string> = {}
    for (let left = 1 + random.below(3); left > 0; left -= 1) {
      const key = isOdd(0.5) ? `GNU.sparse.${random.pick(sparsePaxKeys)}` : random.pick(paxKeys)
      records[key] = createRandomPaxValue(random, key, isOdd)
    }
    return { ...createPaxHeader(records, kind === 3 ? 'g' : 'x'), name }
  })
}

function createRandomPaxValue(random: SeededRandom, key: string, isOdd: RandomBooleanGenerator): string {
  if (isOdd(0.5))
    return random.pick(['', '-1', '+5', '1e3', '0x10', 'a\0b', '../a', '\u00e9', '0,5', '1', '0'])
  if (key === 'path' || key === 'GNU.sparse.name') return random.pick(commonTarEntryNames)
  if (key === 'linkpath') return random.pick(tarLinkTargets)
  return random.pick(['0', '1', '5', '512', '1700000000.5'])
}

const malformedPaxRecords = [
  '18 path=manifests\n',
  '0x12 path=manifests\n',
  ' 18 path=manifests\n',
  '018 path=manifests\n',
  '17 path=manifests\n',
  '9 path=a\n9 path=b\n',
  '8 path=\n',
  '5 =a\n',
  '9 path=a\n\0\0',
  '9 PATH=a\n',
  '1e1 path=a\n',
  '22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n',
  '24 GNU.sparse.offset=0\n26 GNU.sparse.numbytes=5\n',
]

function createRandomFileContent(random: SeededRandom): string {
  const length = random.pick([0, 1, 5, 511, 512, 513, 1100])
  return random.pick('abcdefgh'.split('')).repeat(length)
}

/** The bytes of a layer before and after its compression. */
export function packRandomLayer(layer: RandomLayer): { readonly archive: Buffer; readonly bytes: Buffer } {
  let archive = Buffer.concat([createTar(layer.parts, { end: false }), layer.ending])
  for (const [at, value, fixesChecksum] of layer.damage) {
    if (at >= archive.length) continue
    archive[at] = value
    const header = archive.subarray(at - (at % 512), at - (at % 512) + 512)
    const isInSum = at % 512 >= 148 && at % 512 < 156
    if (fixesChecksum && !isInSum && header.length === 512)
      header.write(`${computeHeaderChecksum(header).toString(8).padStart(6, '0')}\0 `, 148)
  }
  archive = archive.subarray(0, Math.max(archive.length - layer.cut, 0))
  const { packing, frames, packedDamage, rest } = layer
  const bytes = Buffer.concat([
    packing === 'none' ? archive : compressIntoFrames(archive, packing, frames),
    rest,
  ])
  for (const [behind, value] of packedDamage) if (behind <= bytes.length) bytes[bytes.length - behind] = value
  return { archive, bytes }
}
