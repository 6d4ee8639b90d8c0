// .indexignore as opm v1.73 reads it, which differs from .gitignore.
import { describe, expect, test } from '@jest/globals'
import {
  decodeIgnoreFile,
  selectCatalogFiles,
  selectCatalogFilesInTree,
} from '../../../../packages/fbc/src/load/select-files.ts'

/** Whether the ignore files, given by path, exclude `path`. */
function isPathIgnored(path: string, ignoreFiles: Record<string, string>): boolean {
  const paths = [path, ...Object.keys(ignoreFiles)]
  return selectCatalogFiles(paths, new Map(Object.entries(ignoreFiles))).files.length === 0
}

test.each([
  ['docs', 'a/docs/x.yaml', true],
  ['docs', 'docs', true],
  ['docs/', 'docs', false],
  ['docs/', 'docs/x', true],
  ['a/b', 'a/b/c/d', true],
  ['a/b', 'x/a/b', false],
  ['/*', 'any/thing', true],
  ['a//b', 'a/b', true],
  ['**/objects/*.json', 'a/objects/x.json', true],
  ['**/objects/*.json', 'a/objects/b/objects/x.json', false],
  ['foo/**', 'foo', true],
  ['/**', 'foo', false],
  ['x/a**b', 'x/ab', false],
  ['a**b', 'axb', true],
  ['[^a]', 'b', true],
  ['[!a]', 'b', false],
  ['[!a]', 'a', true],
  ['[', '[', false],
  ['\\[', '[', true],
  ['a\\', 'a', false],
  ['./x', 'x', false],
  ['  x  ', 'x', true],
  ['x # why', 'x', false],
  ['\ufeffx', 'x', false],
  ['X', 'x', false],
])('a pattern %j on %s: %s', (pattern, path, expected) => {
  expect(isPathIgnored(path, { '.indexignore': pattern })).toBe(expected)
})

describe('among several patterns', () => {
  test('the last match applies, and directories are never pruned', () => {
    expect(isPathIgnored('docs/keep.yaml', { '.indexignore': 'docs\n!docs/keep.yaml' })).toBe(false)
    expect(isPathIgnored('docs/x.yaml', { '.indexignore': 'docs\n!docs/keep.yaml' })).toBe(true)
  })

  test('the file of a subdirectory applies later, unless the directory sorts before .indexignore', () => {
    expect(isPathIgnored('a/x', { '.indexignore': 'x', 'a/.indexignore': '!x' })).toBe(false)
    expect(isPathIgnored('-a/x', { '.indexignore': 'x', '-a/.indexignore': '!x' })).toBe(true)
  })

  test('a file affects only paths below its directory', () => {
    expect(isPathIgnored('b/x', { 'a/.indexignore': 'x' })).toBe(false)
  })
})

test('a line of 65536 bytes cannot be read', () => {
  const select = (line: string): unknown =>
    selectCatalogFiles(['.indexignore'], new Map([['.indexignore', line]])).loadError
  expect(select('x'.repeat(65_535))).toBeUndefined()
  expect(select('x'.repeat(65_536))).toEqual({
    file: '.indexignore',
    message: 'bufio.Scanner: token too long',
  })
})

test('files are in the order of a directory walk, by bytes in each directory', () => {
  const { files } = selectCatalogFiles(['b', 'a/z', 'a.b', 'a-b/c', 'B'], new Map())
  expect(files).toEqual(['B', 'a/z', 'a-b/c', 'a.b', 'b'])
})

test('a character class with bytes that are not UTF-8 is malformed, and matches nothing', () => {
  const text = (bytes: number[]) => decodeIgnoreFile(Uint8Array.from(bytes))
  const set = (byte: number) => text([0x5b, byte, 0x30, 0x2d, 0x39, 0x5d])
  expect(isPathIgnored('5', { '.indexignore': set(0x2d) })).toBe(false)
  expect(isPathIgnored('5', { '.indexignore': set(0x61) })).toBe(true)
  expect(isPathIgnored('5', { '.indexignore': set(0xf8) })).toBe(false)
  expect(isPathIgnored('\ufffd', { '.indexignore': text([0xf8]) })).toBe(false)
  expect(text([0xef, 0xbb, 0xbf, 0x78])).toBe('\ufeffx')
})

test('the byte order mark of an ignore file in an image is part of its first pattern, as on disk', () => {
  const tree = new Map([
    ['.indexignore', Uint8Array.from([0xef, 0xbb, 0xbf, 0x78])],
    ['x', new Uint8Array()],
    ['\ufeffx', new Uint8Array()],
  ])
  expect(selectCatalogFilesInTree(tree).files).toEqual(['x'])
})
