import { describe, expect, test } from '@jest/globals'
import { parseDocument, isMap, isSeq, LineCounter, type Node, type Scalar } from 'yaml'
import { findStrictDecodingProblems } from '../../../../packages/fbc/src/load/find-strict-decoding-problems.ts'
import type { ParsedValue } from '../../../../packages/fbc/src/go/tree.ts'

function findYamlStrictDecodingProblems(text: string, limit = 100) {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, version: '1.1', uniqueKeys: false })
  const convert = (node: Node): ParsedValue => {
    const [start = 0, end = 0] = node.range ?? []
    if (isMap(node)) {
      const pairs = node.items.map((pair) => ({ key: pair.key as Scalar, value: pair.value as Node }))
      const keys = pairs.map(({ key }) => String(key.value))
      return {
        kind: 'map',
        start,
        end,
        entries: pairs
          .filter((_, index) => keys.lastIndexOf(keys[index] ?? '') === index)
          .map(({ key, value }) => ({
            key: String(key.value),
            keyStart: key.range?.[0] ?? 0,
            keyEnd: key.range?.[1] ?? 0,
            value: convert(value),
          })),
        repeated: pairs
          .filter((_, index) => keys.indexOf(keys[index] ?? '') !== index)
          .map(({ key }) => ({
            key: String(key.value),
            start: key.range?.[0] ?? 0,
            end: key.range?.[1] ?? 0,
          })),
      }
    }
    if (isSeq(node))
      return { kind: 'list', start, end, items: node.items.map((item) => convert(item as Node)) }
    const { value, source = '', type } = node as Scalar
    if (typeof value === 'number') return { kind: 'number', start, end, value, text: source }
    if (typeof value === 'boolean') return { kind: 'bool', start, end, value }
    if (value === null) return { kind: 'null', start, end }
    return { kind: 'string', start, end, value: value as string, quoted: type !== 'PLAIN' }
  }
  const markAt = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }
  return findStrictDecodingProblems(
    convert(document.contents as Node),
    { positionAt: markAt, textFrom: (start, length) => text.slice(start, start + length) },
    limit,
  )
}

const formatStrictDecodingProblemPaths = (text: string) =>
  findYamlStrictDecodingProblems(text).map((leniency) => [
    leniency.kind,
    'path' in leniency ? leniency.path : '',
  ])

describe('content that opm silently ignores', () => {
  test('unknown fields are found at every level, and the case of known ones does not matter', () => {
    expect(
      formatStrictDecodingProblemPaths(`schema: olm.channel
package: foo
Name: stable
color: red
entries:
  - name: foo.v1
    SkipRange: '<1.0.0'
    replace: foo.v0
properties:
  - type: x
    value: {anything: {goes: here}}
    extra: 1
`),
    ).toEqual([
      ['unknown-field', 'color'],
      ['unknown-field', 'entries[0].replace'],
      ['unknown-field', 'properties[0].extra'],
    ])
  })

  test('known property types have known fields, except olm.csv.metadata', () => {
    expect(
      formatStrictDecodingProblemPaths(`schema: olm.bundle
properties:
  - type: olm.gvk
    value: {group: a, version: v1, kind: K, plural: ks}
  - type: olm.csv.metadata
    value: {anything: 4.10}
`),
    ).toEqual([['unknown-field', 'properties[0].value.plural']])
  })

  test('a scalar of an untyped field is reported if its value is formatted differently than its text', () => {
    expect(
      findYamlStrictDecodingProblems(`schema: custom
name: no.1
a: [4.10, 0123, 1e5, 1_000, 0x1F, y, on, No, .5, 5., +1, 9007199254740993, 1.0e3]
fine: [4.1, -7, 0, 1.0, 0.25, true, False, TRUE, "4.10", 'y', plain, ~, 2020-01-01, 2147483648]
deep: {list: [{version: 1.20}]}
`).map((leniency) => leniency.kind === 'scalar' && [leniency.path, leniency.text]),
    ).toEqual([
      ['a[0]', '4.10'],
      ['a[1]', '0123'],
      ['a[2]', '1e5'],
      ['a[3]', '1_000'],
      ['a[4]', '0x1F'],
      ['a[5]', 'y'],
      ['a[6]', 'on'],
      ['a[7]', 'No'],
      ['a[8]', '.5'],
      ['a[9]', '5.'],
      ['a[10]', '+1'],
      ['a[11]', '9007199254740993'],
      ['a[12]', '1.0e3'],
      ['deep.list[0].version', '1.20'],
    ])
  })

  test('a duplicate key is found with its blob', () => {
    expect(
      findYamlStrictDecodingProblems(
        'schema: olm.channel\npackage: foo\nname: a\nname: b\nentries:\n- name: x\n  skips: []\n  skips: []\n',
      ),
    ).toEqual([
      {
        kind: 'repeated-key',
        path: 'name',
        mark: { line: 4, column: 1 },
        schema: 'olm.channel',
        package: 'foo',
        name: 'b',
      },
      {
        kind: 'repeated-key',
        path: 'entries[0].skips',
        mark: { line: 8, column: 3 },
        schema: 'olm.channel',
        package: 'foo',
        name: 'b',
      },
    ])
  })

  test('their number is limited, and a document that is not a mapping has none', () => {
    const many = `schema: olm.package\n${Array.from({ length: 50 }, (_, index) => `u${index}: 1\n`).join('')}`
    expect(findYamlStrictDecodingProblems(many, 7)).toHaveLength(7)
    expect(findYamlStrictDecodingProblems('- 4.10\n')).toEqual([])
  })

  test('a document that is too deep, or that aliases expand, is searched up to a limit', () => {
    let deep: ParsedValue = { kind: 'number', start: 0, end: 4, value: 4.1, text: '4.10' }
    for (let level = 0; level < 9000; level++) deep = { kind: 'list', start: 0, end: 4, items: [deep] }
    let bomb: ParsedValue = deep
    for (let level = 0; level < 40; level++)
      bomb = { kind: 'list', start: 0, end: 4, items: [bomb, bomb, bomb] }
    const entries = [deep, bomb].map((value, at) => ({ key: `k${at}`, keyStart: 0, keyEnd: 2, value }))
    const text = { positionAt: () => ({ line: 1, column: 1 }), textFrom: () => '4.10' }
    expect(findStrictDecodingProblems({ kind: 'map', start: 0, end: 4, entries }, text, 100)).toEqual([])
  })
})
