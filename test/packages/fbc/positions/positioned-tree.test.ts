import { describe, expect, test } from '@jest/globals'
import {
  PositionedTreeReader,
  readPositionedTreeWithSlowParser,
  type LocationWithByteOffset,
  type PositionedTree,
  addEndPositionsFromTree,
  findDocumentSpans,
} from '../../../../packages/fbc/src/positions/positioned-tree.ts'
import { ByteOffsetPositionConverter } from '../../../../packages/fbc/src/positions/finding-ends.ts'
import type { ParsedValue } from '../../../../packages/fbc/src/go/tree.ts'
import type { Location } from '../../../../packages/findings/src/finding.ts'
import {
  SeededRandom,
  createMutatedDocuments,
  createMutatedJsonObjects,
  renderedYamlDocuments,
  renderedJsonObjects,
} from '../go/fast/mutated-documents.ts'
import { fuzzSeed } from '../../../seeded.ts'

const textEncoder = new TextEncoder()

/** Like the output of opm, but with wide characters at the ends of lines, nested lists, long strings, and comments. */
const wideCharacterYaml = [
  `---
schema: olm.channel
name: 漢字 voilà
nested:
- - - Å
    - b: à

      # between 😀
      c:
  - - - d
- e
# before
- f: |+
    Zeile Å

    letzte à


  g:
  - h: "à 😀"
    i: 'Å'
  # behind

text: lang à
${'  Zeile à\n'.repeat(25)}quoted: "eins Å
${'  zwei à\n'.repeat(25)}  drei"
single: 'à
${'  à\n'.repeat(25)}  b'
empty: {}
none:
last: |-
  😀 à
`,
]

/** Documents that the fast reader leaves to the exact one, unless a mutation removes the reason. */
const slowPathYamlDocuments = [
  `schema: olm.channel
name: voilà # à la carte
list:
-   f: >-
      folded à
- [Å, {à: 😀 à}]
`,
  `anchored: &a
  - x: 1
    y: [1, 2]
again: *a
key: 1
other: à
key: 2
merged:
  <<: {p: 1}
  q: *a
`,
  `---\r\nschema: x\r\nlist:\r\n- a: à\r\n  b: |\r\n    c\r\n\r\n- d\r\n`,
]

const wideCharacterJson = ['{\n "à": [[1, ["Å 😀", {"b": null}]], {}],\n "c": {"d": "漢à",\n  "e": true}}\n']

/** All positions where a value or a key begins, as values and as keys, in file order. */
function findAllNodeLocations(tree: PositionedTree, bytes: Uint8Array): LocationWithByteOffset[] {
  const locations: Location[] = []
  const add = (offset: number) => {
    const at = { file: 'c.yaml', ...tree.mark(offset) }
    locations.push(at, { ...at, extent: 'key' })
  }
  const seen = new Set<ParsedValue>()
  const stack = [tree.root]
  for (let value = stack.pop(); value; value = stack.pop()) {
    if (seen.has(value)) continue
    seen.add(value)
    add(value.start)
    if (value.kind === 'list') stack.push(...value.items)
    if (value.kind !== 'map') continue
    for (const { start } of value.repeated ?? []) add(start)
    for (const entry of value.entries) {
      add(entry.keyStart)
      stack.push(entry.value)
    }
  }
  locations.sort((a, b) => a.line - b.line || a.column - b.column)
  const reader = new ByteOffsetPositionConverter(bytes)
  return locations.flatMap((at) => {
    const byte = reader.byteAt(at)
    return byte === undefined ? [] : [{ at, byte }]
  })
}

function formatEndPositions(tree: PositionedTree, locations: readonly LocationWithByteOffset[]): string[] {
  const ends = new Map<Location, Pick<Location, 'endLine' | 'endColumn'>>()
  addEndPositionsFromTree(tree, locations, ends)
  return locations.map(({ at }) => {
    const end = ends.get(at)
    return `${at.line}:${at.column} ${at.extent ?? ''} to ${end ? `${end.endLine}:${end.endColumn}` : 'nowhere'}`
  })
}

/** Compares all ends in a file's documents by both readers; returns how many documents were read fast. */
function compareEndPositions(bytes: Uint8Array, claim: string): number {
  const trees = new PositionedTreeReader(bytes)
  let fast = 0
  for (const document of findDocumentSpans(bytes)) {
    const from = new ByteOffsetPositionConverter(bytes).markOf(document.start)
    const found = trees.read(document, from)
    const wanted = readPositionedTreeWithSlowParser(bytes, document, from)
    if (!found?.isNested) continue
    fast++
    if (!wanted) throw new Error(`${claim}: only the fast reader reads the document at ${document.start}`)
    const locations = findAllNodeLocations(wanted, bytes)
    // With only some of the positions, the parts between them are not searched.
    for (const some of [locations, locations.filter((_, index) => index % 7 === 3), locations.slice(-1)]) {
      const [left, right] = [formatEndPositions(found, some), formatEndPositions(wanted, some)]
      const at = left.findIndex((end, index) => end !== right[index])
      if (at >= 0)
        throw new Error(`${claim}: ${left[at]}, not ${right[at]}\n${new TextDecoder().decode(bytes)}`)
    }
    // Both trees have the same positions.
    expect(findAllNodeLocations(found, bytes)).toEqual(locations)
  }
  return fast
}

describe('the fast reader and the exact one find the same ends of values and keys', () => {
  test.each([
    [
      'of YAML',
      createMutatedDocuments,
      [...renderedYamlDocuments, ...wideCharacterYaml, ...wideCharacterYaml, ...slowPathYamlDocuments],
    ],
    ['of JSON', createMutatedJsonObjects, [...renderedJsonObjects, ...wideCharacterJson]],
  ] as const)('in damaged documents %s', (_name, damage, sources) => {
    const random = new SeededRandom(fuzzSeed)
    let fast = 0
    for (let round = 0; round < 400; round++)
      fast += compareEndPositions(damage(random, sources), `seed ${fuzzSeed}, round ${round}`)
    expect(fast).toBeGreaterThan(100)
  })

  test('in a document that is alone, repeated, after a comment, or with carriage returns', () => {
    for (const text of [
      ...renderedYamlDocuments,
      ...wideCharacterYaml,
      ...slowPathYamlDocuments,
      ...renderedJsonObjects,
      ...wideCharacterJson,
    ])
      for (const whole of [text, text + text, `# à\n${text}`, text.replaceAll('\n', '\r\n')])
        compareEndPositions(textEncoder.encode(whole), 'not damaged')
  })

  test('after a JSON object, on the same line or on the next', () => {
    for (const between of ['', ' ', '\n', '\n---\n', '\n\n  '])
      for (const text of ['b:\n- c: à\n  d: 1\n', '{"b": [{"c": "à"}]}\n'])
        compareEndPositions(textEncoder.encode(`{"schema": "à"}${between}${text}`), 'not damaged')
  })

  test('and the fast reader reads documents like the output of opm', () => {
    for (const text of [
      ...renderedYamlDocuments,
      ...wideCharacterYaml,
      ...renderedJsonObjects,
      ...wideCharacterJson,
    ])
      expect(compareEndPositions(textEncoder.encode(text + text), 'not damaged')).toBe(2)
  })
})

test('a string of many lines ends with its first line, for any last character', () => {
  for (const text of ['voilà', 'Å', 'a\u00a0', '漢', '😀', 'b  '])
    for (const [open, close] of ['""', "''"]) {
      const bytes = textEncoder.encode(`p: ${open}${text}\n${'  à\n'.repeat(30)}  c${close}\n`)
      const document = { start: 0, end: bytes.length }
      const foundLocation = { at: { file: '', line: 1, column: 4 }, byte: 3 }
      for (const tree of [
        readPositionedTreeWithSlowParser(bytes, document, { line: 1, column: 1 }),
        new PositionedTreeReader(bytes).read(document, { line: 1, column: 1 }),
      ])
        expect(formatEndPositions(tree as PositionedTree, [foundLocation])).toEqual([
          `1:4  to 1:${5 + text.replace('  ', '').length}`,
        ])
    }
})

test('ten thousand findings about one string of half a megabyte count its columns once', () => {
  const bytes = textEncoder.encode(`schema: x\nname: ${'à'.repeat(250_000)}\n`)
  const tree = new PositionedTreeReader(bytes).read({ start: 0, end: bytes.length }, { line: 1, column: 1 })
  expect(tree?.isNested).toBe(true)
  const foundLocations = Array.from({ length: 10_000 }, () => ({
    at: { file: '', line: 2, column: 7 },
    byte: 16,
  }))
  const started = process.threadCpuUsage()
  expect(new Set(formatEndPositions(tree as PositionedTree, foundLocations))).toEqual(
    new Set(['2:7  to 2:250007']),
  )
  // Counting them each time takes four seconds and more.
  expect(process.threadCpuUsage(started).user / 1e6).toBeLessThan(1)
})
