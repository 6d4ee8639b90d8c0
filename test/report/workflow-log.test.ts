// The log that a workflow runner reads: text from files, titles, or registries must not become a workflow command.
import { describe, expect, test } from '@jest/globals'
import type { Finding } from '../../packages/findings/src/finding.ts'
import { toLogLine } from '../../src/report/escape.ts'
import { formatWorkflowLog } from '../../src/report/describe-findings.ts'

const hostileStrings = [
  'x\n::set-output name=verdict::merge',
  'x\r\n::add-mask::e',
  '::stop-commands::x',
  '  ::error::x',
  'x ##[add-mask]e',
  '##[set-env name=NODE_OPTIONS]--require=/x',
  '\u2028::warning::x',
  '%0A::debug::x',
  'a:b,c::d',
] as const

function createFinding(text: string, at = true): Finding {
  return {
    rule: 'two-heads',
    severity: 'error',
    what: text,
    why: text,
    fix: text,
    ...(at && { at: { file: text, line: 1, column: 2 } }),
  }
}

/** What the runner (actions/runner, ActionCommand.cs) would take for a command in one line of output. */
function findWorkflowCommands(line: string): string[] {
  const second = /^\s*::(?<name>[^\s:]+)(?: [^\n\r]*?)?::/.exec(line)?.groups?.['name']
  if (second !== undefined) return [second]
  return [...line.matchAll(/##\[(?<name>[^\] ]+)/g)].map((match) => match.groups?.['name'] ?? '')
}

describe('the workflow log', () => {
  test.each(hostileStrings)('does not turn %j into a command, in an annotation or outside', (text) => {
    for (const [all, expected] of [
      [[createFinding(text)], ['error']],
      [[createFinding(text, false)], []],
    ] as const) {
      const written = formatWorkflowLog(all).join('\n')
      expect(written.split(/\r\n|[\n\r]/).flatMap(findWorkflowCommands)).toEqual(expected)
      expect(written).not.toContain('##[')
    }
    expect(
      toLogLine(text)
        .split(/[\n\r]/)
        .flatMap(findWorkflowCommands),
    ).toEqual([])
  })

  test('escapes a path so that the runner unescapes it to the same path', () => {
    const [line = ''] = formatWorkflowLog([createFinding('a:b,c%0A\nd')])
    const file = /file=(?<file>[^,]*),/.exec(line)?.groups?.['file'] ?? ''
    expect(decodeURIComponent(file)).toBe('a:b,c%0A\nd')
  })

  test('has ten annotations per severity, errors first, and lists the other findings as text', () => {
    const errors = Array.from({ length: 12 }, (_, index) =>
      createFinding(`f${String(index).padStart(2, '0')}`),
    )
    const lines = formatWorkflowLog([{ ...createFinding('w'), severity: 'warning' }, ...errors])
    expect(lines.map((line) => line.slice(0, 7))).toEqual([
      ...Array<string>(10).fill('::error'),
      '| error',
      '| error',
      '::warni',
    ])
  })
})
