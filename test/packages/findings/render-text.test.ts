import { describe, expect, test } from '@jest/globals'
import { countFindings, renderText } from '../../../packages/findings/src/render-findings.ts'
import type { Finding } from '../../../packages/findings/src/finding.ts'

const sampleFinding: Finding = {
  rule: 'two-heads',
  severity: 'error',
  at: { file: 'catalogs/v4.20/foo/catalog.yaml', line: 2, column: 3, endColumn: 10 },
  what: 'channel "stable" has two heads: a, b',
  why: 'Nobody can say which version is the newest.',
  fix: 'Let one replace the other.',
  related: [{ at: { file: 'other.yaml', line: 7, column: 1 }, note: 'the other head' }],
}

describe('findings for a terminal', () => {
  test('a finding shows its location, its line with a marker, its message, and related locations', () => {
    expect(renderText([sampleFinding], { textOf: () => 'a: 1\n- name: foo.v1\nb: 2\n' })).toBe(
      [
        'catalogs/v4.20/foo/catalog.yaml:2:3: error: channel "stable" has two heads: a, b [two-heads]',
        '  2 | - name: foo.v1',
        '    |   ^^^^^^^',
        '  why: Nobody can say which version is the newest.',
        '  fix: Let one replace the other.',
        '  see: other.yaml:7:1: the other head',
        '',
        '1 error',
        '',
      ].join('\n'),
    )
  })

  test('no source line is shown without the text or past its end', () => {
    expect(renderText([sampleFinding])).not.toContain('|')
    expect(renderText([sampleFinding], { textOf: () => 'one line' })).not.toContain('|')
  })

  test('a column past the end of its line is marked at the end', () => {
    const text = renderText([{ ...sampleFinding, at: { file: 'f', line: 1, column: 99 } }], {
      textOf: () => 'abc',
    })
    expect(text).toContain('  1 | abc\n    |    ^\n')
  })

  test('a long line is shown as a window around the column', () => {
    const long = `${'x'.repeat(5000)}HERE${'y'.repeat(5000)}`
    const text = renderText(
      [{ ...sampleFinding, at: { file: 'f', line: 1, column: 5001, endLine: 1, endColumn: 5005 } }],
      { textOf: () => long },
    )
    const [shown, marker] = text.split('\n').slice(1, 3)
    expect(shown?.length).toBeLessThan(130)
    expect(shown?.slice(marker?.indexOf('^'), (marker?.lastIndexOf('^') ?? 0) + 1)).toBe('HERE')
  })

  test('control characters and bidirectional overrides in a catalog do not reach the terminal', () => {
    const hostile = 'a\u001b[31mred\u0007 \u202egnp.exe\u2028 \ud800 \u009b1m'
    const text = renderText(
      [{ ...sampleFinding, what: hostile, at: { file: hostile, line: 1, column: 1 } }],
      { textOf: () => hostile },
    )
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e]|\p{Surrogate}/u)
    expect(text).toContain('\\u{1b}[31mred')
  })

  test('colors appear only if they are requested', () => {
    expect(renderText([sampleFinding])).not.toContain('\u001b')
    expect(renderText([sampleFinding], { color: true })).toContain('\u001b[31merror\u001b[0m')
  })

  test('no findings produce no text, and the summary counts each severity', () => {
    expect(renderText([])).toBe('')
    const of = (severity: Finding['severity']) => ({ ...sampleFinding, severity })
    expect(countFindings([of('info'), of('error'), of('warning'), of('error')])).toBe(
      '2 errors, 1 warning, 1 note',
    )
  })
})
