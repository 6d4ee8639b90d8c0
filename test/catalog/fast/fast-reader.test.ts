import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { RegularReader } from '../../../src/catalog/fast/regular-yaml.ts'
import { sharedPath } from '../../shared.ts'
import { compareReaders } from './compare-readers.ts'
import { Random, mutatedDocuments, rendered } from './mutated-documents.ts'

const encoder = new TextEncoder()

describe('the fast reader', () => {
  test('takes what opm renders itself', () => {
    for (const text of rendered) {
      expect(new RegularReader(encoder.encode(text)).read(0)).toBeDefined()
      expect(compareReaders(encoder.encode(text)).difference).toBeUndefined()
    }
  })

  test('agrees with the exact reader on damaged documents', () => {
    const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2 ** 32)
    process.stderr.write(`fast reader: FUZZ_SEED=${seed}\n`)
    const random = new Random(seed)
    let fast = 0
    for (let round = 0; round < 1000; round++) {
      const bytes = mutatedDocuments(random)
      const comparison = compareReaders(bytes)
      if (comparison.difference !== undefined) {
        throw new Error(
          `seed ${seed}, round ${round}: ${comparison.difference}\n${new TextDecoder().decode(bytes)}`,
        )
      }
      fast += comparison.fast
    }
    // Damage that always leads to the exact reader would prove nothing.
    expect(fast).toBeGreaterThan(400)
  })

  test.each([
    ['an anchor', 'a: &x b\nc: *x\n'],
    ['a tag', 'a: !!str 1\n'],
    ['a flow sequence', 'a: [1, 2]\n'],
    ['a tab', 'a:\tb\n'],
    ['a repeated key', 'a: 1\nb: 2\na: 3\n'],
    ['a key that is a boolean', 'yes: 1\n'],
    ['a merge key', '<<: {}\n'],
    ['a carriage return', 'a: b\r\n'],
    ['a control character', 'a: b\u0001\n'],
    ['a line separator', 'a: b\u2028c\n'],
    ['a folded block scalar', 'a: >\n  b\n'],
    ['a colon inside a plain scalar', 'a: b: c\n'],
    ['a comment behind a scalar', 'a: b # c\n'],
    ['an infinite number', 'a: .inf\n'],
    ['a bad escape', 'a: "\\/"\n'],
    ['a lone surrogate', 'a: "\\ud800"\n'],
    ['indentation that fits nothing', 'a:\n    b: 1\n  c: 2\n'],
    ['a document end', 'a: b\n...\n'],
    ['a list at the root', '- a\n'],
    ['more lines than documents have', `a:\n${'\n'.repeat(5_000_000)}`],
    ['indentation beyond reason', `a: |\n${' '.repeat(2000)}b\n`],
    ['depth', `${Array.from({ length: 80 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')}\n`],
  ])('hands over %s', (_name, text) => {
    expect(new RegularReader(encoder.encode(text)).read(0)).toBeUndefined()
    expect(compareReaders(encoder.encode(text)).difference).toBeUndefined()
  })

  test.each([
    ['comments and empty lines between fields', '# head\na: 1\n\n# more\nb:\n\n  c: x\n# tail\n'],
    ['no line end at the end', 'a: b'],
    [
      'sequences at any indentation',
      'a:\n- b\n-  c\n'.replace('-  c', '- c') + 'd:\n  - e\n  - - f\n    - g: h\n      i: j\n',
    ],
    ['absent values', 'a:\nb:\n  c:\nd: null\ne: ""\n'],
    ['numbers that are texts', 'a: 1.2.3\nb: 0123\nc: 08\nd: 1_0\ne: 1e3\nf: 1234e56\ng: +1\nh: -\u0031\n'],
    [
      'literal scalars of all kinds',
      'a: |\n  x\n\n\nb: |+\n  x\n\n\nc: |-\n   x\n    y\n\n  \n   z\nd: |2-\n    x\n',
    ],
    ['characters of all widths', 'a: é漢😀\nb: "é漢😀"\nc: |\n  é漢😀\nd:\n- é\n'],
  ])('reads %s itself', (_name, text) => {
    expect(new RegularReader(encoder.encode(text)).read(0)).toBeDefined()
    expect(compareReaders(encoder.encode(text)).difference).toBeUndefined()
  })

  describe('a text that stood in the file before', () => {
    const block = 'x:\n    a: some words that are long enough\n    b:\n    - and some more of them\n'
    const kept = '|+\n    words that are long enough to be remembered, and more\n'
    test.each([
      ['the same', `p:\n  ${block}q:\n  ${block}r: 1\n`, true],
      ['with an entry more', `p:\n  ${block}q:\n  ${block}    c: 1\nr: 1\n`, true],
      ['with an item more', `p:\n  ${block}q:\n  ${block}    - c\nr: 1\n`, true],
      ['with a longer last word', `p:\n  ${block}q:\n  ${block}      c\nr: 1\n`, true],
      ['with a comment behind it', `p:\n  ${block}q:\n  ${block}# c\nr: 1\n`, true],
      ['at the end of the file', `p:\n  ${block}q:\n  ${block}`, true],
      ['at the end of a document', `p:\n  ${block}q:\n  ${block}---\na: b\n`, true],
      ['with empty lines that belong to it', `p:\n  a: ${kept}q:\n  b: ${kept}\n\nr: 1\n`, true],
      ['at the end of the file, with blanks', `p:\n  ${block}q:\n  ${block}   `, undefined],
      ['behind more blanks', `p:\n  ${block}q:\n    ${block}r: 1\n`, true],
      ['with a tab behind it', `p:\n  ${block}q:\n  ${block}\t\nr: 1\n`, false],
    ])('%s, is read as the exact reader reads it', (_name, text, isFast) => {
      const comparison = compareReaders(encoder.encode(text))
      expect(comparison.difference).toBeUndefined()
      if (isFast !== undefined) expect(comparison.fast === comparison.documents).toBe(isFast)
    })
  })

  test('reads every real catalog as the exact reader does, and nearly all of it itself', () => {
    const root = sharedPath('community-operators', 'catalogs')
    if (root === undefined) return
    let documents = 0
    let fast = 0
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.yaml'),
    )
    // Some of them here; all of them in bench/fuzz-reader.ts.
    for (const file of files.filter((_, index) => index % 20 === 0)) {
      const comparison = compareReaders(readFileSync(join(root, file)))
      expect({ file, difference: comparison.difference }).toEqual({ file, difference: undefined })
      documents += comparison.documents
      fast += comparison.fast
    }
    expect(fast / documents).toBeGreaterThan(0.95)
  })
})
