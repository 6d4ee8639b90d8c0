import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, readdirSync, rmSync, utimesSync, writeFileSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { factsVersion } from '../../../src/catalog/facts/facts-version.ts'
import { readFile } from '../../../src/catalog/load/read-file.ts'
import { cacheHome } from '../../../src/examine/catalogs/cache-home.ts'
import { openFactsCache } from '../../../src/examine/catalogs/facts-cache.ts'
import { rendered } from '../../go/fast/mutated-documents.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'facts-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const bytes = Buffer.from(rendered.join('').repeat(10))
const folder = (): string => join(directory, `v${factsVersion}`)
const entries = (): string[] => readdirSync(folder()).map((name) => join(folder(), name))

describe('the cache of facts', () => {
  test('gives the very facts that reading gives, the first time and later', () => {
    const facts = readFile(bytes)
    expect(openFactsCache(directory).factsOf(bytes)).toEqual(facts)
    expect(entries()).toHaveLength(1)
    expect(openFactsCache(directory).factsOf(bytes)).toEqual(facts)
    expect(entries()).toHaveLength(1)
  })

  test('does not read a file that it knows', () => {
    openFactsCache(directory).factsOf(bytes)
    const [entry = ''] = entries()
    const json = JSON.stringify({ ...readFile(bytes), packages: [] })
    writeFileSync(entry, `${createHash('sha256').update(json).digest('hex')}\n${json}`)
    expect(openFactsCache(directory).factsOf(bytes).packages).toEqual([])
  })

  test('keeps nothing of small files', () => {
    openFactsCache(directory).factsOf(Buffer.from(rendered[0]))
    expect(readdirSync(directory)).toEqual([])
  })

  test.each([
    ['cut short', (entry: string) => entry.slice(0, entry.length / 2)],
    ['changed', (entry: string) => entry.replace('"foo"', '"bar"')],
    ['empty', () => ''],
    ['something else', () => 'not facts\nat all'],
  ])('does not believe an entry that was %s, and replaces it', (_name, damage) => {
    const facts = openFactsCache(directory).factsOf(bytes)
    const [entry = ''] = entries()
    const good = readFileSync(entry, 'utf8')
    writeFileSync(entry, damage(good))
    expect(openFactsCache(directory).factsOf(bytes)).toEqual(facts)
    expect(readFileSync(entry, 'utf8')).toBe(good)
  })

  test('tells files apart by their content', () => {
    const other = Buffer.from(bytes.toString().replaceAll('foo', 'bar'))
    const cache = openFactsCache(directory)
    expect(cache.factsOf(bytes).packages[0]?.name).toBe('foo')
    expect(cache.factsOf(other).packages[0]?.name).toBe('bar')
  })

  test('drops what is old and what another version of the reader wrote', () => {
    openFactsCache(directory).factsOf(bytes)
    const [old = ''] = entries()
    utimesSync(old, 0, 0)
    mkdirSync(join(directory, 'v0'))
    openFactsCache(directory).factsOf(Buffer.concat([bytes, bytes]))
    expect(readdirSync(directory)).toEqual([`v${factsVersion}`])
    expect(entries()).not.toContain(old)
  })

  test('is no cache, and no failure, where it cannot write', () => {
    writeFileSync(join(directory, 'file'), '')
    expect(openFactsCache(join(directory, 'file')).factsOf(bytes)).toEqual(readFile(bytes))
  })
})

describe('the cache home', () => {
  test('is the user’s own, unless told otherwise', () => {
    expect(cacheHome({ CATALOG_BOT_CACHE: '/x' })).toBe('/x')
    expect(cacheHome({ XDG_CACHE_HOME: '/home/a/c' })).toBe('/home/a/c/catalog-bot')
    expect(cacheHome({ XDG_CACHE_HOME: 'relative' })).toMatch(/\.cache\/catalog-bot$/)
  })
})
