import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, readdirSync, rmSync, utimesSync, writeFileSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { fileFactsVersion } from '../../packages/fbc/src/facts/facts-version.ts'
import { parseCatalogFile } from '../../packages/fbc/src/load/parse-catalog-file.ts'
import { getCacheDirectory } from '../../src/catalogs/cache-directory.ts'
import { openCatalogFileFactsCache } from '../../src/catalogs/content-facts-cache.ts'
import { renderedDocuments } from '../packages/fbc/go/fast/mutated-documents.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'facts-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const catalogBytes = Buffer.from(renderedDocuments.join('').repeat(10))
const getCacheFolder = (): string => join(directory, `v${fileFactsVersion}`)
const listCacheFiles = (): string[] =>
  readdirSync(getCacheFolder()).map((name) => join(getCacheFolder(), name))

describe('the cache of facts', () => {
  test('gives the very facts that reading gives, the first time and later', () => {
    const facts = parseCatalogFile(catalogBytes)
    expect(openCatalogFileFactsCache(directory).factsOf(catalogBytes)).toEqual(facts)
    expect(listCacheFiles()).toHaveLength(1)
    expect(openCatalogFileFactsCache(directory).factsOf(catalogBytes)).toEqual(facts)
    expect(listCacheFiles()).toHaveLength(1)
  })

  test('does not read a file that it knows', () => {
    openCatalogFileFactsCache(directory).factsOf(catalogBytes)
    const [entry = ''] = listCacheFiles()
    const json = JSON.stringify({ ...parseCatalogFile(catalogBytes), packages: [] })
    writeFileSync(entry, `${createHash('sha256').update(json).digest('hex')}\n${json}`)
    expect(openCatalogFileFactsCache(directory).factsOf(catalogBytes).packages).toEqual([])
  })

  test('keeps nothing of small files', () => {
    openCatalogFileFactsCache(directory).factsOf(Buffer.from(renderedDocuments[0]))
    expect(readdirSync(directory)).toEqual([])
  })

  test.each([
    ['cut short', (entry: string) => entry.slice(0, entry.length / 2)],
    ['changed', (entry: string) => entry.replace('"foo"', '"bar"')],
    ['empty', () => ''],
    ['something else', () => 'not facts\nat all'],
  ])('does not believe an entry that was %s, and replaces it', (_name, damage) => {
    const facts = openCatalogFileFactsCache(directory).factsOf(catalogBytes)
    const [entry = ''] = listCacheFiles()
    const good = readFileSync(entry, 'utf8')
    writeFileSync(entry, damage(good))
    expect(openCatalogFileFactsCache(directory).factsOf(catalogBytes)).toEqual(facts)
    expect(readFileSync(entry, 'utf8')).toBe(good)
  })

  test('tells files apart by their content', () => {
    const other = Buffer.from(catalogBytes.toString().replaceAll('foo', 'bar'))
    const cache = openCatalogFileFactsCache(directory)
    expect(cache.factsOf(catalogBytes).packages[0]?.name).toBe('foo')
    expect(cache.factsOf(other).packages[0]?.name).toBe('bar')
  })

  test('drops what is old and what another version of the reader wrote', () => {
    openCatalogFileFactsCache(directory).factsOf(catalogBytes)
    const [old = ''] = listCacheFiles()
    utimesSync(old, 0, 0)
    mkdirSync(join(directory, 'v0'))
    openCatalogFileFactsCache(directory).factsOf(Buffer.concat([catalogBytes, catalogBytes]))
    expect(readdirSync(directory)).toEqual([`v${fileFactsVersion}`])
    expect(listCacheFiles()).not.toContain(old)
  })

  test('is no cache, and no failure, where it cannot write', () => {
    writeFileSync(join(directory, 'file'), '')
    expect(openCatalogFileFactsCache(join(directory, 'file')).factsOf(catalogBytes)).toEqual(
      parseCatalogFile(catalogBytes),
    )
  })
})

describe('the cache home', () => {
  test('is the user’s own, unless told otherwise', () => {
    expect(getCacheDirectory({ CATALOG_BOT_CACHE: '/x' })).toBe('/x')
    expect(getCacheDirectory({ XDG_CACHE_HOME: '/home/a/c' })).toBe('/home/a/c/catalog-bot')
    expect(getCacheDirectory({ XDG_CACHE_HOME: 'relative' })).toMatch(/\.cache\/catalog-bot$/)
  })
})
