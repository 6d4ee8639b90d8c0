import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { setTimeout } from 'node:timers/promises'
import { printJson, withProgress } from '../../src/cli/output.ts'

/** The chunks that are printed for `value`. */
function collectOutputChunks(value: unknown): string[] {
  const chunks: string[] = []
  const write = jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
    chunks.push(String(text))
    return true
  })
  try {
    printJson(value)
  } finally {
    write.mockRestore()
  }
  return chunks
}

test.each<[string, unknown]>([
  ['nothing', null],
  ['a string', 'a "b"\n\ud800'],
  ['an empty object', {}],
  ['an empty list', []],
  ['undefined fields', { a: undefined, b: 1, c: undefined, d: { e: undefined } }],
  ['lists in lists', { a: [[1, [2]], { b: [undefined, null] }] }],
  [
    'a list longer than a chunk',
    { 'a"b': Array.from({ length: 2500 }, (_, at) => ({ at, gone: undefined })) },
  ],
  ['a list of exactly two chunks', Array.from({ length: 2000 }, (_, at) => [at])],
])('the chunks together are the same as from JSON.stringify: %s', (_, value) => {
  expect(collectOutputChunks(value).join('')).toBe(`${JSON.stringify(value)}\n`)
})

test('JSON escapes what a terminal could interpret', () => {
  expect(collectOutputChunks({ '\u202ea': ['\u009b31m'] })).toEqual(['{"\\u202ea":["\\u009b31m"]}\n'])
})

test('a long value is printed in chunks of limited length', () => {
  const chunks = collectOutputChunks({ list: Array.from({ length: 50_000 }, () => 'x'.repeat(100)) })
  expect(chunks.length).toBeGreaterThan(3)
  expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThan(2_000_000)
})

describe('progress', () => {
  const { isTTY } = process.stderr
  const { env } = process
  let shown = ''

  beforeEach(() => {
    shown = ''
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => Boolean((shown += String(text))))
    for (const name of ['cursorTo', 'moveCursor', 'clearLine'] as const) process.stderr[name] ??= () => true
    process.stderr.isTTY = true
    process.env = { TERM: 'xterm' }
  })

  afterEach(() => {
    jest.restoreAllMocks()
    process.stderr.isTTY = isTTY
    process.env = env
  })

  test('escapes untrusted text, and disappears at the end', async () => {
    const listeners = process.listenerCount('SIGINT')
    expect(await withProgress('Reading', (report) => Promise.resolve(report('a\u001b[31mb') ?? 2), 0)).toBe(2)
    expect(shown).toContain(String.raw`a\u{1b}[31mb`)
    expect(shown.endsWith('\u001b[?25h')).toBe(true)
    expect(process.listenerCount('SIGINT')).toBe(listeners)
  })

  test('appears during work that reports nothing', async () => {
    await withProgress('Reading', async () => await setTimeout(20), 1)
    expect(shown).toContain('Reading')
  })

  test('disappears if the work fails', async () => {
    const failing = withProgress('Reading', (report) => Promise.reject(new Error(String(report('a')))), 0)
    await expect(failing).rejects.toThrow('undefined')
    expect(shown.endsWith('\u001b[?25h')).toBe(true)
  })

  test.each([
    ['work is short', () => undefined, 60_000],
    ['stderr is not a terminal', () => (process.stderr.isTTY = false), 0],
    ['it is in CI', () => (process.env['CI'] = 'true'), 0],
  ])('shows nothing if %s', async (_, arrange, delayMs) => {
    arrange()
    await withProgress('Reading', (report) => Promise.resolve(report('a')), delayMs)
    expect(shown).toBe('')
  })
})
