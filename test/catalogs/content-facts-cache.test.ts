import { crc32 } from 'node:zlib'
import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { statfsSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { parsedCatalogFileVersion } from '../../packages/fbc/src/facts/catalog.ts'
import { parseCatalogFile } from '../../packages/fbc/src/load/parse-catalog-file.ts'
import { fileSystemsWithStamps, listCatalogDirectoryFiles } from '../../src/catalogs/catalog-directory.ts'
import {
  createParsedCatalogFileCache,
  getCacheDirectory,
  openVerdictCache,
} from '../../src/catalogs/parsed-file-cache.ts'
import { renderedYamlDocuments } from '../packages/fbc/go/fast/mutated-documents.ts'

let cacheDirectory: string
beforeEach(() => {
  cacheDirectory = mkdtempSync(join(tmpdir(), 'facts-'))
})
afterEach(() => rmSync(cacheDirectory, { recursive: true, force: true }))

const catalogFileBytes = Buffer.from(renderedYamlDocuments.join('').repeat(10))
const getVersionedCacheDirectory = (): string => join(cacheDirectory, `v${parsedCatalogFileVersion}`)
const listCacheFiles = (): string[] =>
  readdirSync(getVersionedCacheDirectory()).map((name) => join(getVersionedCacheDirectory(), name))

describe('the cache of facts', () => {
  test('returns the facts of the file, the first time and from the cache', () => {
    const facts = parseCatalogFile(catalogFileBytes)
    expect(createParsedCatalogFileCache(cacheDirectory).factsOf(catalogFileBytes)).toEqual(facts)
    expect(listCacheFiles()).toHaveLength(1)
    expect(createParsedCatalogFileCache(cacheDirectory).factsOf(catalogFileBytes)).toEqual(facts)
    expect(listCacheFiles()).toHaveLength(1)
  })

  test('does not parse a cached file again', () => {
    createParsedCatalogFileCache(cacheDirectory).factsOf(catalogFileBytes)
    const [entry = ''] = listCacheFiles()
    const json = JSON.stringify({ ...parseCatalogFile(catalogFileBytes), packages: [] })
    writeFileSync(entry, `${crc32(json).toString(16)}\n${json}`)
    expect(createParsedCatalogFileCache(cacheDirectory).factsOf(catalogFileBytes).packages).toEqual([])
  })

  test('does not store small files', () => {
    createParsedCatalogFileCache(cacheDirectory).factsOf(Buffer.from(renderedYamlDocuments[0]))
    expect(readdirSync(cacheDirectory)).toEqual([])
  })

  test.each([
    ['cut short', (entry: string) => entry.slice(0, entry.length / 2)],
    ['changed', (entry: string) => entry.replace('"foo"', '"bar"')],
    ['empty', () => ''],
    ['unrelated text', () => 'not facts\nat all'],
  ])('ignores and replaces an entry that is %s', (_name, damage) => {
    const facts = createParsedCatalogFileCache(cacheDirectory).factsOf(catalogFileBytes)
    const [entry = ''] = listCacheFiles()
    const good = readFileSync(entry, 'utf8')
    writeFileSync(entry, damage(good))
    expect(createParsedCatalogFileCache(cacheDirectory).factsOf(catalogFileBytes)).toEqual(facts)
    expect(readFileSync(entry, 'utf8')).toBe(good)
  })

  test('distinguishes files by their content', () => {
    const other = Buffer.from(catalogFileBytes.toString().replaceAll('foo', 'bar'))
    const cache = createParsedCatalogFileCache(cacheDirectory)
    expect(cache.factsOf(catalogFileBytes).packages[0]?.name).toBe('foo')
    expect(cache.factsOf(other).packages[0]?.name).toBe('bar')
  })

  test('deletes old entries and those of other versions of the parser', () => {
    createParsedCatalogFileCache(cacheDirectory).factsOf(catalogFileBytes)
    const [old = ''] = listCacheFiles()
    utimesSync(old, 0, 0)
    mkdirSync(join(cacheDirectory, 'v0'))
    createParsedCatalogFileCache(cacheDirectory).factsOf(Buffer.concat([catalogFileBytes, catalogFileBytes]))
    expect(readdirSync(cacheDirectory)).toEqual([`v${parsedCatalogFileVersion}`])
    expect(listCacheFiles()).not.toContain(old)
  })

  test('parses the file if it cannot write', () => {
    writeFileSync(join(cacheDirectory, 'file'), '')
    // Below /proc, Node.js never stops trying to create parent directories.
    for (const directory of [join(cacheDirectory, 'file'), '/proc/none/cache'])
      expect(createParsedCatalogFileCache(directory).factsOf(catalogFileBytes)).toEqual(
        parseCatalogFile(catalogFileBytes),
      )
  })
})

describe('the cache of verdicts', () => {
  const pathOf = (name: string) => join(cacheDirectory, 'catalog', name)
  beforeEach(() => {
    // Tests may run in memory.
    fileSystemsWithStamps.add(statfsSync(cacheDirectory).type)
    mkdirSync(join(cacheDirectory, 'catalog'))
    for (const name of ['a', 'b']) writeOldFile(name, name)
    symlinkSync('a', pathOf('link'))
  })

  function writeOldFile(name: string, text: string): void {
    writeFileSync(pathOf(name), text)
    utimesSync(pathOf(name), 0, 0)
  }

  /** Keeps the size and mtime. Repeats this until the ctime differs, whose resolution is some milliseconds. */
  function rewriteInPlace(): void {
    const { ctimeNs } = statSync(pathOf('a'), { bigint: true })
    while (statSync(pathOf('a'), { bigint: true }).ctimeNs === ctimeNs) writeOldFile('a', 'x')
  }

  function openCache({ build = 'build', inputs = 'opm', ageMs = 60_000 } = {}) {
    const listing = listCatalogDirectoryFiles(pathOf(''), Date.now() + ageMs)
    const files = listing.kind === 'files' ? listing.files : []
    return openVerdictCache<string>(files, { build, inputs }, join(cacheDirectory, 'verdicts'))
  }

  function findVerdictAfterSaving(ageMs = 60_000, changeBetweenReads = () => {}): string | undefined {
    const cache = openCache({ ageMs })
    for (const file of cache.files) file.read()
    changeBetweenReads()
    for (const file of cache.files) file.read()
    cache.save('passed')
    return openCache().known
  }

  test.each<[string, () => void]>([
    ['is rewritten in place', rewriteInPlace],
    ['is replaced', () => renameSync(pathOf('b'), pathOf('a'))],
    ['is added', () => writeOldFile('c', '')],
    ['is ignored', () => writeOldFile('.indexignore', 'b')],
    ['is linked instead of another', () => (rmSync(pathOf('link')), symlinkSync('b', pathOf('link')))],
  ])('returns a verdict until a file %s', (_, change) => {
    expect(openCache().known).toBeUndefined()
    expect(findVerdictAfterSaving()).toBe('passed')
    change()
    expect(openCache().known).toBeUndefined()
  })

  test('has no verdict on a file that is recent, unreadable, or changes while it is read', () => {
    expect(findVerdictAfterSaving(0)).toBeUndefined()
    expect(findVerdictAfterSaving(60_000, rewriteInPlace)).toBeUndefined()
    symlinkSync('nowhere', pathOf('broken'))
    expect(findVerdictAfterSaving()).toBeUndefined()
  })

  test('has no verdict on other inputs, of another build, in a damaged entry, or on another file system', () => {
    findVerdictAfterSaving()
    const others = [openCache({ inputs: 'full' }), openCache({ build: 'next' })]
    for (const entry of globSync(join(cacheDirectory, 'verdicts', 'build', '*')))
      writeFileSync(entry, readFileSync(entry, 'utf8').replace('passed', 'failed'))
    others.push(openCache())
    fileSystemsWithStamps.clear()
    expect(others.map(({ known }) => known)).toEqual([undefined, undefined, undefined])
    expect(findVerdictAfterSaving()).toBeUndefined()
  })
})

test('the cache home is CATALOG_BOT_CACHE, or a folder in the cache of the user', () => {
  expect(getCacheDirectory({ CATALOG_BOT_CACHE: '/x' })).toBe('/x')
  expect(getCacheDirectory({ XDG_CACHE_HOME: '/home/a/c' })).toBe('/home/a/c/catalog-bot')
  expect(getCacheDirectory({ XDG_CACHE_HOME: 'relative' })).toMatch(/\.cache\/catalog-bot$/)
})
