import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { RegularJsonReader } from '../../../../../packages/fbc/src/go/fast/regular-json.ts'
import { RegularYamlReader } from '../../../../../packages/fbc/src/go/fast/regular-yaml.ts'
import { findSharedPath } from '../../../../shared-data.ts'
import { compareJsonReaders, compareReaders } from './compare-readers.ts'
import {
  SeededRandom,
  createMutatedDocuments,
  createMutatedObjects,
  renderedDocuments,
  renderedJsonObjects,
} from './mutated-documents.ts'
import { fuzzSeed } from '../../../../seeded.ts'

const encoder = new TextEncoder()

describe('the fast reader of JSON', () => {
  test('takes what opm renders itself', () => {
    const text = renderedJsonObjects.join('')
    const { documents, fast, difference } = compareJsonReaders(encoder.encode(text))
    expect({ documents, fast, difference }).toEqual({ documents: 5, fast: 5, difference: undefined })
  })

  test('agrees with the exact reader on damaged objects', () => {
    const random = new SeededRandom(fuzzSeed)
    let fast = 0
    for (let round = 0; round < 1000; round++) {
      const bytes = createMutatedObjects(random)
      const comparison = compareJsonReaders(bytes)
      if (comparison.difference !== undefined)
        throw new Error(
          `seed ${fuzzSeed}, round ${round}: ${comparison.difference}\n${new TextDecoder().decode(bytes)}`,
        )
      fast += comparison.fast
    }
    expect(fast).toBeGreaterThan(400)
  })

  test.each([
    ['an escape in a key', '{"\\u0061": 1}'],
    ['a repeated key', '{"a": 1, "b": 2, "a": 3}'],
    ['a comma too many', '{"a": 1,}'],
    ['a number without end', '{"a": 1e999}'],
    ['a number that is none', '{"a": 01}'],
    ['a control character', '{"a": "\u0001"}'],
    ['a line end in a string', '{"a": "\n"}'],
    ['a bad escape', '{"a": "\\x"}'],
    ['half of an escape', '{"a": "\\u12"}'],
    ['the end of the file', '{"a": {"b": 1}'],
    ['an unclosed string', '{"a": "b'],
    ['a list at the root', '[]'],
    ['text without lines', `{"a": [${'"b", '.repeat(1000)}1]}`],
    ['depth', `${'{"a":'.repeat(80)}1${'}'.repeat(80)}`],
    ['bytes that are no text', Uint8Array.of(...encoder.encode('{"a": "'), 0xff, ...encoder.encode('"}'))],
  ])('hands over %s', (_name, text) => {
    const bytes = typeof text === 'string' ? encoder.encode(text) : text
    expect(new RegularJsonReader(bytes).read(0)).toBeUndefined()
    expect(compareJsonReaders(bytes).difference).toBeUndefined()
  })

  test.each([
    [
      'all kinds of values',
      '{"a": null, "b": true, "c": false, "d": -1.5e3, "e": [], "f": {}, "g": "", "": 0}',
    ],
    ['any white space', ' \t\r\n{\t"a"\r:\n[ 1\n,2 ] }\n'],
    ['escapes and halves of pairs', '{"a": "\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\\ud83d-\\ude00"}'],
    ['characters of all widths', '{"é漢😀": "é漢😀", "a": "\u007f"}'],
    [
      'objects on one line',
      '{"schema": "a"}{"schema": "b", "x": {}} {"schema":\n"c"}{"schema": "d", "y": "z"}',
    ],
  ])('reads %s itself', (_name, text) => {
    const { documents, fast, difference } = compareJsonReaders(encoder.encode(text))
    expect({ fast, difference }).toEqual({ fast: documents, difference: undefined })
    expect(fast).toBeGreaterThan(0)
  })

  test('reads on fast behind an object that it handed over, and behind one that is wrong', () => {
    const [pkg = '', channel = ''] = renderedJsonObjects
    const odd = '{"schema": "x", "a": 1, "a": 2}\n'
    const wrong = '{"schema": "olm.channel", "entries": 1}\n'
    const { documents, fast, difference } = compareJsonReaders(encoder.encode(pkg + odd + wrong + channel))
    expect({ documents, fast, difference }).toEqual({ documents: 4, fast: 3, difference: undefined })
  })

  test('is not asked again behind many objects that it handed over, and nothing changes by that', () => {
    const odd = '{"schema": "x", "a": 1, "a": 2}\n'.repeat(50)
    expect(compareJsonReaders(encoder.encode(odd + renderedJsonObjects.join(''))).difference).toBeUndefined()
  })

  test('passes a block that stood in the file before, whatever follows it', () => {
    const block =
      '{\n        "group": "foo.example.com",\n        "kind": "Foo",\n        "words": "some more"\n    }'
    const text = `{\n    "a": ${block},\n    "b": ${block},\n    "c": [\n    ${block}, ${block}\n    ]\n}\n`
    expect(compareJsonReaders(encoder.encode(text + text))).toEqual({ documents: 2, fast: 2 })
  })
})

describe('the fast reader', () => {
  test('takes what opm renders itself', () => {
    for (const text of renderedDocuments) {
      expect(new RegularYamlReader(encoder.encode(text)).read(0)).toBeDefined()
      expect(compareReaders(encoder.encode(text)).difference).toBeUndefined()
    }
  })

  test('agrees with the exact reader on damaged documents', () => {
    const random = new SeededRandom(fuzzSeed)
    let fast = 0
    for (let round = 0; round < 1000; round++) {
      const bytes = createMutatedDocuments(random)
      const comparison = compareReaders(bytes)
      if (comparison.difference !== undefined) {
        throw new Error(
          `seed ${fuzzSeed}, round ${round}: ${comparison.difference}\n${new TextDecoder().decode(bytes)}`,
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
    expect(new RegularYamlReader(encoder.encode(text)).read(0)).toBeUndefined()
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
    expect(new RegularYamlReader(encoder.encode(text)).read(0)).toBeDefined()
    expect(compareReaders(encoder.encode(text)).difference).toBeUndefined()
  })

  describe('a text that stood in the file before', () => {
    const block = 'x:\n    a: some words that are long enough\n    b:\n    - and some more of them\n'
    const longBlockScalar = '|+\n    words that are long enough to be remembered, and more\n'
    test.each([
      ['the same', `p:\n  ${block}q:\n  ${block}r: 1\n`, true],
      ['with an entry more', `p:\n  ${block}q:\n  ${block}    c: 1\nr: 1\n`, true],
      ['with an item more', `p:\n  ${block}q:\n  ${block}    - c\nr: 1\n`, true],
      ['with a longer last word', `p:\n  ${block}q:\n  ${block}      c\nr: 1\n`, true],
      ['with a comment behind it', `p:\n  ${block}q:\n  ${block}# c\nr: 1\n`, true],
      ['at the end of the file', `p:\n  ${block}q:\n  ${block}`, true],
      ['at the end of a document', `p:\n  ${block}q:\n  ${block}---\na: b\n`, true],
      [
        'with empty lines that belong to it',
        `p:\n  a: ${longBlockScalar}q:\n  b: ${longBlockScalar}\n\nr: 1\n`,
        true,
      ],
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
    const root = findSharedPath('community-operators', 'catalogs')
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
