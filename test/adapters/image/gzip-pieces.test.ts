// The compressed layer is one regular gzip file, regardless of how its content is split.
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import { gzipByteChunks } from '../../../src/adapters/image/layer/pack-layer.ts'
import type { ByteChunkTree } from '../../../packages/fbc/src/go/tar/tar-tree.ts'

const createDeterministicBytes = (length: number, seed: number) =>
  Uint8Array.from({ length }, (_, at) => (at * seed) % 251)
const concatenateByteChunks = (piece: ByteChunkTree): Buffer =>
  piece instanceof Uint8Array ? Buffer.from(piece) : Buffer.concat(piece.map(concatenateByteChunks))

describe('an archive in pieces', () => {
  const shared = [createDeterministicBytes(90_000, 7), createDeterministicBytes(20, 3)]
  test.each<[string, ByteChunkTree[]]>([
    ['no piece', []],
    ['an empty piece', [new Uint8Array(0)]],
    ['pieces larger than a part', [createDeterministicBytes(1_200_000, 11), createDeterministicBytes(5, 1)]],
    [
      'repeated and nested pieces',
      [shared, createDeterministicBytes(3, 1), [shared, shared], shared[0] as ByteChunkTree],
    ],
  ])('of %s is the same archive when it is unpacked', async (_name, pieces) => {
    const packed = await gzipByteChunks(pieces)
    expect(gunzipSync(packed).equals(concatenateByteChunks(pieces))).toBe(true)
    // The header has no name, time, or system, and the output is reproducible.
    expect([...packed.subarray(0, 10)]).toEqual([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])
    expect((await gzipByteChunks(pieces)).equals(packed)).toBe(true)
  })
})
