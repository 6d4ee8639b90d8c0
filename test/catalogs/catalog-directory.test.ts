// Directories on disk, opened as opm opens them, with the same error messages.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CatalogDirectoryFile } from '../../src/catalogs/catalog-directory.ts'
import { ReusableReadBuffer, listCatalogDirectoryFiles } from '../../src/catalogs/catalog-directory.ts'

let catalogDirectory = ''
beforeEach(() => {
  catalogDirectory = mkdtempSync(join(tmpdir(), 'catalog-'))
})
afterEach(() => rmSync(catalogDirectory, { recursive: true, force: true }))

function listCatalogFiles(dir: string): readonly CatalogDirectoryFile[] {
  const opened = listCatalogDirectoryFiles(dir)
  return opened.kind === 'files' ? opened.files : []
}

describe('a catalog directory', () => {
  test('contains every file that is not ignored, regardless of its name', () => {
    mkdirSync(join(catalogDirectory, 'sub'))
    for (const path of ['README.md', '.hidden', 'a\nb', 'sub/x.json', 'sub/skip'])
      writeFileSync(join(catalogDirectory, path), path)
    writeFileSync(join(catalogDirectory, 'sub', '.indexignore'), 'skip')
    const files = listCatalogFiles(catalogDirectory)
    expect(files.map((file) => file.path)).toEqual(['.hidden', 'README.md', 'a\nb', 'sub/x.json'])
    expect(new TextDecoder().decode(files[3]?.read() as Uint8Array)).toBe('sub/x.json')
  })

  test('reads files of any size into the same buffer, one after another', () => {
    const contents = ['short', 'x'.repeat(10_000), '', 'short again']
    for (const [at, content] of contents.entries()) writeFileSync(join(catalogDirectory, `${at}`), content)
    const memory = new ReusableReadBuffer()
    for (const [at, file] of listCatalogFiles(catalogDirectory).entries())
      expect(new TextDecoder().decode(file.read(memory) as Uint8Array)).toBe(contents[at])
  })

  test('must exist, and be a directory', () => {
    writeFileSync(join(catalogDirectory, 'file'), '')
    expect(listCatalogDirectoryFiles(join(catalogDirectory, 'none'))).toEqual({
      kind: 'not-a-directory',
      message: `stat ${catalogDirectory}/none: no such file or directory`,
    })
    expect(listCatalogDirectoryFiles(join(catalogDirectory, 'file'))).toEqual({
      kind: 'not-a-directory',
      message: `"${catalogDirectory}/file" is not a directory`,
    })
  })
})

describe('a symbolic link', () => {
  test('to a file is read as that file, and is marked if it leads out of the directory', () => {
    mkdirSync(join(catalogDirectory, 'catalog'))
    writeFileSync(join(catalogDirectory, 'outside'), 'x')
    writeFileSync(join(catalogDirectory, 'catalog', 'inside'), 'x')
    symlinkSync('../outside', join(catalogDirectory, 'catalog', 'a'))
    symlinkSync('inside', join(catalogDirectory, 'catalog', 'b'))
    const files = listCatalogFiles(join(catalogDirectory, 'catalog'))
    expect(files.map(({ path, leadsOut }) => [path, leadsOut])).toEqual([
      ['a', true],
      ['b', false],
      ['inside', false],
    ])
    expect(files[0]?.read()).toEqual(Buffer.from('x'))
  })

  test('to a directory, to a missing file, or to itself is an error with the message of Go', () => {
    mkdirSync(join(catalogDirectory, 'dir'))
    symlinkSync('dir', join(catalogDirectory, 'a'))
    symlinkSync('nothing', join(catalogDirectory, 'b'))
    symlinkSync('c', join(catalogDirectory, 'c'))
    expect(listCatalogFiles(catalogDirectory).map((file) => file.read())).toEqual([
      { error: `read ${catalogDirectory}/a: is a directory` },
      { error: 'open b: no such file or directory' },
      { error: 'open c: too many levels of symbolic links' },
    ])
  })
})

test('an unreadable ignore file makes the directory unreadable', () => {
  symlinkSync('nothing', join(catalogDirectory, '.indexignore'))
  expect(listCatalogDirectoryFiles(catalogDirectory)).toEqual({
    kind: 'unreadable',
    file: '.indexignore',
    message: 'open .indexignore: no such file or directory',
  })
})

test('a special file is read without blocking, and an endless one is rejected', () => {
  symlinkSync('/dev/zero', join(catalogDirectory, 'endless'))
  symlinkSync('/dev/null', join(catalogDirectory, 'empty'))
  execFileSync('mkfifo', [join(catalogDirectory, 'pipe')])
  const read = Object.fromEntries(listCatalogFiles(catalogDirectory).map((file) => [file.path, file.read()]))
  expect(read['endless']).toEqual({ error: `read ${catalogDirectory}/endless: not a regular file` })
  expect(read['empty']).toHaveLength(0)
  // A pipe without a writer reads as empty.
  expect(read['pipe']).toHaveLength(0)
})
