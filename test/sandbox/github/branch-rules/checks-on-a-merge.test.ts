// Required checks for a merge that was created outside GitHub: the commit they are evaluated on, the apps that count,
// when they become visible, and how missing checks are reported.
import { afterEach, describe, expect, test } from '@jest/globals'
import { formatUnmetRequiredChecks } from '../../../../sandbox/github/branch-rules/required-checks.ts'
import {
  MergeRulesFixture,
  acceptedPushResult,
  createStatusChecksRule,
  createRulesetRejection,
  formatRuleViolations,
} from './merge-rules-fixture.ts'
import type { BranchRulesScenario, BranchRulesScenarioOptions } from './merge-rules-fixture.ts'

const {
  githubFixture,
  openMergeCase,
  setCheck,
  pushMerge,
  createMerge,
  push,
  createExpectedPushRejection,
  expectPushRejected,
  stage,
  setCiStatus,
  captureError,
  mergeByApi,
} = await MergeRulesFixture.furnish()
const { github, octokit } = githubFixture
afterEach(() => {
  github.delayChecks(0)
})

const createBranchRulesScenario = async (
  contexts: readonly string[],
  { strict = false, ...more }: BranchRulesScenarioOptions & { strict?: boolean } = {},
): Promise<BranchRulesScenario> => {
  const it = await openMergeCase(more)
  const checks = contexts.map((context) => ({ context }))
  github.addRules(it.full, [createStatusChecksRule(checks, { strict_required_status_checks_policy: strict })])
  return it
}

describe('a pushed merge', () => {
  test('of a passing head that contains the base needs no checks on the merge commit', async () => {
    const it = await createBranchRulesScenario(['ci'], { behind: false })
    await setCheck(it, it.headSha, 'ci')
    expect(await pushMerge(it)).toMatchObject(acceptedPushResult)
  })

  test('of such a head needs checks if it contains other changes', async () => {
    const it = await createBranchRulesScenario(['ci'], { behind: false })
    await setCheck(it, it.headSha, 'ci')
    const { mergeSha } = await createMerge(it, { 'smuggled.txt': 'x' })
    const pushed = await push(it, `${mergeSha}:refs/heads/main`)
    expect(pushed).toEqual(createExpectedPushRejection(it, 'Required status check "ci" is expected.'))
  })

  test('of such a head needs checks if the pull request is closed', async () => {
    const it = await createBranchRulesScenario(['ci'], { behind: false })
    await setCheck(it, it.headSha, 'ci')
    await github.close(it.pull)
    await expectPushRejected(it, 'Required status check "ci" is expected.')
  })

  test.each([false, true])(
    'of a passing head that is behind the base is rejected (strict: %s)',
    async (strict) => {
      const it = await createBranchRulesScenario(['ci', 'lint'], { strict })
      for (const check of ['ci', 'lint']) await setCheck(it, it.headSha, check)
      await expectPushRejected(it, '2 of 2 required status checks are expected.')
      // Checks on the merge commit count. The merge contains its base, so it always satisfies strict mode.
      await stage(it)
      for (const check of ['ci', 'lint']) await setCheck(it, it.mergeSha, check)
      expect(await pushMerge(it)).toMatchObject(acceptedPushResult)
    },
  )

  test('is evaluated against new checks only after a delay', async () => {
    const it = await createBranchRulesScenario(['ci'])
    await stage(it)
    github.delayChecks(60_000)
    await setCheck(it, it.mergeSha, 'ci')
    await expectPushRejected(it, 'Required status check "ci" is expected.')
    github.delayChecks(0)
    expect(await pushMerge(it)).toMatchObject(acceptedPushResult)
  })

  test('a check pinned to an app counts only from that app', async () => {
    const it = await openMergeCase()
    github.addRules(it.full, [createStatusChecksRule([{ context: 'ci', integration_id: 4711 }])])
    await stage(it)
    await setCheck(it, it.mergeSha, 'ci')
    const expectedMessage = 'Required status check "ci" was not set by the expected GitHub app.'
    await expectPushRejected(it, expectedMessage)
  })

  test('a check and a status with the same name must both pass', async () => {
    const it = await createBranchRulesScenario(['ci'])
    await stage(it)
    await setCheck(it, it.mergeSha, 'ci')
    await setCiStatus(it, it.mergeSha, 'failure')
    await expectPushRejected(it, 'Required status check "ci" is failing.')
    await setCiStatus(it, it.mergeSha)
    expect(await pushMerge(it)).toMatchObject(acceptedPushResult)
  })

  test.each([
    ['failure', 'Required status check "ci" is failing.'],
    [null, 'Required status check "ci" is in progress.'],
  ] as const)('is rejected if a check has the conclusion %s', async (conclusion, says) => {
    const it = await createBranchRulesScenario(['ci'])
    await stage(it)
    await setCheck(it, it.mergeSha, 'ci', conclusion)
    await expectPushRejected(it, says)
  })

  test('through REST follows the same rules as through Git', async () => {
    const it = await createBranchRulesScenario(['ci'])
    await stage(it)
    const move = async (): Promise<unknown> =>
      captureError(octokit.rest.git.updateRef({ ...it.name, ref: 'heads/main', sha: it.mergeSha }))
    const message = formatRuleViolations('Required status check "ci" is expected.')
    expect(await move()).toEqual({ status: 422, message })
    await setCheck(it, it.mergeSha, 'ci', 'neutral')
    expect(await move()).toMatchObject({ object: { sha: it.mergeSha } })
  })
})

describe('the API', () => {
  test('evaluates the head, even if it is behind', async () => {
    const it = await createBranchRulesScenario(['ci'])
    const message = formatRuleViolations('Required status check "ci" is expected.')
    expect(await mergeByApi(it)).toEqual({ status: 405, message })
    await setCheck(it, it.headSha, 'ci')
    expect(await mergeByApi(it)).toHaveProperty('sha')
  })

  test('in strict mode expects all checks again for a head that is behind', async () => {
    const it = await createBranchRulesScenario(['ci', 'lint'], { strict: true })
    for (const check of ['ci', 'lint']) await setCheck(it, it.headSha, check)
    const message = formatRuleViolations('2 of 2 required status checks are expected.')
    expect(await mergeByApi(it)).toEqual({ status: 405, message })
  })

  test('in strict mode merges a passing head that contains the base', async () => {
    const it = await createBranchRulesScenario(['ci'], { strict: true, behind: false })
    await setCheck(it, it.headSha, 'ci')
    expect(await mergeByApi(it)).toHaveProperty('sha')
  })
})

describe('a rule for all branches', () => {
  test('also applies to temporary branches unless branch creation is excluded', async () => {
    const it = await openMergeCase()
    const all = { conditions: { ref_name: { include: ['~ALL'] } } }
    const checks = [{ context: 'ci' }, { context: 'lint' }]
    const rule = github.addRules(it.full, [createStatusChecksRule(checks)], all)
    const branch = `catalog-bot/tmp-${it.mergeSha.slice(0, 7)}`
    const messages = ['2 of 2 required status checks are expected.']
    expect(await stage(it)).toEqual(createRulesetRejection(it.full, github.url, messages, branch))
    github.removeRuleset(it.full, rule)
    github.addRules(it.full, [createStatusChecksRule(checks, { do_not_enforce_on_create: true })], all)
    expect(await stage(it)).toMatchObject(acceptedPushResult)
  })

  test('does not apply to excluded branches', async () => {
    const it = await openMergeCase()
    const ref_name = { include: ['~ALL'], exclude: ['refs/heads/catalog-bot/**/*'] }
    github.addRules(it.full, [createStatusChecksRule([{ context: 'ci' }])], { conditions: { ref_name } })
    expect(await stage(it)).toMatchObject(acceptedPushResult)
  })
})

test('one unmet check is named, several of one kind are counted, and several kinds are broken down', () => {
  const unmet = (...states: ('expected' | 'failing' | 'in progress' | 'pending')[]): string =>
    formatUnmetRequiredChecks(
      states.map((checkState, at) => ({ context: `c${at}`, state: checkState })),
      5,
    )
  expect(unmet('expected')).toBe('Required status check "c0" is expected.')
  expect(unmet('in progress', 'in progress')).toBe('2 of 5 required status checks are in progress.')
  expect(unmet('failing', 'expected')).toBe(
    '2 of 5 required status checks have not succeeded: 1 expected and 1 failing.',
  )
  // Checks in progress are not listed as a kind, so the numbers do not add up, as observed on GitHub.
  expect(unmet('failing', 'in progress')).toBe('2 of 5 required status checks have not succeeded: 1 failing.')
})
