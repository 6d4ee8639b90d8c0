import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, readdirSync, rmSync, utimesSync, writeFileSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { parsedCatalogFileVersion } from '../../packages/fbc/src/facts/catalog.ts'
import { parseCatalogFile } from '../../packages/fbc/src/load/parse-catalog-file.ts'
import { createParsedCatalogFileCache, getCacheDirectory } from '../../src/catalogs/parsed-file-cache.ts'
import { renderedYamlDocuments } from '../packages/fbc/go/fast/mutated-documents.ts'

let parsedCatalogFileCacheDirectory: string
beforeEach(() => {
  parsedCatalogFileCacheDirectory = mkdtempSync(join(tmpdir(), 'facts-'))
})
afterEach(() => rmSync(parsedCatalogFileCacheDirectory, { recursive: true, force: true }))

const catalogFileBytes = Buffer.from(renderedYamlDocuments.join('').repeat(10))
const getVersionedCacheDirectory = (): string =>
  join(parsedCatalogFileCacheDirectory, `v${parsedCatalogFileVersion}`)
const listCacheFiles = (): string[] =>
  readdirSync(getVersionedCacheDirectory()).map((name) => join(getVersionedCacheDirectory(), name))

describe('the cache of facts', () => {
  test('gives the very facts that reading gives, the first time and later', () => {
    const facts = parseCatalogFile(catalogFileBytes)
    expect(createParsedCatalogFileCache(parsedCatalogFileCacheDirectory).factsOf(catalogFileBytes)).toEqual(
      facts,
    )
    expect(listCacheFiles()).toHaveLength(1)
    expect(createParsedCatalogFileCache(parsedCatalogFileCacheDirectory).factsOf(catalogFileBytes)).toEqual(
      facts,
    )
    expect(listCacheFiles()).toHaveLength(1)
  })

  test('does not read a file that it knows', () => {
    createParsedCatalogFileCache(parsedCatalogFileCacheDirectory).factsOf(catalogFileBytes)
    const [entry = ''] = listCacheFiles()
    const json = JSON.stringify({ ...parseCatalogFile(catalogFileBytes), packages: [] })
    writeFileSync(entry, `${createHash('sha256').update(json).digest('hex')}\n${json}`)
    expect(
      createParsedCatalogFileCache(parsedCatalogFileCacheDirectory).factsOf(catalogFileBytes).packages,
    ).toEqual([])
  })

  test('keeps nothing of small files', () => {
    createParsedCatalogFileCache(parsedCatalogFileCacheDirectory).factsOf(
      Buffer.from(renderedYamlDocuments[0]),
    )
    expect(readdirSync(parsedCatalogFileCacheDirectory)).toEqual([])
  })

  test.each([
    ['cut short', (entry: string) => entry.slice(0, entry.length / 2)],
    ['changed', (entry: string) => entry.replace('"foo"', '"bar"')],
    ['empty', () => ''],
    ['something else', () => 'not facts\nat all'],
  ])('does not believe an entry that was %s, and replaces it', (_name, damage) => {
    const facts = createParsedCatalogFileCache(parsedCatalogFileCacheDirectory).factsOf(catalogFileBytes)
    const [entry = ''] = listCacheFiles()
    const good = readFileSync(entry, 'utf8')
    writeFileSync(entry, damage(good))
    expect(createParsedCatalogFileCache(parsedCatalogFileCacheDirectory).factsOf(catalogFileBytes)).toEqual(
      facts,
    )
    expect(readFileSync(entry, 'utf8')).toBe(good)
  })

  test('tells files apart by their content', () => {
    const other = Buffer.from(catalogFileBytes.toString().replaceAll('foo', 'bar'))
    const cache = createParsedCatalogFileCache(parsedCatalogFileCacheDirectory)
    expect(cache.factsOf(catalogFileBytes).packages[0]?.name).toBe('foo')
    expect(cache.factsOf(other).packages[0]?.name).toBe('bar')
  })

  test('drops what is old and what another version of the reader wrote', () => {
    createParsedCatalogFileCache(parsedCatalogFileCacheDirectory).factsOf(catalogFileBytes)
    const [old = ''] = listCacheFiles()
    utimesSync(old, 0, 0)
    mkdirSync(join(parsedCatalogFileCacheDirectory, 'v0'))
    createParsedCatalogFileCache(parsedCatalogFileCacheDirectory).factsOf(
      Buffer.concat([catalogFileBytes, catalogFileBytes]),
    )
    expect(readdirSync(parsedCatalogFileCacheDirectory)).toEqual([`v${parsedCatalogFileVersion}`])
    expect(listCacheFiles()).not.toContain(old)
  })

  test('is no cache, and no failure, where it cannot write', () => {
    writeFileSync(join(parsedCatalogFileCacheDirectory, 'file'), '')
    expect(
      createParsedCatalogFileCache(join(parsedCatalogFileCacheDirectory, 'file')).factsOf(catalogFileBytes),
    ).toEqual(parseCatalogFile(catalogFileBytes))
  })
})

describe('the cache home', () => {
  test('is the user’s own, unless told otherwise', () => {
    expect(getCacheDirectory({ CATALOG_BOT_CACHE: '/x' })).toBe('/x')
    expect(getCacheDirectory({ XDG_CACHE_HOME: '/home/a/c' })).toBe('/home/a/c/catalog-bot')
    expect(getCacheDirectory({ XDG_CACHE_HOME: 'relative' })).toMatch(/\.cache\/catalog-bot$/)
  })
})
