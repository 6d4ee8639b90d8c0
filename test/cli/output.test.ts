import { expect, jest, test } from '@jest/globals'
import { printJson } from '../../src/cli/output.ts'

/** What it prints, piece by piece. */
function collectOutputChunks(value: unknown): string[] {
  const pieces: string[] = []
  const write = jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
    pieces.push(String(text))
    return true
  })
  try {
    printJson(value)
  } finally {
    write.mockRestore()
  }
  return pieces
}

test.each<[string, unknown]>([
  ['nothing', null],
  ['a text', 'a "b"\n\ud800'],
  ['an empty object', {}],
  ['an empty list', []],
  ['fields that are not there', { a: undefined, b: 1, c: undefined, d: { e: undefined } }],
  ['lists in lists', { a: [[1, [2]], { b: [undefined, null] }] }],
  [
    'a list longer than a part',
    { 'a"b': Array.from({ length: 2500 }, (_, at) => ({ at, gone: undefined })) },
  ],
  ['a list of exactly two parts', Array.from({ length: 2000 }, (_, at) => [at])],
])('JSON in parts is JSON as a whole: %s', (_, value) => {
  expect(collectOutputChunks(value).join('')).toBe(`${JSON.stringify(value)}\n`)
})

test('a long value is never one text', () => {
  const pieces = collectOutputChunks({ list: Array.from({ length: 50_000 }, () => 'x'.repeat(100)) })
  expect(pieces.length).toBeGreaterThan(3)
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(2_000_000)
})
