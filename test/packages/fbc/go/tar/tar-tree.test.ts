// Archives with unusual names have the same bytes as from Go 1.26 (archive/tar).
import { createHash } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { packTarTree, joinByteChunks } from '../../../../../packages/fbc/src/go/tar/tar-tree.ts'

const textEncoder = new TextEncoder()
const createTarFile = (path: string, text = '') => ({ path, pieces: [textEncoder.encode(text)] })
const createTarArchive = (...files: ReturnType<typeof createTarFile>[]) =>
  joinByteChunks([
    ...packTarTree(files, { directory: 0o755, file: 0o644 }, (path) => (path === '' ? '.' : path)),
  ])
const listTarEntryNames = (bytes: Uint8Array) => {
  const names: string[] = []
  for (let at = 0; at < bytes.length; at += 512) {
    const block = bytes.subarray(at, at + 512)
    if (Buffer.from(block.subarray(257, 262)).toString() !== 'ustar') continue
    names.push(Buffer.from(block.subarray(0, 100)).toString().replace(/\0+$/, ''))
  }
  return names
}

describe('a tree', () => {
  test('has the order of Go: names by their bytes, and each directory before its content', () => {
    expect(
      listTarEntryNames(
        createTarArchive(
          createTarFile('a/x'),
          createTarFile('a.b'),
          createTarFile('Z'),
          createTarFile('a/B/y'),
        ),
      ),
    ).toEqual([...['.', 'Z', 'a', 'a/B', 'a/B/y', 'a/x', 'a.b']])
  })
  test.each([
    ['a short name', 'a', '170a16cdfab1777a'],
    ['a name of 100 bytes', 'n'.repeat(100), 'cc5ba4c9b5b92bd5'],
    ['a name of 101 bytes, which cannot be split', 'n'.repeat(101), 'e372624aa6c63e8d'],
    ['a path that is split', `${'d'.repeat(120)}/${'n'.repeat(60)}`, '8d6ba941b290fcb2'],
    ['a path too long to split', `${'d'.repeat(160)}/${'n'.repeat(60)}`, '02cd070a237a074b'],
    ['a name that is not ASCII', 'ordner/größe', '5019fdf222f0d79f'],
    ['a name not ASCII and long', `${'ü'.repeat(60)}/x`, 'b85caa50ccd34ad4'],
  ])('with %s has the same bytes as from Go', (_name, path, digest) => {
    const bytes = createTarArchive(createTarFile(path, 'text'))
    expect(createHash('sha256').update(bytes).digest('hex').slice(0, 16)).toBe(digest)
  })
})
