// The compressed layer is one regular gzip file, regardless of how its content is split.
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import { gzipByteChunks } from '../../../src/adapters/image/layer/pack-layer.ts'
import type { ByteChunkTree } from '../../../packages/fbc/src/go/tar/tar-tree.ts'

const createDeterministicBytes = (length: number, seed: number) =>
  Uint8Array.from({ length }, (_, at) => (at * seed) % 251)
const concatenateByteChunks = (chunks: ByteChunkTree): Buffer =>
  chunks instanceof Uint8Array ? Buffer.from(chunks) : Buffer.concat(chunks.map(concatenateByteChunks))

describe('a layer', () => {
  const shared = [createDeterministicBytes(90_000, 7), createDeterministicBytes(20, 3)]
  test.each<[string, ByteChunkTree[]]>([
    ['no chunks', []],
    ['an empty chunk', [new Uint8Array(0)]],
    ['chunks larger than a block', [createDeterministicBytes(1_200_000, 11), createDeterministicBytes(5, 1)]],
    [
      'repeated and nested chunks',
      [shared, createDeterministicBytes(3, 1), [shared, shared], shared[0] as ByteChunkTree],
    ],
  ])('of %s is unpacked to the same bytes', async (_name, chunks) => {
    const packed = await gzipByteChunks(chunks)
    expect(gunzipSync(packed).equals(concatenateByteChunks(chunks))).toBe(true)
    // The header has no name, time, or system, and the output is reproducible.
    expect([...packed.subarray(0, 10)]).toEqual([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])
    expect((await gzipByteChunks(chunks)).equals(packed)).toBe(true)
  })
})
