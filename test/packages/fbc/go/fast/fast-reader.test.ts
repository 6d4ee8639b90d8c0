import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { FastJsonReader } from '../../../../../packages/fbc/src/go/fast/regular-json.ts'
import { FastYamlReader } from '../../../../../packages/fbc/src/go/fast/regular-yaml.ts'
import { findSharedPath } from '../../../../shared-data.ts'
import { compareJsonReaders, compareYamlReaders } from './compare-readers.ts'
import {
  SeededRandom,
  createMutatedDocuments,
  createMutatedJsonObjects,
  renderedYamlDocuments,
  renderedJsonObjects,
} from './mutated-documents.ts'
import { fuzzSeed } from '../../../../seeded.ts'

const textEncoder = new TextEncoder()

describe('the fast JSON reader', () => {
  test('reads the output of opm without the exact reader', () => {
    const text = renderedJsonObjects.join('')
    const { documents, fast, difference } = compareJsonReaders(textEncoder.encode(text))
    expect({ documents, fast, difference }).toEqual({ documents: 5, fast: 5, difference: undefined })
  })

  test('agrees with the exact reader on damaged objects', () => {
    const random = new SeededRandom(fuzzSeed)
    let fast = 0
    for (let round = 0; round < 1000; round++) {
      const bytes = createMutatedJsonObjects(random)
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
    ['a trailing comma', '{"a": 1,}'],
    ['a number out of range', '{"a": 1e999}'],
    ['an invalid number', '{"a": 01}'],
    ['a control character', '{"a": "\u0001"}'],
    ['a line break in a string', '{"a": "\n"}'],
    ['a bad escape', '{"a": "\\x"}'],
    ['an incomplete escape', '{"a": "\\u12"}'],
    ['an unexpected end of the file', '{"a": {"b": 1}'],
    ['an unclosed string', '{"a": "b'],
    ['a list at the root', '[]'],
    ['a long line', `{"a": [${'"b", '.repeat(1000)}1]}`],
    ['deep nesting', `${'{"a":'.repeat(80)}1${'}'.repeat(80)}`],
    ['invalid UTF-8', Uint8Array.of(...textEncoder.encode('{"a": "'), 0xff, ...textEncoder.encode('"}'))],
  ])('leaves %s to the exact reader', (_name, text) => {
    const bytes = typeof text === 'string' ? textEncoder.encode(text) : text
    expect(new FastJsonReader(bytes).read(0)).toBeUndefined()
    expect(compareJsonReaders(bytes).difference).toBeUndefined()
  })

  test.each([
    [
      'all kinds of values',
      '{"a": null, "b": true, "c": false, "d": -1.5e3, "e": [], "f": {}, "g": "", "": 0}',
    ],
    ['any whitespace', ' \t\r\n{\t"a"\r:\n[ 1\n,2 ] }\n'],
    ['escapes and lone surrogates', '{"a": "\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\\ud83d-\\ude00"}'],
    ['characters of all widths', '{"é漢😀": "é漢😀", "a": "\u007f"}'],
    [
      'objects on one line',
      '{"schema": "a"}{"schema": "b", "x": {}} {"schema":\n"c"}{"schema": "d", "y": "z"}',
    ],
  ])('reads %s without the exact reader', (_name, text) => {
    const { documents, fast, difference } = compareJsonReaders(textEncoder.encode(text))
    expect({ fast, difference }).toEqual({ fast: documents, difference: undefined })
    expect(fast).toBeGreaterThan(0)
  })

  test('continues after an object that it leaves to the exact reader, and after an invalid one', () => {
    const [pkg = '', channel = ''] = renderedJsonObjects
    const unusual = '{"schema": "x", "a": 1, "a": 2}\n'
    const wrong = '{"schema": "olm.channel", "entries": 1}\n'
    const { documents, fast, difference } = compareJsonReaders(
      textEncoder.encode(pkg + unusual + wrong + channel),
    )
    expect({ documents, fast, difference }).toEqual({ documents: 4, fast: 3, difference: undefined })
  })

  test('has the same result after many objects that it leaves to the exact reader', () => {
    const unusual = '{"schema": "x", "a": 1, "a": 2}\n'.repeat(50)
    expect(
      compareJsonReaders(textEncoder.encode(unusual + renderedJsonObjects.join(''))).difference,
    ).toBeUndefined()
  })

  test('reads a block that occurred earlier in the file, regardless of what follows it', () => {
    const block =
      '{\n        "group": "foo.example.com",\n        "kind": "Foo",\n        "words": "some more"\n    }'
    const text = `{\n    "a": ${block},\n    "b": ${block},\n    "c": [\n    ${block}, ${block}\n    ]\n}\n`
    expect(compareJsonReaders(textEncoder.encode(text + text))).toEqual({ documents: 2, fast: 2 })
  })
})

describe('the fast YAML reader', () => {
  test('reads the output of opm without the exact reader', () => {
    for (const text of renderedYamlDocuments) {
      expect(new FastYamlReader(textEncoder.encode(text)).read(0)).toBeDefined()
      expect(compareYamlReaders(textEncoder.encode(text)).difference).toBeUndefined()
    }
  })

  test('agrees with the exact reader on damaged documents', () => {
    const random = new SeededRandom(fuzzSeed)
    let fast = 0
    for (let round = 0; round < 1000; round++) {
      const bytes = createMutatedDocuments(random)
      const comparison = compareYamlReaders(bytes)
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
    ['a comment after a scalar', 'a: b # c\n'],
    ['an infinite number', 'a: .inf\n'],
    ['a bad escape', 'a: "\\/"\n'],
    ['a lone surrogate', 'a: "\\ud800"\n'],
    ['inconsistent indentation', 'a:\n    b: 1\n  c: 2\n'],
    ['a document end', 'a: b\n...\n'],
    ['a list at the root', '- a\n'],
    ['too many lines', `a:\n${'\n'.repeat(5_000_000)}`],
    ['too much indentation', `a: |\n${' '.repeat(2000)}b\n`],
    ['deep nesting', `${Array.from({ length: 80 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')}\n`],
  ])('leaves %s to the exact reader', (_name, text) => {
    expect(new FastYamlReader(textEncoder.encode(text)).read(0)).toBeUndefined()
    expect(compareYamlReaders(textEncoder.encode(text)).difference).toBeUndefined()
  })

  test.each([
    ['comments and empty lines between fields', '# head\na: 1\n\n# more\nb:\n\n  c: x\n# tail\n'],
    ['no line break at the end', 'a: b'],
    [
      'sequences at any indentation',
      'a:\n- b\n-  c\n'.replace('-  c', '- c') + 'd:\n  - e\n  - - f\n    - g: h\n      i: j\n',
    ],
    ['missing values', 'a:\nb:\n  c:\nd: null\ne: ""\n'],
    ['numbers that are strings', 'a: 1.2.3\nb: 0123\nc: 08\nd: 1_0\ne: 1e3\nf: 1234e56\ng: +1\nh: -\u0031\n'],
    [
      'literal scalars of all kinds',
      'a: |\n  x\n\n\nb: |+\n  x\n\n\nc: |-\n   x\n    y\n\n  \n   z\nd: |2-\n    x\n',
    ],
    ['characters of all widths', 'a: é漢😀\nb: "é漢😀"\nc: |\n  é漢😀\nd:\n- é\n'],
  ])('reads %s without the exact reader', (_name, text) => {
    expect(new FastYamlReader(textEncoder.encode(text)).read(0)).toBeDefined()
    expect(compareYamlReaders(textEncoder.encode(text)).difference).toBeUndefined()
  })

  describe('text that occurred earlier in the file', () => {
    const block = 'x:\n    a: some words that are long enough\n    b:\n    - and some more of them\n'
    const longBlockScalar = '|+\n    words that are long enough to be remembered, and more\n'
    test.each([
      ['unchanged', `p:\n  ${block}q:\n  ${block}r: 1\n`, true],
      ['with another entry', `p:\n  ${block}q:\n  ${block}    c: 1\nr: 1\n`, true],
      ['with another item', `p:\n  ${block}q:\n  ${block}    - c\nr: 1\n`, true],
      ['with a longer last word', `p:\n  ${block}q:\n  ${block}      c\nr: 1\n`, true],
      ['with a comment after it', `p:\n  ${block}q:\n  ${block}# c\nr: 1\n`, true],
      ['at the end of the file', `p:\n  ${block}q:\n  ${block}`, true],
      ['at the end of a document', `p:\n  ${block}q:\n  ${block}---\na: b\n`, true],
      [
        'with empty lines that belong to it',
        `p:\n  a: ${longBlockScalar}q:\n  b: ${longBlockScalar}\n\nr: 1\n`,
        true,
      ],
      ['at the end of the file, with spaces', `p:\n  ${block}q:\n  ${block}   `, undefined],
      ['after more spaces', `p:\n  ${block}q:\n    ${block}r: 1\n`, true],
      ['with a tab after it', `p:\n  ${block}q:\n  ${block}\t\nr: 1\n`, false],
    ])('%s, is read as by the exact reader', (_name, text, isFast) => {
      const comparison = compareYamlReaders(textEncoder.encode(text))
      expect(comparison.difference).toBeUndefined()
      if (isFast !== undefined) expect(comparison.fast === comparison.documents).toBe(isFast)
    })
  })

  test('agrees with the exact reader on a sample of real catalogs, and reads over 95% of it', () => {
    const root = findSharedPath('community-operators', 'catalogs')
    if (root === undefined) return
    let documents = 0
    let fast = 0
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.yaml'),
    )
    // A sample; bench/fuzz-reader.ts reads all of them.
    for (const file of files.filter((_, index) => index % 20 === 0)) {
      const comparison = compareYamlReaders(readFileSync(join(root, file)))
      expect({ file, difference: comparison.difference }).toEqual({ file, difference: undefined })
      documents += comparison.documents
      fast += comparison.fast
    }
    expect(fast / documents).toBeGreaterThan(0.95)
  })
})
