import { describe, expect, test } from '@jest/globals'
import { renderJson } from '../../../packages/findings/src/render-findings.ts'

describe('findings as JSON', () => {
  test('a directory is one line with the keys that other tools rely on', () => {
    const line = renderJson({
      dir: 'some/dir',
      passed: false,
      message: 'invalid index:\n└── x',
      findings: [
        {
          rule: 'two-heads',
          severity: 'error',
          at: { file: 'a.yaml', line: 3, column: 5, endLine: 3, endColumn: 9 },
          what: 'what\nover two lines',
          why: 'why',
          fix: 'fix',
        },
        { rule: 'empty-catalog', severity: 'warning', what: 'it is empty', why: '', fix: 'add' },
      ],
    })
    expect(line).not.toContain('\n')
    expect(JSON.parse(line)).toEqual({
      dir: 'some/dir',
      passed: false,
      message: 'invalid index:\n└── x',
      findings: [
        {
          rule: 'two-heads',
          severity: 'error',
          file: 'a.yaml',
          line: 3,
          column: 5,
          endLine: 3,
          endColumn: 9,
          message: 'what\nover two lines',
          why: 'why',
          fix: 'fix',
        },
        {
          rule: 'empty-catalog',
          severity: 'warning',
          file: null,
          line: null,
          column: null,
          message: 'it is empty',
          why: '',
          fix: 'add',
        },
      ],
    })
  })

  test('a directory that passed has an empty message', () => {
    expect(JSON.parse(renderJson({ dir: 'd', passed: true, findings: [] }))).toEqual({
      dir: 'd',
      passed: true,
      message: '',
      findings: [],
    })
  })
})

test('line ends, controls, and bidirectional marks of Unicode are escaped', () => {
  const message = 'x\u0085\u2028\u2029\u009b\u202ey'
  const json = renderJson({ dir: 'a', passed: false, message, findings: [] })
  expect(json).toContain('x\\u0085\\u2028\\u2029\\u009b\\u202ey')
  expect(JSON.parse(json)).toMatchObject({ message })
})
