import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { MergedCommitVerdict } from '../../src/policy/verdict.ts'
import type { MergeOptions } from '../../src/merge/merge-types.ts'
import { runGit } from '../sandbox/github/github-fixture.ts'
import {
  createStatusChecksRule,
  createPullRequestRule,
} from '../sandbox/github/branch-rules/merge-rules-fixture.ts'
import { MergeFixture, botCheckNames, type MergeScenario } from './merge-fixture.ts'
import { mergePull } from './merge-harness.ts'

let scenario: MergeScenario
const mergeFixture = await MergeFixture.open()
afterAll(async () => mergeFixture.stop())
beforeEach(async () => {
  scenario = await mergeFixture.openScenario({ commits: 2 })
})
afterEach(async () => {
  await scenario.close()
  expect(mergeFixture.githubFixture.github.violations.splice(0)).toEqual([])
  scenario.github.clearFaults()
})

const createGitHubMergeStrategy = (method: 'merge' | 'squash' | 'rebase') =>
  ({ kind: 'github-merge', method }) as const
const pullMergeApiRoute = 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge'
const listMergeApiCalls = () =>
  scenario.github.requests.filter(
    ({ method, path }) => method === 'PUT' && path.startsWith(`/repos/${scenario.full}/`),
  )
/** Runs `happens` right before the merge request to GitHub. */
const createMergeOptionsWithPreMergeHook = (happens: () => Promise<unknown>): Partial<MergeOptions> => ({
  merging: {
    ...scenario.options.merging,
    merge: async (...args) => {
      await happens()
      return scenario.options.merging.merge(...args)
    },
  },
})
const listMergeIntentOutcomes = () => scenario.intents.map(({ outcome }) => outcome)

describe('a merge through the GitHub API', () => {
  test.each(['merge', 'squash', 'rebase'] as const)(
    'with the %s method merges the validated tree',
    async (method) => {
      const { permit } = await scenario.evaluate()
      const { base, head, tree } = permit.merge
      const outcome = await scenario.merge(createGitHubMergeStrategy(method))
      expect(outcome).toEqual({ kind: 'landed', commit: scenario.tip() })
      expect(await scenario.treeOf(scenario.tip())).toBe(tree)
      expect(scenario.pull.merged?.sha).toBe(scenario.tip())
      const parents = await scenario.parentsOf(scenario.tip())
      const expected = { merge: [base, head], squash: [base], rebase: parents }
      expect(parents).toEqual(expected[method])
      expect(scenario.intents).toMatchObject([
        { outcome: 'landed', commit: scenario.tip(), method: createGitHubMergeStrategy(method) },
      ])
      expect(scenario.mismatches).toEqual([])
    },
  )

  test('uses the title and body of the validated merge', async () => {
    await scenario.merge(createGitHubMergeStrategy('merge'))
    expect((await scenario.mirror.messageOf(scenario.tip())).trim()).toBe(
      'Merge pull request 1: Alpha\n\nHead',
    )
  })

  test('sends no request if the base moves before the request', async () => {
    const moved: string[] = []
    const outcome = await scenario.merge(createGitHubMergeStrategy('merge'), {
      store: {
        ...scenario.store,
        startMerge: async (...args) => {
          moved.push(await scenario.github.pushToBase(scenario.full, { 'later.txt': 'x\n' }))
          return scenario.store.startMerge(...args)
        },
      },
    })
    expect(outcome).toMatchObject({ kind: 'again' })
    expect(scenario.tip()).toBe(moved[0])
    expect(listMergeApiCalls()).toEqual([])
    expect(listMergeIntentOutcomes()).toEqual(['abandoned'])
  })

  test('is a mismatch if the base moves right before GitHub merges', async () => {
    const outcome = await scenario.merge(
      createGitHubMergeStrategy('merge'),
      createMergeOptionsWithPreMergeHook(() =>
        scenario.github.pushToBase(scenario.full, { 'later.txt': 'x\n' }),
      ),
    )
    expect(outcome).toMatchObject({ kind: 'mismatch', mismatch: { found: scenario.tip() } })
    expect(scenario.mismatches).toHaveLength(1)
    expect(listMergeIntentOutcomes()).toEqual(['mismatch'])
  })

  test('is a mismatch if the tree differs on the expected base', async () => {
    const { permit, evaluated } = await scenario.evaluate()
    const { tree } = (await scenario.evaluate({ tree: permit.merge.head as never })).permit.merge
    const other = (await scenario.evaluate({ tree })).permit
    const plan = async () => ({ plan: { method: createGitHubMergeStrategy('squash') } })
    expect(await mergePull(evaluated, other, { ...scenario.options, plan })).toMatchObject({
      kind: 'mismatch',
    })
    expect(scenario.mismatches[0]?.differs).toContain('but the validated tree is')
  })

  test('is a mismatch if a squash has the expected tree and another base', async () => {
    const outcome = await scenario.merge(
      createGitHubMergeStrategy('squash'),
      createMergeOptionsWithPreMergeHook(async () => {
        // Moves the base to another commit with the same tree.
        await scenario.github.pushToBase(scenario.full, { 'later.txt': 'x\n' })
        await scenario.github.pushToBase(scenario.full, { 'later.txt': null })
      }),
    )
    expect(outcome).toMatchObject({ kind: 'mismatch' })
    expect(scenario.mismatches[0]?.differs).toContain('is not based on')
  })

  describe('after a push to the base right before the merge', () => {
    const audits: { base: string; commit: string }[] = []
    const withAudits = (...verdicts: MergedCommitVerdict[]): Partial<MergeOptions> => ({
      auditMerge: async (_, base, commit) => {
        audits.push({ base, commit })
        return verdicts.shift() ?? { kind: 'unknown', reasons: ['the registry is away'] }
      },
    })
    const pushes = async () => void (await scenario.github.pushToBase(scenario.full, { 'later.txt': 'x\n' }))
    beforeEach(() => void audits.splice(0))

    test.each(['merge', 'squash', 'rebase'] as const)(
      'with the %s method is recorded as merged if it is valid on its actual parent',
      async (method) => {
        let pushed = ''
        const outcome = await scenario.merge(createGitHubMergeStrategy(method), {
          ...createMergeOptionsWithPreMergeHook(async () => {
            await pushes()
            pushed = scenario.tip()
          }),
          ...withAudits({ kind: 'valid' }),
        })
        expect(outcome).toEqual({ kind: 'landed', commit: scenario.tip() })
        expect(audits).toEqual([{ base: pushed, commit: scenario.tip() }])
        expect(listMergeIntentOutcomes()).toEqual(['landed'])
        expect(scenario.mismatches).toEqual([])
      },
    )

    test('is a mismatch with the reasons if it is invalid on its actual parent', async () => {
      const verdict = { kind: 'invalid', reasons: ['validation: 1 error'] } as const
      const outcome = await scenario.merge(createGitHubMergeStrategy('merge'), {
        ...createMergeOptionsWithPreMergeHook(pushes),
        ...withAudits(verdict),
      })
      expect(outcome).toMatchObject({ kind: 'mismatch' })
      expect(scenario.mismatches[0]?.differs).toContain('validation: 1 error')
    })

    test('is unclear while the evaluation is inconclusive, and a mismatch after ten minutes', async () => {
      expect(
        await scenario.merge(createGitHubMergeStrategy('merge'), {
          ...createMergeOptionsWithPreMergeHook(pushes),
          ...withAudits(),
        }),
      ).toEqual({ kind: 'busy' })
      const { recoverMergesOnBranch: settleBranch } = await import('../../src/merge/recover-merges.ts')
      const again = (...verdicts: MergedCommitVerdict[]) =>
        settleBranch({ owner: 'catalogs', name: 'x' }, 'main', {
          ...scenario.options,
          ...withAudits(...verdicts),
        })
      expect(await again()).toMatchObject([{ settled: { kind: 'unclear', isMerged: true } }])
      expect(scenario.mismatches).toEqual([])
      await scenario.clock.sleep(601_000)
      expect(await again()).toMatchObject([{ settled: { kind: 'mismatch' } }])
      expect(scenario.mismatches[0]?.differs).toContain('the registry is away')
    })

    test('is recorded as merged if a later evaluation finds it valid', async () => {
      await scenario.merge(createGitHubMergeStrategy('squash'), {
        ...createMergeOptionsWithPreMergeHook(pushes),
        ...withAudits(),
      })
      const { recoverMergesOnBranch: settleBranch } = await import('../../src/merge/recover-merges.ts')
      await settleBranch({ owner: 'catalogs', name: 'x' }, 'main', {
        ...scenario.options,
        ...withAudits({ kind: 'valid' }),
      })
      expect(listMergeIntentOutcomes()).toEqual(['landed'])
      expect(scenario.mismatches).toEqual([])
    })

    /** GitHub reports a merge, but the branch gets a commit that the test creates from `args`. */
    const merges = (...args: string[]): Partial<MergeOptions> => ({
      merging: {
        ...scenario.options.merging,
        merge: async (permit, method, text) => {
          await pushes()
          const inside = (...words: string[]) => runGit(scenario.pull.repo.path, undefined, ...words)
          const parent = scenario.tip()
          const answer = await scenario.options.merging.merge(permit, method, text)
          const real = await scenario.treeOf(scenario.tip())
          const gitArguments = args.map((word) =>
            word.replace('REAL', real).replace('PARENT', parent).replace('HEAD', permit.merge.head),
          )
          const made = await inside(
            '-c',
            'user.name=x',
            '-c',
            'user.email=x@x',
            'commit-tree',
            ...gitArguments,
            '-m',
            'x',
          )
          await inside('update-ref', 'refs/heads/main', made)
          Object.assign(scenario.pull.merged ?? {}, { sha: made })
          return answer
        },
      },
    })

    test.each([
      ['another tree than the real merge', ['PARENT^{tree}', '-p', 'PARENT', '-p', 'HEAD']],
      ['a second parent that is not the validated head', ['REAL', '-p', 'PARENT', '-p', 'HEAD^']],
      ['a third parent', ['REAL', '-p', 'PARENT', '-p', 'HEAD', '-p', 'HEAD^']],
    ])('is a mismatch with %s, without an evaluation', async (_, args) => {
      await scenario.merge(createGitHubMergeStrategy('merge'), {
        ...merges(...args),
        ...withAudits({ kind: 'valid' }),
      })
      expect(audits).toEqual([])
      expect(listMergeIntentOutcomes()).toEqual(['mismatch'])
    })
  })

  test('merges nothing if the head moves right before the request', async () => {
    const tip = scenario.tip()
    const outcome = await scenario.merge(
      createGitHubMergeStrategy('merge'),
      createMergeOptionsWithPreMergeHook(() =>
        scenario.github.pushToPull(scenario.pull, { 'alpha.yaml': 'name: evil\n' }),
      ),
    )
    expect(outcome).toMatchObject({ kind: 'again' })
    expect(scenario.tip()).toBe(tip)
    expect(listMergeIntentOutcomes()).toEqual(['abandoned'])
  })

  test('is requested once, regardless of the error that GitHub returns', async () => {
    for (const status of [405, 409, 500, 502]) {
      const count = listMergeApiCalls().length
      scenario.github.fail(pullMergeApiRoute, { status, body: { message: 'no' } }, 5)
      await scenario.merge(createGitHubMergeStrategy('merge')).catch(() => undefined)
      expect(listMergeApiCalls()).toHaveLength(count + 1)
      scenario.github.clearFaults()
      await scenario.clock.sleep(60_000)
    }
  })

  test('that GitHub completes but reports as failed is found on the branch', async () => {
    for (const status of [405, 409]) {
      scenario.github.fail(pullMergeApiRoute, { applyThenFail: status })
      expect(await scenario.merge(createGitHubMergeStrategy('squash'))).toEqual({
        kind: 'landed',
        commit: scenario.tip(),
      })
      await scenario.close()
      scenario = await mergeFixture.openScenario()
    }
  })

  test.each([
    ['a 500 response after the merge', { applyThenFail: 500 }],
    ['a connection that breaks after the merge', { disconnect: 'after' }],
  ] as const)('with %s is completed by recovery, without another merge request', async (_, fault) => {
    scenario.github.fail(pullMergeApiRoute, fault)
    await expect(scenario.merge(createGitHubMergeStrategy('rebase'))).rejects.toMatchObject({
      code: 'unavailable',
    })
    expect(listMergeIntentOutcomes()).toEqual([undefined])
    // GitHub has closed the pull request, so only recovery can complete the intent.
    const { recoverMergesOnBranch: settleBranch } = await import('../../src/merge/recover-merges.ts')
    const settled = await settleBranch({ owner: 'catalogs', name: 'x' }, 'main', scenario.options)
    expect(settled).toMatchObject([{ settled: { kind: 'landed', commit: scenario.tip() } }])
    expect(listMergeApiCalls()).toHaveLength(1)
  })

  test.each([
    ['a lost response', { status: 500 }],
    ['a response that does not confirm the merge', { status: 200, body: {} }],
  ])('with %s is requested again only after the GitHub timeout', async (_, fault) => {
    scenario.github.fail(pullMergeApiRoute, fault)
    await expect(scenario.merge(createGitHubMergeStrategy('merge'))).rejects.toMatchObject({
      code: 'unavailable',
    })
    expect(await scenario.merge(createGitHubMergeStrategy('merge'))).toEqual({ kind: 'busy' })
    expect(listMergeApiCalls()).toHaveLength(1)
    await scenario.clock.sleep(31_000)
    expect(await scenario.merge(createGitHubMergeStrategy('merge'))).toMatchObject({ kind: 'landed' })
    expect(listMergeIntentOutcomes()).toEqual(['abandoned', 'landed'])
  })

  test('that the branch rules reject reports the reason from GitHub', async () => {
    scenario.setRules([createPullRequestRule({ required_approving_review_count: 1 })])
    expect(await scenario.merge(createGitHubMergeStrategy('merge'))).toMatchObject({
      kind: 'refused',
      rejection: { scope: 'pull', reason: expect.stringContaining('At least 1 approving review') },
    })
    expect(listMergeIntentOutcomes()).toEqual(['abandoned'])
  })

  test('is rejected without a mismatch if bob merges the pull request first', async () => {
    const outcome = await scenario.merge(
      createGitHubMergeStrategy('merge'),
      createMergeOptionsWithPreMergeHook(() =>
        mergeFixture.githubFixture
          .client(scenario.github.tokenFor('bob'))
          .rest.pulls.merge({
            owner: 'catalogs',
            repo: scenario.full.split('/')[1] ?? '',
            pull_number: scenario.pull.number,
            merge_method: 'squash',
          }),
      ),
    )
    expect(outcome).toMatchObject({ kind: 'refused' })
    expect(listMergeIntentOutcomes()).toEqual(['abandoned'])
    expect(scenario.mismatches).toEqual([])
  })

  test('is not requested if the branch requires up-to-date heads and the head is behind', async () => {
    const strict = { checks: { required: [{ name: 'ci' }], strict: true } } as never
    expect(await scenario.merge(createGitHubMergeStrategy('merge'), { rules: strict })).toMatchObject({
      kind: 'refused',
      rejection: { scope: 'pull' },
    })
    expect(listMergeApiCalls()).toEqual([])
    // On GitHub, `strict` has no effect without a required check.
    const idle = { checks: { required: [], strict: true } } as never
    expect(await scenario.merge(createGitHubMergeStrategy('merge'), { rules: idle })).toMatchObject({
      kind: 'landed',
    })
    await scenario.close()
    scenario = await mergeFixture.openScenario({ behind: false })
    scenario.setRules([createStatusChecksRule([], { strict_required_status_checks_policy: true })])
    expect(await scenario.merge(createGitHubMergeStrategy('merge'), { rules: strict })).toMatchObject({
      kind: 'landed',
    })
    expect(botCheckNames).toHaveLength(2)
  })

  test('rejects forged permits and permits for another repository', async () => {
    const { permit } = await scenario.evaluate()
    const { merging } = scenario.options
    const text = { title: 'x', body: '' }
    const forged = { landing: permit.merge } as never
    await expect(merging.merge(forged, 'merge', text)).rejects.toThrow('permit')
    await expect(merging.enqueue(forged)).rejects.toThrow('permit')
    await expect(merging.createSignedCommit(forged, 'x')).rejects.toThrow('permit')
    await expect(merging.moveStagingBranch(forged, permit.merge.head)).rejects.toThrow('permit')
    const foreign = (await scenario.evaluate({ repository: { owner: 'catalogs', name: 'community' } })).permit
    await expect(merging.merge(foreign, 'merge', text)).rejects.toThrow('another repository')
    await expect(scenario.mirror.deleteStagingBranch('main', permit.merge.base)).rejects.toThrow(
      'not a temporary branch',
    )
    expect(scenario.tip()).toBe(permit.merge.base)
    expect(listMergeApiCalls()).toEqual([])
  })
})
