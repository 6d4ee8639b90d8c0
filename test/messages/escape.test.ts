import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { code, commitTitle, oneLine, plain } from '../../src/messages/escape.ts'

const hostile = [
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
  test.each(hostile)('%j in a sentence is only text', (text) => {
    const shown = plain(text)
    expect(shown).not.toMatch(/(^|[^\\])[[\]`*_<>|]/)
    expect(shown).not.toMatch(/@[A-Za-z]/)
    expect(shown).not.toMatch(/#\d/)
    expect(shown).not.toMatch(/GH-\d/)
    expect(shown).not.toMatch(/:\/\//)
    expect(shown).not.toMatch(/www\./)
    expect(shown).not.toMatch(/^([-+]|\d+[.)]) /)
    expect(shown).not.toMatch(/[\n\u0000-\u001f\u202e]/)
  })

  test('a code span cannot be left, whatever backticks its text has', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('`', 'a', ' ', '\n', '|', '<', '@') }), (text) => {
        const span = code(text)
        if (span === '*(empty)*') return
        const fence = /^`+/.exec(span)?.[0] ?? ''
        const inner = span.slice(fence.length, -fence.length)
        expect(span.endsWith(fence)).toBe(true)
        for (const run of inner.matchAll(/`+/g)) expect(run[0].length).not.toBe(fence.length)
      }),
    )
  })

  test('a line has no control, bidirectional or invisible character and is never longer than its limit', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (text) => {
        const shown = oneLine(text, 20)
        expect([...shown].length).toBeLessThanOrEqual(20)
        expect(shown).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/)
      }),
    )
  })

  test('a commit title closes no issue and mentions nobody', () => {
    expect(commitTitle('Fixes #12, closes https://github.com/a/b/issues/3 and GH-4 for @bob')).toBe(
      'Fixes 12, closes and for bob',
    )
  })
})
