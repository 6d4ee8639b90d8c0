import { describe, expect, test } from '@jest/globals'
import { withEnds } from '../../src/catalog/ends.ts'
import type { Finding, Location } from '../../src/findings/finding.ts'

const at = (line: number, column: number, more: Partial<Location> = {}): Finding => ({
  rule: 'r',
  severity: 'error',
  what: '',
  why: '',
  fix: '',
  at: { file: 'c.yaml', line, column, ...more },
})
/** The text between a place and its end. */
function marked(text: string, line: number, column: number): string | undefined {
  const bytes = new TextEncoder().encode(text)
  const [found] = withEnds([at(line, column)], () => bytes)
  expect(found?.at?.endLine).toBe(line)
  return text.split('\n')[line - 1]?.slice(column - 1, (found?.at?.endColumn ?? 0) - 1)
}

describe('a place ends where what begins there ends on its line', () => {
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
  ])('%s', (text, column, expected) => {
    expect(marked(text, 1, column)).toBe(expected)
    expect(marked(`x\n\n${text}\nfoo`, 3, column)).toBe(expected)
  })
})

test('findings keep their order, and the ends that they have', () => {
  const bytes = new TextEncoder().encode('one two\nthree\n')
  const ends = withEnds([at(2, 1), at(1, 5), at(1, 1, { endLine: 2, endColumn: 3 })], () => bytes)
  expect(ends.map((finding) => [finding.at?.line, finding.at?.endLine, finding.at?.endColumn])).toEqual([
    [2, 2, 6],
    [1, 1, 8],
    [1, 2, 3],
  ])
})

test('a place that is nowhere ends where it begins', () => {
  for (const bytes of [new Uint8Array(), Uint8Array.of(0xff, 0xfe, 0x61, 0), Uint8Array.of(0xff, 0x0a)])
    for (const place of [at(1, 1), at(7, 1), at(1, 9)]) {
      const [found] = withEnds([place], () => bytes)
      expect(found?.at?.endColumn).toBeGreaterThanOrEqual(place.at?.column ?? 0)
    }
})

test('a place in a file that is not at hand has no end', () => {
  expect(withEnds([at(1, 1)], () => undefined)).toEqual([at(1, 1)])
})

test('ten thousand places on one line of ten megabytes take one reading', () => {
  const bytes = new TextEncoder().encode('{"a":"bcdefg"},'.repeat(700_000))
  const places = Array.from({ length: 10_000 }, (_, n) => at(1, 1 + 15 * 70 * n))
  const started = process.threadCpuUsage()
  const ends = withEnds(places, () => bytes)
  expect(ends.every(({ at }) => at && at.endColumn === at.column + 14)).toBe(true)
  // Reading it anew for each place would take hours.
  expect(process.threadCpuUsage(started).user / 1e6).toBeLessThan(30)
})
