import { describe, expect, test } from '@jest/globals'
import { marked } from 'marked'
import fc from '../seeded.ts'
import { formatMergeMessage } from '../../src/report/merge-message.ts'
import { formatReleaseCommitMessage } from '../../src/report/release-pull.ts'
import {
  toCodeSpan,
  toCommitTitle,
  toSingleLineText,
  escapeMarkdown,
  escapeSentenceWithCodeSpans,
  renderFencedBlock,
  truncateText,
} from '../../src/report/escape.ts'
import { createTestPullSnapshot } from '../policy/verdict-inputs.ts'

const hostileStrings = [
  '[click](https://evil.example)',
  '![x](https://evil.example/pixel)',
  '<img src=x onerror=1>',
  '<!-- catalog-bot -->',
  '@everyone',
  'fixes #1',
  'closes acme/catalog#2',
  'GH-3',
  'https://evil.example',
  'www.evil.example',
  '_www.evil.example',
  '_GH-3',
  '`rm -rf`',
  '*bold*',
  '# heading',
  '- item',
  '1. item',
  '| a | b |',
  '\u202etxt.exe',
  '\u001b[31mred',
  'a\nb',
  '::set-output name=x::y',
  '&lt;b&gt;',
  '***',
  '---',
  '~~~',
  '$x$',
]

describe('escaping', () => {
  test.each(hostileStrings)('%j in a sentence is rendered as plain text', (text) => {
    const shown = escapeMarkdown(text)
    expect(shown).not.toMatch(/(^|[^\\])[[\]`*_<>|]/)
    expect(shown).not.toMatch(/@[A-Za-z]/)
    expect(shown).not.toMatch(/#\d/)
    expect(shown).not.toMatch(/GH-\d/)
    expect(shown).not.toMatch(/:\/\//)
    expect(shown).not.toMatch(/www\./)
    expect(shown).not.toMatch(/^([-+]|\d+[.)]) /)
    expect(shown).not.toMatch(/[\n\u0000-\u001f\u202e]/)
  })

  test('backticks in a sentence mark code, and other markup is rendered as plain text', () => {
    expect(escapeSentenceWithCodeSpans('Ask bob to comment `/approve` or <b>')).toBe(
      'Ask bob to comment `/approve` or &lt;b&gt;',
    )
    expect(escapeSentenceWithCodeSpans('a | b `c|d`')).toBe('a \\| b `c¦d`')
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom('`', '``', ' ', 'a', '*', '[x](y)', '<i>', '@bob', '|', '\n', ...hostileStrings),
        ),
        (parts) => {
          const html = String(marked.parse(escapeSentenceWithCodeSpans(parts.join('')), { async: false }))
          expect(html.replace(/<\/?(?:p|code)>/g, '')).not.toMatch(/<[a-z]/i)
        },
      ),
    )
  })

  test('backticks in the text cannot end a code span', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('`', 'a', ' ', '\n', '|', '<', '@') }), (text) => {
        const span = toCodeSpan(text)
        if (span === '*(empty)*') return
        const fence = /^`+/.exec(span)?.[0] ?? ''
        const inner = span.slice(fence.length, -fence.length)
        expect(span.endsWith(fence)).toBe(true)
        for (const run of inner.matchAll(/`+/g)) expect(run[0].length).not.toBe(fence.length)
      }),
    )
  })

  test('a line has no control, bidirectional, or invisible characters and never exceeds its limit', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (text) => {
        const shown = toSingleLineText(text, 20)
        expect([...shown].length).toBeLessThanOrEqual(20)
        expect(shown).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/)
      }),
    )
  })

  test.each(['✅\n', '😀', '中 '])('a text of %j is at most as long as GitHub accepts, in bytes', (text) => {
    const shown = truncateText(text.repeat(60_000))
    expect(Buffer.byteLength(shown)).toBeLessThan(65_535)
    expect(shown).toContain('too long')
  })

  test('a text that ends in a code block of a collapsed section does not hide what follows', () => {
    const block = renderFencedBlock('diff', `a\n${'<details>\n\n'.repeat(6_000)}`)
    const shown = truncateText(`<details><summary>a</summary>\n\n${block}\n\n</details>`)
    expect(shown).toMatch(/<details>\n\n```\n\n<\/details>\n\n… This text is too long[^\n]*$/)
    const closed = truncateText(`<details>\n\n\`\`\`\na\n\`\`\`\n\n</details>\n${'a\n'.repeat(60_000)}`)
    expect(closed).toMatch(/a\n\n… This text is too long[^\n]*$/)
  })

  test('a commit title closes no issue and mentions no one', () => {
    expect(toCommitTitle('Fixes #12, closes https://github.com/a/b/issues/3 and GH-4 for @bob')).toBe(
      'Fixes 12, closes and for bob',
    )
    const release = { directory: 'foo', version: '1 [skip ci]', name: 'foo.v1 closes #12', image: 'q.io/x:1' }
    expect(formatReleaseCommitMessage(release)).toBe(
      'Add foo 1 (skip ci) to the catalogs\n\nAdds foo.v1 closes 12 as q.io/x:1.\n',
    )
  })
})

/**
 * What triggers an action in a commit message, by the documentation of GitHub (skipping workflow runs, linking a pull
 * request to an issue, autolinked references, mentions, co-authors), GitLab, Azure Pipelines, and Travis CI.
 */
const ciTriggerPatterns: readonly RegExp[] = [
  /\[[^\]]*(?:skip|no)[^\]]*\]/i,
  /\*\*\*\s*NO_CI/i,
  /skip-checks\s*:/i,
  /(?:^|[^\w])#\d/,
  /[\w.-]+\/[\w.-]+#\d/,
  /(?:^|[^a-z0-9])gh-\d/i,
  /:\/\//,
  /\/(?:issues|pull)\/\d/i,
  /@[a-z0-9]/i,
  /(?:co-authored|signed-off|reviewed|acked|tested|reported|helped|on-behalf-of)(?:-by)?\s*:/i,
]

/** Returns the text in each form that a reader may normalize it to, with and without invisible characters. */
function listNormalizedTextForms(text: string): readonly string[] {
  const bare = text.replace(/\p{Default_Ignorable_Code_Point}|\p{Cf}/gu, '')
  return [text, text.normalize('NFKC'), bare, bare.normalize('NFKC').normalize('NFC')]
}

function findCiTriggerPatterns(message: string): readonly string[] {
  return ciTriggerPatterns
    .filter((word) => listNormalizedTextForms(message).some((text) => word.test(text)))
    .map(String)
}

const ciTriggerTexts = [
  ...['[skip ci]', '[ci skip]', '[no ci]', '[skip actions]', '[actions skip]', '[azp skip]', '[skip-ci]'],
  ...['***NO_CI***', 'skip-checks: true', 'skip-checks:true', 'Co-authored-by: Eve <eve@x.example>'],
  ...['Signed-off-by: Eve', 'fixes #12', 'Closes: #12', 'resolved owner/repo#1', 'fix GH-12', 'gh-1'],
  ...['closes https://github.com/a/b/issues/3', 'fix github.com/a/b/pull/3', '@acme/owners', '@eve'],
]
const textSeparators = [
  ' ',
  '\u200b',
  '\u2028',
  '\r',
  '\u000b',
  '\u0085',
  '\ufeff',
  '\u00ad',
  '#',
  '@',
  '*',
  '[',
  ']',
  '-',
  '1',
  'GH',
  '://',
]

/** Variants of a trigger that a simple pattern does not recognize. */
const ciTriggerObfuscators: readonly ((word: string) => string)[] = [
  (word) => word,
  (word) => word.toUpperCase(),
  (word) => word.replace(/[!-~]/g, (letter) => String.fromCodePoint((letter.codePointAt(0) ?? 0) + 0xfee0)),
  (word) => [...word].join('\u200b'),
  (word) => [...word].join('#'),
  (word) => word.replaceAll('s', '\u017f').replaceAll('k', '\u212a'),
  (word) => word.replaceAll(' ', '\u00a0'),
  (word) => `${word}${word}`,
  (word) => word.slice(0, 3) + word + word.slice(3),
]

describe('the message of a merge commit', () => {
  test.each(ciTriggerTexts.flatMap((word) => ciTriggerObfuscators.map((disguise) => disguise(word))))(
    'triggers no action for %j in a title',
    (title) => {
      expect(findCiTriggerPatterns(formatMergeMessage(createTestPullSnapshot({ title })))).toEqual([])
    },
  )

  test('triggers no action for random combinations of triggers in a title', () => {
    const part = fc.oneof(
      fc.constantFrom(...ciTriggerTexts),
      fc.constantFrom(...textSeparators),
      fc
        .tuple(fc.constantFrom(...ciTriggerTexts), fc.constantFrom(...ciTriggerObfuscators))
        .map(([word, disguise]) => disguise(word)),
      fc
        .tuple(fc.constantFrom(...ciTriggerTexts), fc.nat(30), fc.nat(30))
        .map(([word, from, to]) => word.slice(from, to)),
      fc.string({ unit: 'binary', maxLength: 5 }),
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 9 }), (parts) => {
        const message = formatMergeMessage(createTestPullSnapshot({ title: parts.join('') }))
        expect(findCiTriggerPatterns(message)).toEqual([])
        expect(message.split(/\r\n|[\n\r\u000b\u000c\u0085\u2028\u2029]/)).toHaveLength(4)
      }),
      { numRuns: 3000 },
    )
  })

  test('does not complete a keyword at the end of the title with its own text', () => {
    for (const keyword of ['fixes', 'closes:', 'resolves owner/repo', 'GH-', 'skip-checks:', '@'])
      expect(findCiTriggerPatterns(formatMergeMessage(createTestPullSnapshot({ title: keyword })))).toEqual(
        [],
      )
  })

  test.each([
    ['operator foo-operator (1.2.3): update', 'operator foo-operator (1.2.3): update'],
    ['Add high-12 availability, 50% < 60 & "quotes"', 'Add high-12 availability, 50% < 60 & "quotes"'],
    ['feat(lighthouse): a new lamp', 'feat(lighthouse): a new lamp'],
    ['Grüße, 世界', 'Grüße, 世界'],
  ])('keeps the title %j unchanged', (title, expected) => {
    expect(toCommitTitle(title)).toBe(expected)
  })
})
