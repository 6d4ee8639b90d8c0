// A command is a separate line in a plain paragraph near the top of a comment. Nothing else is a command (T30).
import { describe, expect, test } from '@jest/globals'
import fc from '../seeded.ts'
import { commandNames, parseCommandFromComment } from '../../src/pull-request/command.ts'

const noCommandResult = { kind: 'none' }
const approveCommandResult = { kind: 'command', command: { name: 'approve' } }

describe('a command is read', () => {
  test.each(commandNames)('/%s on a separate line', (name) => {
    expect(parseCommandFromComment(`/${name}`)).toEqual({ kind: 'command', command: { name } })
  })
  test.each([
    ['after a sentence', 'Looks good to me, thanks @alice!\n/approve'],
    ['before a sentence', '/approve\nThanks.'],
    ['after a paragraph with code in it', 'I ran `opm validate`.\n\n/approve'],
    ['after a list', '- one\n- two\n\n/approve'],
    ['with the line endings of a browser', 'Fine.\r\n/approve\r\n'],
    ['with trailing whitespace', '/approve  \t'],
    ['twice in the same comment', '/approve\n\n/approve'],
  ])('%s', (_, body) => {
    expect(parseCommandFromComment(body)).toEqual(approveCommandResult)
  })
  test.each(['main', 'main audit', ''])('/unfreeze %s, an alias for /thaw', (words) => {
    expect(parseCommandFromComment(`/unfreeze ${words}`)).toEqual(parseCommandFromComment(`/thaw ${words}`))
    expect(parseCommandFromComment('/unfreeze')).toEqual({ kind: 'command', command: { name: 'thaw' } })
  })
  test('with an abbreviated commit SHA', () => {
    expect(parseCommandFromComment('/merge 0123abc')).toEqual({
      kind: 'command',
      command: { name: 'merge', sha: '0123abc' },
    })
  })
})

test('a command keeps its words, and two different commands in one comment are unclear', () => {
  expect(parseCommandFromComment('/freeze main release day (v1)')).toEqual({
    kind: 'command',
    command: { name: 'freeze', words: 'main release day (v1)' },
  })
  expect(parseCommandFromComment('/freeze a\n/freeze b').kind).toBe('unclear')
  expect(parseCommandFromComment('/freeze\n/thaw').kind).toBe('unclear')
})

const ignoredCommandComments: [string, string][] = [
  ['a quote', '> /approve'],
  ['a quote that is continued lazily', '> said\n/approve'],
  ['a fenced block', '```\n/approve\n```'],
  ['a fenced block with blank lines', '```\n\n/approve\n\n```'],
  ['a tilde fence', '~~~\n\n/approve\n\n~~~'],
  ['a fence that is never closed', 'text\n\n```sh\n\n/approve'],
  ['a long fence that a short one does not close', '`````\n```\n\n/approve'],
  ['indented code', 'text\n\n    /approve'],
  ['a tab', '\t/approve'],
  ['an HTML comment', '<!--\n\n/approve\n\n-->'],
  ['an HTML comment that is never closed', 'hello <!-- \n\n/approve'],
  ['a collapsed part', '<details>\n\n/approve\n\n</details>'],
  ['raw text of HTML', '<pre>\n\n/approve\n\n</pre>'],
  ['the text of an image', '![\n/approve\n](https://example.com/x.png)'],
  ['the text of a link', '[\n/approve\n](https://example.com)'],
  ['the title of a link definition', '[a]: /x "\n/approve\n"'],
  ['a code span over lines', '`\n/approve\n`'],
  ['a list item', '- /approve'],
  ['a list item that is continued lazily', '- said\n/approve'],
  ['a numbered item', '1. said\n/approve'],
  ['a heading', '# /approve'],
  ['a heading by underline', '/approve\n==='],
  ['a second heading by underline', '/approve\n---'],
  ['a table', '| a |\n|---|\n| /approve |'],
  ['mathematics', '$$\n/approve\n$$'],
  ['struck out text', '~~\n/approve\n~~'],
  ['a mail that is quoted without marks', 'On Friday Bob wrote:\n\n/approve'],
  ['a mail below its head', 'From: Bob\n\n/approve'],
  ['the middle of a line', 'please /approve'],
  ['an escape', '\\/approve'],
  ['another case', '/Approve'],
  ['look-alike letters', '/аpprove'],
  ['a full-width slash', '／approve'],
  ['an invisible character', '/\u200bapprove'],
  ['a line separator that Markdown does not know', 'text\u2028/approve'],
  ['a byte order mark', '\ufeff/approve'],
  ['a longer word', '/approved'],
  ["another bot's command", '/lgtm'],
  ['line 21', `${'text\n'.repeat(20)}/approve`],
]

test.each(ignoredCommandComments)('T30: a command is not read in %s', (_, body) => {
  expect(parseCommandFromComment(body)).toEqual(noCommandResult)
})

test.each([
  '/approve\n/hold',
  '/hold\n\n/unhold',
  '/approve 0123456\n/approve 7654321',
  '/approve please',
  '/hold 0123456',
])('T30: a comment that contradicts itself or has invalid words is unclear: %j', (body) => {
  expect(parseCommandFromComment(body).kind).toBe('unclear')
})

describe('with random text', () => {
  test('T30: a command wrapped in a construct stays hidden after any plain text', () => {
    const plain = fc.stringMatching(/^[A-Za-z0-9 ,.!?@]{0,30}$/)
    fc.assert(
      fc.property(
        fc.array(plain, { maxLength: 6 }),
        fc.constantFrom(
          ...ignoredCommandComments.filter(([name]) => name !== 'line 21' && name !== 'a byte order mark'),
        ),
        (before, [, body]) => parseCommandFromComment(`${before.join('\n')}\n\n${body}`).kind === 'none',
      ),
    )
  })
  test('the parser does not throw or take long', () => {
    const pieces = fc.constantFrom(
      '`',
      '<',
      '>',
      '/approve',
      '\n',
      '[',
      ']',
      '(',
      ')',
      '*',
      '~',
      '\\',
      ' ',
      '/merge',
      'a',
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 200 }), (parts) => {
        const parsed = parseCommandFromComment(parts.join(''))
        return parsed.kind !== 'command' || commandNames.includes(parsed.command.name)
      }),
    )
    // The last two made a pattern backtrack in quadratic and, with a line separator, in cubic time.
    const spaces = ' '.repeat(60_000)
    for (const body of [
      '/approve '.repeat(7000) + '`'.repeat(60_000),
      `/merge a${spaces}b`,
      `/merge${' '.repeat(3000)}\u2028b`,
    ]) {
      const start = process.threadCpuUsage()
      parseCommandFromComment(body)
      expect(process.threadCpuUsage(start).user / 1e6).toBeLessThan(1.5)
    }
    expect(parseCommandFromComment(`/approve${spaces}\t`)).toEqual(approveCommandResult)
    for (const body of ['/approve\u2028', '/approve \u2028b', '/freeze a\u2028'])
      expect(parseCommandFromComment(body).kind).toBe('none')
  })
})
