// When a freeze keeps pull requests out of a branch, and how it is reported.
import { describe, expect, test } from '@jest/globals'
import {
  computeMergeRejectionBackOffMs,
  formatFreeze,
  findActiveFreezes,
} from '../../src/policy/merge-freeze.ts'
import { createMergeFreeze } from './verdict-inputs.ts'

describe('a freeze', () => {
  const now = 1_000_000
  test('applies to its branch or to all branches', () => {
    const ofMain = createMergeFreeze({ branch: 'main' })
    const ofAll = createMergeFreeze({ branch: undefined })
    expect(findActiveFreezes([ofMain, ofAll], 'main', now)).toEqual([ofMain, ofAll])
    expect(findActiveFreezes([ofMain, ofAll], 'v1', now)).toEqual([ofAll])
    // A branch name is not matched as a prefix.
    expect(findActiveFreezes([ofMain], 'main/x', now)).toEqual([])
  })

  test('ends automatically only if it is due to a rejection by GitHub', () => {
    const at = (tryAgainAt: number, kind: 'frozen' | 'audit' | 'refused') =>
      createMergeFreeze({ kind, tryAgainAt })
    expect(findActiveFreezes([at(now + 1, 'refused')], 'main', now)).toHaveLength(1)
    expect(findActiveFreezes([at(now, 'refused')], 'main', now)).toEqual([])
    expect(findActiveFreezes([at(now, 'audit'), at(now, 'frozen')], 'main', now)).toHaveLength(2)
    expect(findActiveFreezes([createMergeFreeze({ kind: 'refused' })], 'main', now)).toHaveLength(1)
  })

  test('reports who froze the branch, when, and why', () => {
    expect(formatFreeze(createMergeFreeze())).toBe(
      'merging into main was frozen by @max at 2026-11-22 10:00 UTC: release day. To unfreeze merging, a maintainer can comment /unfreeze',
    )
    expect(
      formatFreeze(
        createMergeFreeze({ branch: undefined, by: { kind: 'command-line', user: 'ops' }, reason: '' }),
      ),
    ).toBe(
      'merging into all branches was frozen by ops (command line) at 2026-11-22 10:00 UTC. To unfreeze merging, a maintainer can comment /unfreeze all',
    )
    expect(
      formatFreeze(
        createMergeFreeze({
          kind: 'refused',
          by: { kind: 'bot' },
          reason: 'Cannot change this locked branch',
        }),
      ),
    ).toBe(
      'GitHub has rejected merges into main since 2026-11-22 10:00 UTC: Cannot change this locked branch. catalog-bot retries periodically, and when the settings change',
    )
    expect(formatFreeze(createMergeFreeze({ kind: 'audit', by: { kind: 'bot' }, reason: 'x' }))).toContain(
      'checked: x. To unfreeze merging, a maintainer can comment /unfreeze audit',
    )
  })
})

test('the time of a freeze is a correct calendar date', () => {
  for (let day = 0; day < 40_000; day += 97) {
    const since = day * 86_400_000 + (day % 1440) * 60_000
    const expected = new Date(since).toISOString().slice(0, 16).replace('T', ' ')
    expect(formatFreeze(createMergeFreeze({ since }))).toContain(`frozen by @max at ${expected} UTC`)
  }
  for (const leap of [
    '2024-02-29T23:59:59Z',
    '2000-02-29T00:00:00Z',
    '2100-03-01T00:00:00Z',
    '2026-12-31T23:59:00Z',
  ])
    expect(formatFreeze(createMergeFreeze({ since: Date.parse(leap) }))).toContain(leap.slice(0, 10))
})

test('a rejection is retried after a minute, then after twice as long, up to an hour', () => {
  expect([0, 1, 2, 3, 6, 7, 8, 5000].map((times) => computeMergeRejectionBackOffMs(times) / 60_000)).toEqual([
    1, 1, 2, 4, 32, 60, 60, 60,
  ])
})
