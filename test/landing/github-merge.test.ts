import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { MergedVerdict } from '../../src/gate/verdict.ts'
import type { LandOptions } from '../../src/landing/landing-options.ts'
import { git } from '../sandbox/github/sample-world.ts'
import { checksRule, pullRequestRule } from '../sandbox/github/branch-rules/landing-ground.ts'
import { LandingWorld, ownChecks, type Scene } from './landing-world.ts'

let world: LandingWorld
let scene: Scene
beforeAll(async () => {
  world = await LandingWorld.open()
})
afterAll(async () => world.stop())
beforeEach(async () => {
  scene = await world.scene({ commits: 2 })
})
afterEach(async () => {
  await scene.close()
  expect(world.it.github.violations.splice(0)).toEqual([])
  scene.github.clearFaults()
})

const by = (method: 'merge' | 'squash' | 'rebase') => ({ kind: 'github-merge', method }) as const
const mergeCall = 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge'
const calls = () =>
  scene.github.requests.filter(
    ({ method, path }) => method === 'PUT' && path.startsWith(`/repos/${scene.full}/`),
  )
/** Something that happens right before GitHub is asked to merge. */
const before = (happens: () => Promise<unknown>): Partial<LandOptions> => ({
  merging: {
    ...scene.options.merging,
    merge: async (...args) => {
      await happens()
      return scene.options.merging.merge(...args)
    },
  },
})
const outcomes = () => scene.intents.map(({ outcome }) => outcome)

describe('a merge by GitHub', () => {
  test.each(['merge', 'squash', 'rebase'] as const)(
    'by %s lands the tree that was validated',
    async (method) => {
      const { permit } = await scene.examine()
      const { base, head, tree } = permit.landing
      const outcome = await scene.land(by(method))
      expect(outcome).toEqual({ kind: 'landed', commit: scene.tip() })
      expect(await scene.treeOf(scene.tip())).toBe(tree)
      expect(scene.pull.merged?.sha).toBe(scene.tip())
      const parents = await scene.parentsOf(scene.tip())
      const expected = { merge: [base, head], squash: [base], rebase: parents }
      expect(parents).toEqual(expected[method])
      expect(scene.intents).toMatchObject([{ outcome: 'landed', commit: scene.tip(), method: by(method) }])
      expect(scene.mismatches).toEqual([])
    },
  )

  test('takes the title and the text of the validated merge', async () => {
    await scene.land(by('merge'))
    expect((await scene.mirror.messageOf(scene.tip())).trim()).toBe('Merge pull request 1: Alpha\n\nHead')
  })

  test('lands nothing when the base moved before it is asked', async () => {
    const moved: string[] = []
    const outcome = await scene.land(by('merge'), {
      store: {
        ...scene.store,
        beginLanding: async (...args) => {
          moved.push(await scene.github.pushToBase(scene.full, { 'later.txt': 'x\n' }))
          return scene.store.beginLanding(...args)
        },
      },
    })
    expect(outcome).toMatchObject({ kind: 'again' })
    expect(scene.tip()).toBe(moved[0])
    expect(calls()).toEqual([])
    expect(outcomes()).toEqual(['abandoned'])
  })

  test('notices when the base moved in the very moment: what landed was not validated, and landings stop', async () => {
    const outcome = await scene.land(
      by('merge'),
      before(() => scene.github.pushToBase(scene.full, { 'later.txt': 'x\n' })),
    )
    expect(outcome).toMatchObject({ kind: 'mismatch', mismatch: { found: scene.tip() } })
    expect(scene.mismatches).toHaveLength(1)
    expect(outcomes()).toEqual(['mismatch'])
  })

  test('notices another tree on the right base', async () => {
    const { permit, examined } = await scene.examine()
    const { tree } = (await scene.examine({ tree: permit.landing.head as never })).permit.landing
    const { landPull } = await import('../../src/landing/land-pull.ts')
    const other = (await scene.examine({ tree })).permit
    const plan = async () => ({ plan: { method: by('squash') } })
    expect(await landPull(examined, other, { ...scene.options, plan })).toMatchObject({ kind: 'mismatch' })
    expect(scene.mismatches[0]?.differs).toContain('was validated')
  })

  test('notices a squash on the right tree and the wrong base', async () => {
    const outcome = await scene.land(
      by('squash'),
      before(async () => {
        // Another commit, and the same tree.
        await scene.github.pushToBase(scene.full, { 'later.txt': 'x\n' })
        await scene.github.pushToBase(scene.full, { 'later.txt': null })
      }),
    )
    expect(outcome).toMatchObject({ kind: 'mismatch' })
    expect(scene.mismatches[0]?.differs).toContain('was not made on')
  })

  describe('after a push at the moment of the merge', () => {
    const judged: { base: string; commit: string }[] = []
    const judging = (...verdicts: MergedVerdict[]): Partial<LandOptions> => ({
      judgeMerged: async (_, base, commit) => {
        judged.push({ base, commit })
        return verdicts.shift() ?? { kind: 'unknown', reasons: ['the registry is away'] }
      },
    })
    const pushes = async () => void (await scene.github.pushToBase(scene.full, { 'later.txt': 'x\n' }))
    beforeEach(() => void judged.splice(0))

    test.each(['merge', 'squash', 'rebase'] as const)(
      'by %s is merged when it is judged valid on its real parent',
      async (method) => {
        let pushed = ''
        const outcome = await scene.land(by(method), {
          ...before(async () => {
            await pushes()
            pushed = scene.tip()
          }),
          ...judging({ kind: 'valid' }),
        })
        expect(outcome).toEqual({ kind: 'landed', commit: scene.tip() })
        expect(judged).toEqual([{ base: pushed, commit: scene.tip() }])
        expect(outcomes()).toEqual(['landed'])
        expect(scene.mismatches).toEqual([])
      },
    )

    test('is a mismatch with the reasons when it is judged invalid there', async () => {
      const verdict = { kind: 'invalid', reasons: ['validation: 1 error'] } as const
      const outcome = await scene.land(by('merge'), { ...before(pushes), ...judging(verdict) })
      expect(outcome).toMatchObject({ kind: 'mismatch' })
      expect(scene.mismatches[0]?.differs).toContain('validation: 1 error')
    })

    test('waits while it cannot be judged, with nothing merged after it, and is a mismatch in the end', async () => {
      expect(await scene.land(by('merge'), { ...before(pushes), ...judging() })).toEqual({ kind: 'busy' })
      const { settleBranch } = await import('../../src/landing/settle-landings.ts')
      const again = (...verdicts: MergedVerdict[]) =>
        settleBranch({ owner: 'catalogs', name: 'x' }, 'main', { ...scene.options, ...judging(...verdicts) })
      expect(await again()).toMatchObject([{ settled: { kind: 'unclear', isMerged: true } }])
      expect(scene.mismatches).toEqual([])
      await scene.clock.sleep(601_000)
      expect(await again()).toMatchObject([{ settled: { kind: 'mismatch' } }])
      expect(scene.mismatches[0]?.differs).toContain('the registry is away')
    })

    test('is merged when it can be judged later', async () => {
      await scene.land(by('squash'), { ...before(pushes), ...judging() })
      const { settleBranch } = await import('../../src/landing/settle-landings.ts')
      await settleBranch({ owner: 'catalogs', name: 'x' }, 'main', {
        ...scene.options,
        ...judging({ kind: 'valid' }),
      })
      expect(outcomes()).toEqual(['landed'])
      expect(scene.mismatches).toEqual([])
    })

    /** GitHub says that it merged, and what it put on the branch is what the test makes. */
    const merges = (...args: string[]): Partial<LandOptions> => ({
      merging: {
        ...scene.options.merging,
        merge: async (permit, method, text) => {
          await pushes()
          const inside = (...words: string[]) => git(scene.pull.repo.path, undefined, ...words)
          const parent = scene.tip()
          const answer = await scene.options.merging.merge(permit, method, text)
          const real = await scene.treeOf(scene.tip())
          const words = args.map((word) =>
            word.replace('REAL', real).replace('PARENT', parent).replace('HEAD', permit.landing.head),
          )
          const made = await inside(
            '-c',
            'user.name=x',
            '-c',
            'user.email=x@x',
            'commit-tree',
            ...words,
            '-m',
            'x',
          )
          await inside('update-ref', 'refs/heads/main', made)
          Object.assign(scene.pull.merged ?? {}, { sha: made })
          return answer
        },
      },
    })

    test.each([
      ['another tree than the real merge', ['PARENT^{tree}', '-p', 'PARENT', '-p', 'HEAD']],
      ['a second parent that is not the validated head', ['REAL', '-p', 'PARENT', '-p', 'HEAD^']],
      ['a third parent', ['REAL', '-p', 'PARENT', '-p', 'HEAD', '-p', 'HEAD^']],
    ])('is a mismatch with %s, and nothing is judged', async (_, args) => {
      await scene.land(by('merge'), { ...merges(...args), ...judging({ kind: 'valid' }) })
      expect(judged).toEqual([])
      expect(outcomes()).toEqual(['mismatch'])
    })
  })

  test('of a head that moved lands nothing: GitHub is given the one that was judged', async () => {
    const tip = scene.tip()
    const outcome = await scene.land(
      by('merge'),
      before(() => scene.github.pushToPull(scene.pull, { 'alpha.yaml': 'name: evil\n' })),
    )
    expect(outcome).toMatchObject({ kind: 'again' })
    expect(scene.tip()).toBe(tip)
    expect(outcomes()).toEqual(['abandoned'])
  })

  test('is asked for once, whatever GitHub answers', async () => {
    for (const status of [405, 409, 500, 502]) {
      const count = calls().length
      scene.github.fail(mergeCall, { status, body: { message: 'no' } }, 5)
      await scene.land(by('merge')).catch(() => undefined)
      expect(calls()).toHaveLength(count + 1)
      scene.github.clearFaults()
      await scene.clock.sleep(60_000)
    }
  })

  test('that GitHub reports as failed though it was done is found on the branch', async () => {
    for (const status of [405, 409]) {
      scene.github.fail(mergeCall, { applyThenFail: status })
      expect(await scene.land(by('squash'))).toEqual({ kind: 'landed', commit: scene.tip() })
      await scene.close()
      scene = await world.scene()
    }
  })

  test.each([
    ['500 after it was done', { applyThenFail: 500 }],
    ['a connection that broke after it was done', { disconnect: 'after' }],
  ] as const)('with %s is settled by the next to come, by reading', async (_, fault) => {
    scene.github.fail(mergeCall, fault)
    await expect(scene.land(by('rebase'))).rejects.toMatchObject({ code: 'unavailable' })
    expect(outcomes()).toEqual([undefined])
    // The pull request is closed by now: whoever comes next only settles.
    const { settleBranch } = await import('../../src/landing/settle-landings.ts')
    const settled = await settleBranch({ owner: 'catalogs', name: 'x' }, 'main', scene.options)
    expect(settled).toMatchObject([{ settled: { kind: 'landed', commit: scene.tip() } }])
    expect(calls()).toHaveLength(1)
  })

  test('with an answer that never came waits until GitHub must have given up, and then begins anew', async () => {
    scene.github.fail(mergeCall, { status: 500 })
    await expect(scene.land(by('merge'))).rejects.toMatchObject({ code: 'unavailable' })
    expect(await scene.land(by('merge'))).toEqual({ kind: 'busy' })
    expect(calls()).toHaveLength(1)
    await scene.clock.sleep(31_000)
    expect(await scene.land(by('merge'))).toMatchObject({ kind: 'landed' })
    expect(outcomes()).toEqual(['abandoned', 'landed'])
  })

  test('that the branch refuses is told in its words', async () => {
    scene.rules([pullRequestRule({ required_approving_review_count: 1 })])
    expect(await scene.land(by('merge'))).toMatchObject({
      kind: 'refused',
      refusal: { scope: 'pull', reason: expect.stringContaining('At least 1 approving review') },
    })
    expect(outcomes()).toEqual(['abandoned'])
  })

  test('somebody else merged in that moment by other means is no landing of ours, and no mismatch', async () => {
    const outcome = await scene.land(
      by('merge'),
      before(() =>
        world.it.client(scene.github.tokenFor('bob')).rest.pulls.merge({
          owner: 'catalogs',
          repo: scene.full.split('/')[1] ?? '',
          pull_number: scene.pull.number,
          merge_method: 'squash',
        }),
      ),
    )
    expect(outcome).toMatchObject({ kind: 'refused' })
    expect(outcomes()).toEqual(['abandoned'])
    expect(scene.mismatches).toEqual([])
  })

  test('is not asked for where the branch wants heads that are up to date and this one is behind', async () => {
    const strict = { checks: { required: [{ name: 'ci' }], strict: true } } as never
    expect(await scene.land(by('merge'), { rules: strict })).toMatchObject({
      kind: 'refused',
      refusal: { scope: 'pull' },
    })
    expect(calls()).toEqual([])
    // GitHub: without a required check that setting has no effect.
    const idle = { checks: { required: [], strict: true } } as never
    expect(await scene.land(by('merge'), { rules: idle })).toMatchObject({ kind: 'landed' })
    await scene.close()
    scene = await world.scene({ behind: false })
    scene.rules([checksRule([], { strict_required_status_checks_policy: true })])
    expect(await scene.land(by('merge'), { rules: strict })).toMatchObject({ kind: 'landed' })
    expect(ownChecks).toHaveLength(2)
  })

  test('takes a permit of the gate for this repository, and nothing that looks like one', async () => {
    const { permit } = await scene.examine()
    const { merging } = scene.options
    const text = { title: 'x', body: '' }
    const forged = { landing: permit.landing } as never
    await expect(merging.merge(forged, 'merge', text)).rejects.toThrow('permit')
    await expect(merging.enqueue(forged)).rejects.toThrow('permit')
    await expect(merging.sign(forged, 'x')).rejects.toThrow('permit')
    await expect(merging.moveStaged(forged, permit.landing.head)).rejects.toThrow('permit')
    const foreign = (await scene.examine({ repository: { owner: 'catalogs', name: 'community' } })).permit
    await expect(merging.merge(foreign, 'merge', text)).rejects.toThrow('another repository')
    await expect(scene.mirror.unstage('main', permit.landing.base)).rejects.toThrow('not a temporary branch')
    expect(scene.tip()).toBe(permit.landing.base)
    expect(calls()).toEqual([])
  })
})
