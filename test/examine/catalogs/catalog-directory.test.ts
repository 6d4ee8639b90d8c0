// Directories on disk, opened as opm opens them, and its words for what cannot be opened.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CatalogFile } from '../../../src/examine/catalogs/catalog-directory.ts'
import { FileMemory, openCatalogDirectory } from '../../../src/examine/catalogs/catalog-directory.ts'

let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'catalog-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function filesOf(dir: string): readonly CatalogFile[] {
  const opened = openCatalogDirectory(dir)
  return opened.kind === 'files' ? opened.files : []
}

describe('a catalog directory', () => {
  test('holds every file that is not ignored, whatever its name', () => {
    mkdirSync(join(root, 'sub'))
    for (const path of ['README.md', '.hidden', 'a\nb', 'sub/x.json', 'sub/skip'])
      writeFileSync(join(root, path), path)
    writeFileSync(join(root, 'sub', '.indexignore'), 'skip')
    const files = filesOf(root)
    expect(files.map((file) => file.path)).toEqual(['.hidden', 'README.md', 'a\nb', 'sub/x.json'])
    expect(new TextDecoder().decode(files[3]?.read() as Uint8Array)).toBe('sub/x.json')
  })

  test('reads one file after the other into the same memory, whatever their sizes', () => {
    const contents = ['short', 'x'.repeat(10_000), '', 'short again']
    for (const [at, content] of contents.entries()) writeFileSync(join(root, `${at}`), content)
    const memory = new FileMemory()
    for (const [at, file] of filesOf(root).entries())
      expect(new TextDecoder().decode(file.read(memory) as Uint8Array)).toBe(contents[at])
  })

  test('must exist, and be a directory', () => {
    writeFileSync(join(root, 'file'), '')
    expect(openCatalogDirectory(join(root, 'none'))).toEqual({
      kind: 'not-a-directory',
      message: `stat ${root}/none: no such file or directory`,
    })
    expect(openCatalogDirectory(join(root, 'file'))).toEqual({
      kind: 'not-a-directory',
      message: `"${root}/file" is not a directory`,
    })
  })
})

describe('a symbolic link', () => {
  test('to a file is that file, and tells when it leads out of the directory', () => {
    mkdirSync(join(root, 'catalog'))
    writeFileSync(join(root, 'outside'), 'x')
    writeFileSync(join(root, 'catalog', 'inside'), 'x')
    symlinkSync('../outside', join(root, 'catalog', 'a'))
    symlinkSync('inside', join(root, 'catalog', 'b'))
    const files = filesOf(join(root, 'catalog'))
    expect(files.map(({ path, leadsOut }) => [path, leadsOut])).toEqual([
      ['a', true],
      ['b', false],
      ['inside', false],
    ])
    expect(files[0]?.read()).toEqual(Buffer.from('x'))
  })

  test('to a directory, to nothing or to itself is an error in the words of Go', () => {
    mkdirSync(join(root, 'dir'))
    symlinkSync('dir', join(root, 'a'))
    symlinkSync('nothing', join(root, 'b'))
    symlinkSync('c', join(root, 'c'))
    expect(filesOf(root).map((file) => file.read())).toEqual([
      { error: `read ${root}/a: is a directory` },
      { error: 'open b: no such file or directory' },
      { error: 'open c: too many levels of symbolic links' },
    ])
  })
})

test('an ignore file that cannot be read stops everything', () => {
  symlinkSync('nothing', join(root, '.indexignore'))
  expect(openCatalogDirectory(root)).toEqual({
    kind: 'unreadable',
    file: '.indexignore',
    message: 'open .indexignore: no such file or directory',
  })
})

describe('what is no regular file', () => {
  test('is refused without waiting for its end', () => {
    symlinkSync('/dev/zero', join(root, 'endless'))
    symlinkSync('/dev/null', join(root, 'empty'))
    execFileSync('mkfifo', [join(root, 'pipe')])
    const read = Object.fromEntries(filesOf(root).map((file) => [file.path, file.read()]))
    expect(read['endless']).toEqual({ error: `read ${root}/endless: not a regular file` })
    expect(read['empty']).toHaveLength(0)
    // Nobody writes to it: it is as empty.
    expect(read['pipe']).toHaveLength(0)
  })
})
