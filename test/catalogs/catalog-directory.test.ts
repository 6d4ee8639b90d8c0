// Directories on disk, opened as opm opens them, with the same error messages.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CatalogDirectoryFile } from '../../src/catalogs/catalog-directory.ts'
import { ReusableReadBuffer, listCatalogDirectoryFiles } from '../../src/catalogs/catalog-directory.ts'

let catalogRoot = ''
beforeEach(() => {
  catalogRoot = mkdtempSync(join(tmpdir(), 'catalog-'))
})
afterEach(() => rmSync(catalogRoot, { recursive: true, force: true }))

function listCatalogFiles(dir: string): readonly CatalogDirectoryFile[] {
  const opened = listCatalogDirectoryFiles(dir)
  return opened.kind === 'files' ? opened.files : []
}

describe('a catalog directory', () => {
  test('contains every file that is not ignored, regardless of its name', () => {
    mkdirSync(join(catalogRoot, 'sub'))
    for (const path of ['README.md', '.hidden', 'a\nb', 'sub/x.json', 'sub/skip'])
      writeFileSync(join(catalogRoot, path), path)
    writeFileSync(join(catalogRoot, 'sub', '.indexignore'), 'skip')
    const files = listCatalogFiles(catalogRoot)
    expect(files.map((file) => file.path)).toEqual(['.hidden', 'README.md', 'a\nb', 'sub/x.json'])
    expect(new TextDecoder().decode(files[3]?.read() as Uint8Array)).toBe('sub/x.json')
  })

  test('reads files of any size into the same buffer, one after another', () => {
    const contents = ['short', 'x'.repeat(10_000), '', 'short again']
    for (const [at, content] of contents.entries()) writeFileSync(join(catalogRoot, `${at}`), content)
    const memory = new ReusableReadBuffer()
    for (const [at, file] of listCatalogFiles(catalogRoot).entries())
      expect(new TextDecoder().decode(file.read(memory) as Uint8Array)).toBe(contents[at])
  })

  test('must exist, and be a directory', () => {
    writeFileSync(join(catalogRoot, 'file'), '')
    expect(listCatalogDirectoryFiles(join(catalogRoot, 'none'))).toEqual({
      kind: 'not-a-directory',
      message: `stat ${catalogRoot}/none: no such file or directory`,
    })
    expect(listCatalogDirectoryFiles(join(catalogRoot, 'file'))).toEqual({
      kind: 'not-a-directory',
      message: `"${catalogRoot}/file" is not a directory`,
    })
  })
})

describe('a symbolic link', () => {
  test('to a file is read as that file, and is marked if it leads out of the directory', () => {
    mkdirSync(join(catalogRoot, 'catalog'))
    writeFileSync(join(catalogRoot, 'outside'), 'x')
    writeFileSync(join(catalogRoot, 'catalog', 'inside'), 'x')
    symlinkSync('../outside', join(catalogRoot, 'catalog', 'a'))
    symlinkSync('inside', join(catalogRoot, 'catalog', 'b'))
    const files = listCatalogFiles(join(catalogRoot, 'catalog'))
    expect(files.map(({ path, leadsOut }) => [path, leadsOut])).toEqual([
      ['a', true],
      ['b', false],
      ['inside', false],
    ])
    expect(files[0]?.read()).toEqual(Buffer.from('x'))
  })

  test('to a directory, to a missing file, or to itself is an error with the message of Go', () => {
    mkdirSync(join(catalogRoot, 'dir'))
    symlinkSync('dir', join(catalogRoot, 'a'))
    symlinkSync('nothing', join(catalogRoot, 'b'))
    symlinkSync('c', join(catalogRoot, 'c'))
    expect(listCatalogFiles(catalogRoot).map((file) => file.read())).toEqual([
      { error: `read ${catalogRoot}/a: is a directory` },
      { error: 'open b: no such file or directory' },
      { error: 'open c: too many levels of symbolic links' },
    ])
  })
})

test('an unreadable ignore file makes the directory unreadable', () => {
  symlinkSync('nothing', join(catalogRoot, '.indexignore'))
  expect(listCatalogDirectoryFiles(catalogRoot)).toEqual({
    kind: 'unreadable',
    file: '.indexignore',
    message: 'open .indexignore: no such file or directory',
  })
})

describe('a special file', () => {
  test('is read without blocking, and an endless one is rejected', () => {
    symlinkSync('/dev/zero', join(catalogRoot, 'endless'))
    symlinkSync('/dev/null', join(catalogRoot, 'empty'))
    execFileSync('mkfifo', [join(catalogRoot, 'pipe')])
    const read = Object.fromEntries(listCatalogFiles(catalogRoot).map((file) => [file.path, file.read()]))
    expect(read['endless']).toEqual({ error: `read ${catalogRoot}/endless: not a regular file` })
    expect(read['empty']).toHaveLength(0)
    // A pipe without a writer reads as empty.
    expect(read['pipe']).toHaveLength(0)
  })
})
