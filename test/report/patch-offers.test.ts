// Patches in the comment are complete or omitted, and are rendered only as code.
import { describe, expect, test } from '@jest/globals'
import type { SuggestedPatch } from '../../src/checks/check.ts'
import { decideVerdict } from '../../src/policy/decide.ts'
import { renderPullReport } from '../../src/report/report.ts'
import {
  createVerdictInput,
  createOutcomesForAllChecks,
  createPassedCheckOutcome,
} from '../policy/verdict-inputs.ts'

const createSuggestedPatch = (patch: string): SuggestedPatch => ({
  path: 'catalogs/v4.20/foo/catalog.yaml',
  template: 't.yaml',
  patch,
})
function renderReport(...suggestedPatches: readonly SuggestedPatch[]): string {
  const outcomes = createOutcomesForAllChecks({ ...createPassedCheckOutcome('validation'), suggestedPatches })
  return renderPullReport(decideVerdict(createVerdictInput({ outcomes })), { changeLines: [] }).comment
}
const samplePatch = '--- a/x\n+++ b/x\n@@ -1,1 +1,2 @@\n a\n+b\n'

describe('a patch in the comment', () => {
  test('appears exactly as passed to git', () => {
    expect(renderReport(createSuggestedPatch(samplePatch))).toContain(`\n\`\`\`diff\n${samplePatch}\`\`\`\n`)
    expect(renderReport(createSuggestedPatch(samplePatch))).toContain(
      'Patch for catalogs/v4.20/foo/catalog.yaml',
    )
  })
  test('cannot end its code block', () => {
    const hostile = `${samplePatch}+\`\`\`\`\n+</details> @everyone\n`
    expect(renderReport(createSuggestedPatch(hostile))).toContain(`\n\`\`\`\`\`diff\n${hostile}\`\`\`\`\`\n`)
  })
  test('is omitted if it would make the comment too long', () => {
    const long = renderReport(createSuggestedPatch(`${samplePatch}${'+x\n'.repeat(30_000)}`))
    expect(long).not.toContain('```diff')
    expect(long).toContain('**Next: ')
    expect(long.length).toBeLessThan(65_536)
  })
  test('is one of at most three', () => {
    const many = renderReport(...Array.from({ length: 5 }, () => createSuggestedPatch(samplePatch)))
    expect(many.match(/```diff/g)).toHaveLength(3)
  })
})

test('annotations contain no invisible, control, or bidirectional characters', () => {
  const hostile = 'a\u202eb\u200bc\nd\u0007'
  const found = {
    rule: 'x',
    severity: 'error' as const,
    what: hostile,
    why: hostile,
    fix: '',
    at: { file: 'c.yaml', line: 1, column: 1 },
    data: {},
  }
  const outcomes = createOutcomesForAllChecks({ ...createPassedCheckOutcome('images'), findings: [found] })
  const { checks } = renderPullReport(decideVerdict(createVerdictInput({ outcomes })), { changeLines: [] })
  const messages = checks.flatMap(({ annotations }) => annotations.map(({ message }) => message))
  const shown = 'a\ufffdb\ufffdc d\ufffd'
  expect(messages).toEqual([`${shown}\n${shown}`])
})
