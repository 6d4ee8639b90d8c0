import { describe, expect, test } from '@jest/globals'
import type { MergePlan } from '../../src/policy/merge-strategy.ts'
import { formatMergePlanAsText, formatMergeMethod } from '../../src/report/merge-message.ts'

const sampleMergePlan: MergePlan = {
  method: { kind: 'push', checksFirst: true, signed: true },
  needsGitHubsTree: false,
  because: 'it works',
  missing: [],
  conditions: ['the check "<b>@team</b> #1" must pass'],
  faster: [],
  unsure: ['something is\n# unknown'],
}

describe('a merge plan as text', () => {
  test('has the branch, the method, the reason, and the lists that are not empty', () => {
    expect(formatMergePlanAsText('main', sampleMergePlan)).toBe(
      [
        'main: catalog-bot pushes the validated merge (checks first, signed).',
        '  It works.',
        'Requirements for each pull request',
        '  - The check "<b>@team</b> #1" must pass.',
        'Uncertainties',
        '  - Something is # unknown.',
      ].join('\n'),
    )
  })

  test.each([
    [undefined, 'catalog-bot cannot merge'],
    [{ kind: 'queue' }, "through GitHub's merge queue"],
    [{ kind: 'github-merge', method: 'squash' }, 'GitHub merges the pull request (squash)'],
    [{ kind: 'push', checksFirst: false, signed: false }, 'catalog-bot pushes the validated merge'],
  ] as const)('describes %j as "%s"', (method, text) => expect(formatMergeMethod(method)).toBe(text))
})
