import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { readTemporaryBranch, temporaryBranch } from '../../src/gate/temporary-branch.ts'
import { landPull } from '../../src/landing/land-pull.ts'
import { recordStaged, removeLeftStaged } from '../../src/landing/remove-staged.ts'
import { commitSha, pullNumber } from '../../src/change/ids.ts'
import { withDigest } from '../../src/app/jobs/publish-report.ts'
import { checksRule, pullRequestRule } from '../sandbox/github/branch-rules/landing-ground.ts'
import { LandingWorld, green, ownChecks, plainPush, type Scene } from './landing-world.ts'

let world: LandingWorld
let scene: Scene
beforeAll(async () => {
  world = await LandingWorld.open()
})
afterAll(async () => world.stop())
beforeEach(async () => {
  scene = await world.scene()
})
afterEach(async () => {
  await scene.close()
  expect(world.it.github.violations.splice(0)).toEqual([])
  scene.github.clearFaults()
  scene.github.delayChecks(0)
})

const checksFirst = { kind: 'push', checksFirst: true, signed: false } as const
const signed = { kind: 'push', checksFirst: false, signed: true } as const
const both = { kind: 'push', checksFirst: true, signed: true } as const
const required = () => {
  scene.rules([checksRule(ownChecks.map((context) => ({ context, integration_id: world.it.app.id })))])
}
const pushes = () =>
  scene.github.requests.filter(
    ({ method, path }) => method === 'POST' && path.endsWith(`${scene.full}.git/git-receive-pack`),
  )
const notInstalling = withDigest({
  name: 'catalog-bot / install',
  status: 'completed',
  conclusion: 'failure',
  title: '1 error; not required to merge',
  summary: 'it does not install',
  annotations: [],
})
const requestsSince = (count: number) =>
  scene.github.requests.slice(count).map(({ method, path }) => `${method} ${path}`)

describe('a push of the validated merge', () => {
  test('lands, and asks GitHub nothing besides on a branch without rules', async () => {
    const { permit, examined } = await scene.examine()
    const before = scene.github.requests.length
    const plan = async () => ({ plan: { method: plainPush } })
    const outcome = await landPull(examined, permit, { ...scene.options, plan })
    expect(outcome).toEqual({ kind: 'landed', commit: permit.landing.commit })
    expect(scene.tip()).toBe(permit.landing.commit)
    const rest = requestsSince(before).filter((request) => !request.includes('.git/'))
    // The fresh look. What the base is by then the push itself asks.
    expect(rest).toEqual(['POST /graphql'])
    expect(
      scene.github.requests.slice(before).filter(({ operation }) => operation !== undefined),
    ).toMatchObject([{ operation: 'StillAs', writes: 0 }])
  })

  test('is refused without its checks where the branch requires them, and nothing has moved', async () => {
    required()
    const before = scene.tip()
    expect(await scene.land(plainPush)).toMatchObject({
      kind: 'refused',
      refusal: {
        scope: 'pull',
        reason: expect.stringContaining('2 of 2 required status checks are expected.'),
      },
    })
    expect(scene.tip()).toBe(before)
    expect(scene.intents.map(({ outcome }) => outcome)).toEqual(['abandoned'])
  })
})

describe('a push whose checks GitHub expects on the merge, though nobody planned that', () => {
  const rulesWith = (...names: string[]) =>
    ({ checks: { required: names.map((name) => ({ name })), strict: false } }) as never

  test('is made again with them there, and leaves no branch behind', async () => {
    required()
    const { permit } = await scene.examine()
    expect(await scene.land(plainPush, { rules: rulesWith(...ownChecks) })).toEqual({
      kind: 'landed',
      commit: permit.landing.commit,
    })
    expect(scene.intents.map(({ outcome, method }) => [outcome, method])).toEqual([
      ['abandoned', plainPush],
      ['landed', checksFirst],
    ])
    expect(scene.otherBranches()).toEqual([])
  })

  test('is not where others have to report: nothing would come', async () => {
    required()
    expect(await scene.land(plainPush, { rules: rulesWith(...ownChecks, 'ci') })).toMatchObject({
      kind: 'refused',
    })
    expect(scene.intents).toHaveLength(1)
  })
})

describe('a push with checks first', () => {
  test('puts our checks on the merge itself, lands it, and leaves no branch behind', async () => {
    required()
    const { permit } = await scene.examine()
    expect(await scene.land(checksFirst)).toEqual({ kind: 'landed', commit: permit.landing.commit })
    expect(scene.tip()).toBe(permit.landing.commit)
    expect(scene.otherBranches()).toEqual([])
    expect(scene.pull.merged?.sha).toBe(permit.landing.commit)
    const runs = scene.github.checkRuns({ repo: scene.pull.repo, headSha: permit.landing.commit })
    expect(runs.map(({ name, conclusion }) => [name, conclusion])).toEqual(
      ownChecks.map((name) => [name, 'success']),
    )
  })

  test('waits a little for GitHub to see them', async () => {
    required()
    scene.github.delayChecks(3000)
    const began = scene.clock.now()
    expect((await scene.land(checksFirst)).kind).toBe('landed')
    expect(scene.clock.now() - began).toBeGreaterThanOrEqual(3000)
    expect(scene.clock.now() - began).toBeLessThan(8000)
  })

  test('gives up after ten seconds, and names what GitHub waits for', async () => {
    required()
    scene.github.delayChecks(60_000)
    const began = scene.clock.now()
    expect(await scene.land(checksFirst)).toMatchObject({
      kind: 'refused',
      refusal: { reason: expect.stringContaining('required status checks are expected') },
    })
    expect(scene.clock.now() - began).toBeLessThanOrEqual(10_000)
    expect(scene.otherBranches()).toEqual([])
  })

  test('does not wait for what will not come', async () => {
    scene.rules([
      checksRule([{ context: 'ci', integration_id: 4711 }]),
      pullRequestRule({ required_approving_review_count: 1 }),
    ])
    const began = scene.clock.now()
    expect(await scene.land(checksFirst)).toMatchObject({ kind: 'refused' })
    expect(scene.clock.now() - began).toBe(0)
  })

  test('meets a base that moves while the checks are put, and lands nothing', async () => {
    required()
    let moved = ''
    const outcome = await scene.land(checksFirst, {
      forge: {
        ...scene.options.forge,
        perform: async (action) => {
          moved ||= await scene.github.pushToBase(scene.full, { 'later.txt': 'x\n' })
          return scene.options.forge.perform(action)
        },
      },
    })
    expect(outcome).toMatchObject({ kind: 'again' })
    expect(scene.tip()).toBe(moved)
    expect(scene.otherBranches()).toEqual([])
    expect(scene.intents).toMatchObject([{ outcome: 'abandoned' }])
  })

  test('meets a head that moves after the last look: the merge of what was judged lands', async () => {
    required()
    const { permit } = await scene.examine()
    const outcome = await scene.land(checksFirst, {
      repository: {
        ...scene.mirror,
        land: async (...args) => {
          await scene.github.pushToPull(scene.pull, { 'alpha.yaml': 'name: other\n' })
          return scene.mirror.land(...args)
        },
      },
    })
    expect(outcome).toEqual({ kind: 'landed', commit: permit.landing.commit })
  })

  test('where rules for all branches refuse the temporary one, that concerns the branch', async () => {
    required()
    scene.github.addRules(scene.full, [{ type: 'creation' }], {
      conditions: { ref_name: { include: ['~ALL'] } },
    })
    expect(await scene.land(checksFirst)).toMatchObject({ kind: 'refused', refusal: { scope: 'branch' } })
    expect(scene.intents).toEqual([])
  })

  test('never puts a check that did not pass on the merge', async () => {
    const [first, ...others] = green
    if (first === undefined) throw new Error('no check')
    const red = { ...first, conclusion: 'failure' as const }
    await expect(scene.land(checksFirst, { checks: [red, ...others] })).rejects.toThrow(
      'not all of our checks',
    )
    expect(scene.otherBranches()).toEqual([])
    // The temporary branch, made and removed.
    expect(pushes()).toHaveLength(2)
  })

  test('lands though an optional check has not passed, without that one on the merge', async () => {
    required()
    const { permit } = await scene.examine()
    expect(await scene.land(checksFirst, { checks: [...green, notInstalling] })).toMatchObject({
      kind: 'landed',
    })
    const shown = await scene.options.forge.checksOn(permit.landing.commit)
    expect(shown.map(({ name }) => name).toSorted()).toEqual(ownChecks)
  })

  test('does not land where the branch requires the optional check, and says so', async () => {
    required()
    const rules = { checks: { required: [{ name: notInstalling.name }], strict: false } } as never
    expect(await scene.land(checksFirst, { checks: [...green, notInstalling], rules })).toMatchObject({
      kind: 'refused',
      refusal: { scope: 'pull', reason: expect.stringContaining('"catalog-bot / install"') },
    })
    expect(scene.intents).toEqual([])
    expect(scene.otherBranches()).toEqual([])
  })
})

describe('a temporary branch', () => {
  const name = () => ({ owner: 'catalogs', name: scene.full.split('/')[1] ?? '' })
  const sweep = () => removeLeftStaged(name(), { ...scene.options, leaseSeconds: 60 })
  const branchOf = (ref: string) => scene.otherBranches().includes(`refs/heads/${ref}`)

  test('that another person made is neither overwritten nor removed, even with our prefix', async () => {
    required()
    const { permit } = await scene.examine()
    const names = [
      temporaryBranch(permit.landing),
      'catalog-bot/tmp-9-main-0123456789ab',
      'catalog-bot/tmp-9',
    ]
    for (const branch of names)
      await scene.github.pushToBase(scene.full, { 'theirs.txt': branch }, { by: 'bob', branch })
    expect(await scene.land(checksFirst)).toMatchObject({
      kind: 'refused',
      refusal: { scope: 'pull', reason: expect.stringContaining('did not create the branch') },
    })
    await sweep()
    expect(names.filter((branch) => !branchOf(branch))).toEqual([])
  })

  test('of ours is removed by the sweep, and not when another person has moved it', async () => {
    const { permit } = await scene.examine()
    const branch = temporaryBranch(permit.landing)
    const { base, commit } = permit.landing
    await recordStaged(permit.landing, commit, scene.options.store)
    expect(await scene.mirror.stage(permit)).toEqual({ kind: 'staged' })
    expect(await scene.mirror.unstage(branch, base)).toBe(false)
    await scene.github.pushToBase(scene.full, { 'theirs.txt': 'x' }, { by: 'bob', branch })
    await sweep()
    expect(branchOf(branch)).toBe(true)
  })

  test('that moves between the listing and the removal stays', async () => {
    const { permit } = await scene.examine()
    const branch = temporaryBranch(permit.landing)
    await recordStaged(permit.landing, permit.landing.commit, scene.options.store)
    await scene.mirror.stage(permit)
    const unstage: typeof scene.mirror.unstage = async (...args) => {
      await scene.github.pushToBase(scene.full, { 'theirs.txt': 'x' }, { by: 'bob', branch })
      return scene.mirror.unstage(...args)
    }
    await removeLeftStaged(name(), { ...scene.options, repository: { unstage }, leaseSeconds: 60 })
    expect(branchOf(branch)).toBe(true)
  })

  test('that an earlier attempt left behind is made again', async () => {
    required()
    const { permit } = await scene.examine()
    const { landing } = permit
    await recordStaged(landing, landing.base, scene.options.store)
    await scene.mirror.stage(permit)
    await recordStaged(landing, landing.commit, scene.options.store)
    expect((await scene.land(both)).kind).toBe('landed')
    expect(scene.otherBranches()).toEqual([])
  })
})

describe('a signed push', () => {
  test("lands GitHub's own commit of the same parents and tree, and the intent names it before the push", async () => {
    scene.rules([{ type: 'required_signatures' }])
    const { permit } = await scene.examine()
    const begun: (string | undefined)[] = []
    const outcome = await scene.land(signed, {
      repository: {
        ...scene.mirror,
        land: (...args) => {
          begun.push(scene.intents.at(-1)?.commit)
          return scene.mirror.land(...args)
        },
      },
    })
    const { commit, base, head, tree } = permit.landing
    expect(outcome).toEqual({ kind: 'landed', commit: scene.tip() })
    expect(begun).toEqual([scene.tip()])
    expect(scene.tip()).not.toBe(commit)
    expect(await scene.parentsOf(scene.tip())).toEqual([base, head])
    expect(await scene.treeOf(scene.tip())).toBe(tree)
    expect((await scene.mirror.messageOf(scene.tip())).trim()).toBe('Merge pull request 1: Alpha\n\nHead')
    expect(scene.otherBranches()).toEqual([])
  })

  test('has its checks put on that commit, not on ours', async () => {
    required()
    scene.rules([{ type: 'required_signatures' }])
    const { permit } = await scene.examine()
    expect((await scene.land(both)).kind).toBe('landed')
    const runsOn = (headSha: string) => scene.github.checkRuns({ repo: scene.pull.repo, headSha })
    expect(runsOn(scene.tip())).toHaveLength(2)
    expect(runsOn(permit.landing.commit)).toEqual([])
  })

  test('of a commit that GitHub does not verify is not tried', async () => {
    const { merging } = scene.options
    const outcome = await scene.land(signed, {
      merging: {
        ...merging,
        sign: async (...args) => ({ ...(await merging.sign(...args)), unverified: 'unsigned' }),
      },
    })
    expect(outcome).toMatchObject({ kind: 'refused', refusal: { scope: 'branch' } })
    expect(scene.intents).toEqual([])
    expect(scene.otherBranches()).toEqual([])
  })

  test('of another tree or other parents is not pushed, whoever made it', async () => {
    const { permit } = await scene.examine()
    const before = scene.tip()
    const { merging } = scene.options
    const outcome = scene.land(signed, {
      merging: {
        ...merging,
        sign: async () => ({ commit: permit.landing.head }),
      },
    })
    await expect(outcome).rejects.toMatchObject({ code: 'refused' })
    expect(scene.tip()).toBe(before)
  })
})

describe('where approvals count only for the merge that GitHub would make', () => {
  const approved = () => {
    scene.rules([
      pullRequestRule({ required_approving_review_count: 1, dismiss_stale_reviews_on_push: true }),
    ])
    scene.github.review(scene.pull, 'bob', 'approve')
  }

  test('the same merge lands', async () => {
    approved()
    expect((await scene.land(plainPush, { needsGitHubsTree: true })).kind).toBe('landed')
  })

  test('another one is refused before it is tried, as a matter of this pull request', async () => {
    const { permit } = await scene.examine()
    const { base, head } = permit.landing
    const outcome = await scene.land(plainPush, {
      needsGitHubsTree: true,
      repository: {
        ...scene.mirror,
        fetchTestMerge: async () => head,
        parentsOf: async () => [base, head],
      },
    })
    expect(outcome).toMatchObject({
      kind: 'refused',
      refusal: { scope: 'pull', reason: expect.stringContaining('rebase') },
    })
    expect(scene.intents).toEqual([])
    expect(pushes()).toEqual([])
  })

  test('one of another base says nothing', async () => {
    const { permit } = await scene.examine()
    const { base, head } = permit.landing
    const outcome = await scene.land(plainPush, {
      needsGitHubsTree: true,
      repository: { ...scene.mirror, fetchTestMerge: async () => head, parentsOf: async () => [head, base] },
    })
    expect(outcome).toMatchObject({ kind: 'mismatch' })
  })
})

test('the branch for a landing tells what it was made for, and no other branch is taken for one', async () => {
  const commit = commitSha('0123456789abcdef'.repeat(3).slice(0, 40))
  for (const baseRef of ['main', 'release/v4.18', 'a%2Fb', 'ä'])
    expect(readTemporaryBranch(temporaryBranch({ pull: pullNumber(7), baseRef, commit }))).toEqual({
      pull: 7,
      baseRef,
    })
  expect(temporaryBranch({ pull: pullNumber(7), baseRef: 'release/v4.18', commit })).not.toMatch(/tmp-.*\//)
  for (const branch of [
    'main',
    'catalog-bot/tmp-',
    'catalog-bot/tmp-1-main',
    'catalog-bot/tmp-0-main-0123456789ab',
    'catalog-bot/tmp-1-%-0123456789ab',
    'catalog-bot/tmp-x-main-0123456789ab',
    'catalog-bot/tmp-1-a/b-0123456789ab',
  ])
    expect(readTemporaryBranch(branch)).toBeUndefined()
})
