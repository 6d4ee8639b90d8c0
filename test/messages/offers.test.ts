// Patches in the comment: whole or not at all, and nothing of them is more than code.
import { describe, expect, test } from '@jest/globals'
import type { Offer } from '../../src/checks/check.ts'
import { decide } from '../../src/gate/decide.ts'
import { composeReport } from '../../src/messages/report.ts'
import { aGateInput, outcomesWith, passed } from '../gate/build.ts'

const offer = (patch: string): Offer => ({
  path: 'catalogs/v4.20/foo/catalog.yaml',
  template: 't.yaml',
  patch,
})
function comment(...offers: readonly Offer[]): string {
  const outcomes = outcomesWith({ ...passed('validation'), offers })
  return composeReport(decide(aGateInput({ outcomes })), { changeLines: [] }).comment
}
const patch = '--- a/x\n+++ b/x\n@@ -1,1 +1,2 @@\n a\n+b\n'

describe('a patch in the comment', () => {
  test('stands there as it is given to git', () => {
    expect(comment(offer(patch))).toContain(`\n\`\`\`diff\n${patch}\`\`\`\n`)
    expect(comment(offer(patch))).toContain('A patch for catalogs/v4.20/foo/catalog.yaml')
  })
  test('cannot end its block, whatever its lines hold', () => {
    const hostile = `${patch}+\`\`\`\`\n+</details> @everyone\n`
    expect(comment(offer(hostile))).toContain(`\n\`\`\`\`\`diff\n${hostile}\`\`\`\`\`\n`)
  })
  test('is left out as a whole where the comment would be too long', () => {
    const long = comment(offer(`${patch}${'+x\n'.repeat(30_000)}`))
    expect(long).not.toContain('```diff')
    expect(long).toContain('**Next: ')
    expect(long.length).toBeLessThan(65_536)
  })
  test('is one of three at most', () => {
    const many = comment(...Array.from({ length: 5 }, () => offer(patch)))
    expect(many.match(/```diff/g)).toHaveLength(3)
  })
})

test('annotations carry no character that shows nothing or turns what stands beside it', () => {
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
  const outcomes = outcomesWith({ ...passed('images'), findings: [found] })
  const { checks } = composeReport(decide(aGateInput({ outcomes })), { changeLines: [] })
  const messages = checks.flatMap(({ annotations }) => annotations.map(({ message }) => message))
  const shown = 'a\ufffdb\ufffdc d\ufffd'
  expect(messages).toEqual([`${shown}\n${shown}`])
})
