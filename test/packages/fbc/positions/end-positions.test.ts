import { describe, expect, test } from '@jest/globals'
import { assembleCatalog } from '../../../../packages/fbc/src/facts/catalog.ts'
import { addFindingEndPositions } from '../../../../packages/fbc/src/positions/finding-ends.ts'
import { parseCatalogFile } from '../../../../packages/fbc/src/load/parse-catalog-file.ts'
import { runCatalogRules } from '../../../../src/checks/validation/validate-fully.ts'
import type { Finding, Location } from '../../../../packages/findings/src/finding.ts'

const findingAt = (line: number, column: number, more: Partial<Location> = {}): Finding => ({
  rule: 'r',
  severity: 'error',
  what: '',
  why: '',
  fix: '',
  at: { file: 'c.yaml', line, column, ...more },
})
/** The text between a position and its end. */
function findTextAtFinding(text: string, line: number, column: number): string | undefined {
  const bytes = new TextEncoder().encode(text)
  const [found] = addFindingEndPositions([findingAt(line, column)], () => bytes)
  expect(found?.at?.endLine).toBe(line)
  return text.split('\n')[line - 1]?.slice(column - 1, (found?.at?.endColumn ?? 0) - 1)
}

test.each([
  ['- name: foo, bar  # why', 3, 'name: foo, bar'],
  ['name: foo#bar \r', 1, 'name: foo#bar'],
  ['a: "b \\" c", d', 4, '"b \\" c"'],
  ["a: 'it''s' # x", 4, "'it''s'"],
  ['[{name: foo, x: 1}]', 2, '{name: foo, x: 1}'],
  ['[{name: foo, x: 1}]', 3, 'name'],
  ['{"a":1,"b":[1,2]}', 8, '"b"'],
  ['{"a": {"b": "}"}, "c": 1}', 7, '{"b": "}"}'],
  ['a: {b: 1,', 4, '{b: 1,'],
  ['a: "open', 4, '"open'],
  ['é😀: "x", ', 6, '"x"'],
])('a position ends where the token that begins there ends on its line: %s', (text, column, expected) => {
  expect(findTextAtFinding(text, 1, column)).toBe(expected)
  expect(findTextAtFinding(`x\n\n${text}\nfoo`, 3, column)).toBe(expected)
})

test('findings keep their order and their existing ends', () => {
  const bytes = new TextEncoder().encode('one two\nthree\n')
  const ends = addFindingEndPositions(
    [findingAt(2, 1), findingAt(1, 5), findingAt(1, 1, { endLine: 2, endColumn: 3 })],
    () => bytes,
  )
  expect(ends.map((finding) => [finding.at?.line, finding.at?.endLine, finding.at?.endColumn])).toEqual([
    [2, 2, 6],
    [1, 1, 8],
    [1, 2, 3],
  ])
})

test('a position outside the file does not end before it begins', () => {
  for (const bytes of [new Uint8Array(), Uint8Array.of(0xff, 0xfe, 0x61, 0), Uint8Array.of(0xff, 0x0a)])
    for (const location of [findingAt(1, 1), findingAt(7, 1), findingAt(1, 9)]) {
      const [found] = addFindingEndPositions([location], () => bytes)
      expect(found?.at?.endColumn).toBeGreaterThanOrEqual(location.at?.column ?? 0)
    }
})

test('a position in an unavailable file has no end', () => {
  expect(addFindingEndPositions([findingAt(1, 1)], () => undefined)).toEqual([findingAt(1, 1)])
})

test('ten thousand positions on a line of ten megabytes are found in one pass', () => {
  const bytes = new TextEncoder().encode('{"a":"bcdefg"},'.repeat(700_000))
  const findingsInLine = Array.from({ length: 10_000 }, (_, n) => findingAt(1, 1 + 15 * 70 * n))
  const started = process.threadCpuUsage()
  const ends = addFindingEndPositions(findingsInLine, () => bytes)
  expect(ends.every(({ at }) => at && at.endColumn === at.column + 14)).toBe(true)
  // Reading the line again for each position would take hours.
  expect(process.threadCpuUsage(started).user / 1e6).toBeLessThan(30)
})

describe('a position ends where the value that begins there ends', () => {
  const text = [
    'schema: olm.channel', // 1
    'entries:', // 2
    '- name: a', // 3
    '  skips: [x,', // 4
    '    y]   # why', // 5
    '', // 6
    '# more', // 7
    '- name: b', // 8
    '  text: |', // 9
    '    one', // 10
    '', // 11
    '    two 😀', // 12
    '', // 13
    '- "over', // 14
    '    lines"', // 15
    '- plain', // 16
    '    over lines # why', // 17
    '- - deep', // 18
    '  - er', // 19
    '- &a {x: 1}', // 20
    '- y: *a # why', // 21
    '  z:', // 22
    '- !!map', // 23
    '  k: v', // 24
    'other: 1', // 25
    '',
  ].join('\n')
  test.each([
    ['an item over lines, up to its last bracket', 3, 3, 5, 7],
    ['a list over lines', 4, 10, 5, 7],
    ['an item that ends in a block of text, without the blank lines behind it', 8, 3, 12, 11],
    ['a block of text', 9, 9, 12, 11],
    ['a quoted text over lines', 14, 3, 15, 11],
    ['a plain text over lines, without the comment', 16, 3, 17, 15],
    ['a list in a list', 18, 3, 19, 7],
    ['an item behind its anchor', 20, 6, 20, 12],
    ['an item whose last field is empty', 21, 3, 22, 5],
    ['an alias, where it is written', 21, 6, 21, 8],
    ['an item behind its tag', 24, 3, 24, 7],
    ['a key, where a key is meant', 8, 3, 8, 7, 'key'],
    ['a key, where only a key begins', 25, 1, 25, 6],
  ] as const)('%s', (...[, line, column, endLine, endColumn, extent]) => {
    for (const [before, lines] of [
      ['', 0],
      ['schema: x\n---\n', 2],
    ] as const)
      for (const lineEnd of ['\n', '\r\n']) {
        const bytes = new TextEncoder().encode((before + text).replaceAll('\n', lineEnd))
        const findingsWithExtent = [findingAt(line + lines, column, extent && { extent })]
        expect(addFindingEndPositions(findingsWithExtent, () => bytes)[0]?.at).toEqual({
          ...{ file: 'c.yaml', line: line + lines, column },
          ...{ endLine: endLine + lines, endColumn },
        })
      }
  })

  test('in any document of a JSON file, on one line or several', () => {
    const json = '{"schema": "é😀"} {"a": [1, {"b":\n {"c": "}"}}],\n"d": "😀", "e": 1}'
    const bytes = new TextEncoder().encode(json)
    const ends = addFindingEndPositions(
      [
        findingAt(1, 1),
        findingAt(1, 25),
        findingAt(1, 29),
        findingAt(2, 2),
        findingAt(3, 6),
        findingAt(3, 12),
      ],
      () => bytes,
    )
    expect(ends.map((finding) => [finding.at?.endLine, finding.at?.endColumn])).toEqual([
      [1, 18],
      [2, 14],
      [2, 13],
      [2, 12],
      [3, 10],
      [3, 15],
    ])
  })

  test('in a UTF-16 file', () => {
    const bytes = new Uint8Array(Buffer.from('\ufeffa: b\nc: {x: 1,\n  y: 2}\n', 'utf16le').swap16())
    expect(addFindingEndPositions([findingAt(2, 4)], () => bytes)[0]?.at).toMatchObject({
      endLine: 3,
      endColumn: 8,
    })
  })
})

describe('a range that is too long to be shown ends with its first element:', () => {
  const many = '- x\n'.repeat(400)
  test.each([
    ['a blob with its first field', `schema: olm.package\nname: a\n`, 1, 1, 20],
    ['a blob with the first key, if its value is on later lines', `entries:\n${many}`, 1, 1, 8],
    ['a JSON blob with its opening brace', '{\n  "schema": "a"\n}', 1, 1, 2],
    ['a blob on one line with that line', '{"schema": "a", "name": "b"}\n', 1, 1, 29],
    ['an item with its first field', `p:\n- type: a # why\n  v:\n${many.replaceAll('-', '  -')}`, 2, 3, 10],
    ['a list with its first item', `p:\n- x # why\n${many}`, 2, 1, 4],
    ['a list of items with the first field', `p:\n- x: |\n    a\n    b\n${many}`, 2, 1, 4],
    ['a string with its first line', `p: "one \n${'  two\n'.repeat(30)}"\n`, 1, 4, 8],
    [
      'a mapping with the key that is written first',
      `- a: 1\n  b:\n${many.replaceAll('-', '  -')}  a: 2\n`,
      1,
      3,
      4,
    ],
  ])('%s', (_, text, line, column, endColumn) => {
    const bytes = new TextEncoder().encode(text)
    const findingsWithEnd = [
      findingAt(line, column),
      findingAt(line, column, { endLine: line + 300, endColumn: 1 }),
    ]
    for (const { at: found } of addFindingEndPositions(findingsWithEnd, () => bytes))
      expect(found).toEqual({ file: 'c.yaml', line, column, endLine: line, endColumn })
  })

  test('a range of twenty lines is not too long', () => {
    const bytes = new TextEncoder().encode(`p:\n${'- x\n'.repeat(20)}`)
    expect(addFindingEndPositions([findingAt(2, 1)], () => bytes)[0]?.at).toMatchObject({
      endLine: 21,
      endColumn: 4,
    })
  })
})

describe('the time to find ends depends on the size of the file, not on its structure:', () => {
  const encode = (text: string) => new TextEncoder().encode(text)
  test.each([
    [
      'ten thousand values on one line',
      `{"a":[${'{"b":"cdefg"},'.repeat(300_000)}1]}`,
      1,
      (n: number) => 7 + 14 * 30 * n,
    ],
    ['ten thousand nested lists', `{"a":${'['.repeat(9_990)}${']'.repeat(9_990)}}`, 1, (n: number) => 6 + n],
    [
      'ten thousand documents on one line',
      '{"schema":"abc"} '.repeat(200_000),
      1,
      (n: number) => 1 + 17 * 20 * n,
    ],
    [
      'ten thousand items before three million blank lines',
      `a:\n${'- x\n'.repeat(9_990)}- |+\n${'\n'.repeat(3_000_000)}`,
      9_990,
      () => 1,
    ],
  ])('%s', (_, text, line, column) => {
    const bytes = encode(text)
    const manyFindings = Array.from({ length: 9_990 }, (_, n) => findingAt(line === 1 ? 1 : n + 2, column(n)))
    const started = performance.now()
    const ends = addFindingEndPositions(manyFindings, () => bytes)
    expect(performance.now() - started).toBeLessThan(15_000)
    expect(
      ends.every(({ at }) => at && (at.endLine as number) >= at.line && (at.endColumn as number) > 1),
    ).toBe(true)
  })

  test('a tree that aliases expand to a million times its text', () => {
    const levels = Array.from({ length: 8 }, (_, n) => `l${n + 1}: &l${n + 1} [${`*l${n}, `.repeat(6)}]\n`)
    const bytes = encode(`l0: &l0 {x: 1}\n${levels.join('')}`)
    expect(
      addFindingEndPositions([findingAt(1, 9), findingAt(9, 9)], () => bytes).map(
        (finding) => finding.at?.endColumn,
      ),
    ).toEqual([15, 41])
  })
})

test('a misspelled field is marked at its key, even if it is the first in its mapping', () => {
  const text = 'schema: olm.channel\npackage: a\nname: b\nentries:\n- nmae: a.v1\n  name: a.v1\n'
  const bytes = new TextEncoder().encode(text)
  const catalog = assembleCatalog([{ path: 'c.yaml', facts: parseCatalogFile(bytes) }])
  const found = runCatalogRules(catalog).filter(({ rule }) => rule === 'misspelt-field')
  expect(addFindingEndPositions(found, () => bytes).map((one) => one.at)).toEqual([
    { file: 'c.yaml', line: 5, column: 3, endLine: 5, endColumn: 7 },
  ])
})

describe('the text that is read again for ends is limited', () => {
  const list = 'a: [1,\n  2]\n'
  const filler = (bytes: number) => `b: ${'x'.repeat(bytes)}\n`
  const endOf = (text: string, line: number) => {
    const bytes = new TextEncoder().encode(text)
    const { endLine = 0, endColumn } = addFindingEndPositions([findingAt(line, 4)], () => bytes)[0]?.at ?? {}
    return [endLine - line, endColumn]
  }

  test('a value ends on its last line, but on its first line in a document larger than a megabyte', () => {
    expect(endOf(list + filler(1_000_000), 1)).toEqual([1, 5])
    expect(endOf(list + filler(1_100_000), 1)).toEqual([0, 7])
  })

  test('the limit applies to the document, not to the file', () => {
    expect(endOf(`${`${filler(900_000)}---\n`.repeat(40)}${list}`, 81)).toEqual([1, 5])
  })

  test('at most sixteen megabytes of all files together are read again, in the order of the findings', () => {
    const bytes = new TextEncoder().encode(list + filler(1_000_000))
    const findingsByFile = Array.from({ length: 20 }, (_, n) => findingAt(1, 4, { file: `${n}.yaml` }))
    const lines = addFindingEndPositions(findingsByFile, () => bytes).map((found) => found.at?.endLine)
    expect(lines).toEqual([...Array<number>(16).fill(2), ...Array<number>(4).fill(1)])
  })
})
