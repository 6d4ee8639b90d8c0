// Stored values are found by the name of their namespace: two namespaces with one name would read each other's values.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'

const sourceDirectory = join(import.meta.dirname, '../../src')

/** The source text of the first argument of each call. */
function findDefinedStoreNames(text: string, define: string): string[] {
  return [...text.matchAll(new RegExp(`= ${define}(?:<[^]*?>)?\\(\\s*([^,]*),`, 'g'))].map(
    ([, name = '']) => name,
  )
}

test.each(['defineStateNamespace', 'defineCacheNamespace'])(
  'each call of %s has a unique name in a string literal',
  (define) => {
    const names = readdirSync(sourceDirectory, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => findDefinedStoreNames(readFileSync(join(sourceDirectory, file), 'utf8'), define))
    expect(names.length).toBeGreaterThan(10)
    expect(names.filter((name) => !/^'[^']+'$/.test(name))).toEqual([])
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
  },
)
