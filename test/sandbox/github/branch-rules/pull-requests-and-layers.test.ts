// "Require a pull request" as a push meets it, and rules upon rules: several refs in one push, classic protection beside
// rulesets, what each of them says about making a branch.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { git } from '../sample-world.ts'
import {
  Ground,
  accepted,
  checksRule,
  pullRequestRule,
  refusedByProtection,
  refusedByRuleset,
} from './landing-ground.ts'
import type { Landing, Pushed } from './landing-ground.ts'

let ground: Ground
beforeAll(async () => {
  ground = await Ground.furnish()
})
afterAll(async () => ground.it.stop())
afterEach(() => {
  expect(ground.it.github.violations.splice(0)).toEqual([])
})

const throughPull = 'Changes must be made through a pull request.'
const refused = ({ full }: Landing, ...says: string[]): Pushed =>
  refusedByRuleset(full, ground.it.github.url, says)
const ruled = async (more?: Parameters<Ground['landing']>[0]): Promise<Landing> => {
  const it = await ground.landing(more)
  ground.it.github.addRules(it.full, [pullRequestRule()])
  return it
}

describe('a required pull request', () => {
  test('is not there for a commit of nobody’s', async () => {
    const it = await ruled()
    await git(it.folder, undefined, 'checkout', '-q', '--detach', it.B)
    await git(it.folder, undefined, 'commit', '-q', '--allow-empty', '-m', 'Direct')
    expect(await ground.push(it, 'HEAD:refs/heads/main')).toEqual(refused(it, throughPull))
  })

  test('one a push: two merged one upon the other are refused, each by itself lands', async () => {
    const it = await ruled()
    const other = await ground.it.github.openPull({
      repository: it.full,
      author: 'alice',
      title: 'Beta',
      changes: { 'beta.yaml': 'name: beta\n' },
    })
    const token = await ground.it.token()
    await git(it.folder, token, 'fetch', '-q', 'origin', `refs/pull/${other.number}/head`)
    await git(it.folder, token, 'checkout', '-q', '--detach', it.M)
    await git(it.folder, token, 'merge', '-q', '--no-ff', '-m', 'Both', other.headSha)
    expect(await ground.push(it, 'HEAD:refs/heads/main')).toEqual(refused(it, throughPull))
    expect(await ground.pushMerge(it)).toMatchObject(accepted)
    expect(await ground.push(it, 'HEAD:refs/heads/main')).toMatchObject(accepted)
    expect([it.pull.merged, other.merged]).not.toContain(null)
  })

  test('carries no commit of ours on top', async () => {
    const it = await ruled()
    await git(it.folder, undefined, 'commit', '-q', '--allow-empty', '-m', 'On top')
    expect(await ground.push(it, 'HEAD:refs/heads/main')).toEqual(refused(it, throughPull))
  })

  test('may be pushed as it is where its head contains the base', async () => {
    const it = await ruled({ behind: false })
    expect(await ground.push(it, `${it.H}:refs/heads/main`)).toMatchObject(accepted)
    expect(it.pull).toMatchObject({ state: 'closed', merged: { sha: it.H } })
  })

  test('into another branch does not count, nor does a draft', async () => {
    const it = await ruled()
    await ground.it.github.pushToBase(it.full, { x: '1' }, { branch: 'next' })
    await ground.it.github.retarget(it.pull, 'next')
    expect(await ground.pushMerge(it)).toEqual(refused(it, throughPull))
    await ground.it.github.retarget(it.pull, 'main')
    await ground.it.github.draft(it.pull)
    expect(await ground.pushMerge(it)).toEqual(refused(it, throughPull))
  })

  test('with a review that requests changes is not approved', async () => {
    const it = await ground.landing()
    ground.it.github.addRules(it.full, [pullRequestRule({ required_approving_review_count: 1 })])
    ground.it.github.review(it.pull, 'bob', 'approve')
    ground.it.github.review(it.pull, 'carol', 'changes', 'No')
    expect(await ground.pushMerge(it)).toMatchObject({ accepted: false })
    ground.it.github.review(it.pull, 'carol', 'approve')
    expect(await ground.pushMerge(it)).toMatchObject(accepted)
  })

  test('is not asked of those whom classic protection lets bypass it', async () => {
    const it = await ground.landing()
    const protect = (apps: string[]): void =>
      ground.it.github.protect(it.full, 'main', {
        enforce_admins: true,
        required_pull_request_reviews: {
          required_approving_review_count: 1,
          bypass_pull_request_allowances: { apps },
        },
      })
    protect([])
    const approval = 'At least 1 approving review is required by reviewers with write access.'
    expect(await ground.pushMerge(it)).toEqual(refusedByProtection([approval]))
    protect(['catalog-bot'])
    expect(await ground.pushMerge(it)).toMatchObject(accepted)
  })
})

describe('layers', () => {
  test('add up: rulesets and classic protection, and what both say is said once', async () => {
    const it = await ground.landing()
    ground.it.github.addRules(it.full, [checksRule([{ context: 'ci' }])])
    ground.it.github.protect(it.full, 'main', {
      required_status_checks: { strict: false, contexts: ['ci'] },
      lock_branch: true,
    })
    const says = ['Required status check "ci" is expected.', 'Cannot change this locked branch']
    expect(await ground.pushMerge(it)).toEqual(refused(it, ...says))
  })

  test('speak of their refs alone: of two refs in one push, one is refused', async () => {
    const it = await ruled()
    await ground.it.github.close(it.pull)
    const pushed = await ground.push(it, [`${it.M}:refs/heads/main`, `${it.M}:refs/heads/free`])
    expect(pushed).toMatchObject({ ...refused(it, throughPull) })
    const { known } = ground.it.github.repository(it.full)
    expect(known.get('refs/heads/free')).toBe(it.M)
    expect(known.get('refs/heads/main')).toBe(it.B)
    // All or nothing, when the client asks for that.
    const both = ['--atomic', `${it.M}:refs/heads/main`, `${it.M}:refs/heads/free-too`]
    expect(await ground.push(it, both)).toMatchObject({ accepted: false })
    expect(ground.it.github.repository(it.full).known.has('refs/heads/free-too')).toBe(false)
  })

  test('about making a branch: a ruleset binds it, a classic pattern only where it says so', async () => {
    const it = await ground.landing()
    const none = { required_status_checks: { strict: false, contexts: ['ci'] }, enforce_admins: true }
    ground.it.github.protect(it.full, 'release-*', none)
    const make = async (branch: string): Promise<Pushed> => ground.push(it, `${it.B}:refs/heads/${branch}`)
    expect(await make('release-1')).toMatchObject(accepted)
    expect(await ground.push(it, `${it.M}:refs/heads/release-1`)).toEqual(
      refusedByProtection(['Required status check "ci" is expected.'], 'release-1'),
    )
    const restrictions = { users: [], teams: [], apps: [] }
    ground.it.github.protect(it.full, 'release-*', { ...none, restrictions, block_creations: true })
    expect(await make('release-2')).toMatchObject({ reason: 'protected branch hook declined' })
    const all = { conditions: { ref_name: { include: ['~ALL'] } } }
    ground.it.github.addRules(it.full, [{ type: 'creation' }], all)
    const says = ['Cannot create ref due to creations being restricted.']
    expect(await make('other')).toEqual(refusedByRuleset(it.full, ground.it.github.url, says, 'other'))
  })

  test('that only evaluate, and those that are disabled, refuse nothing', async () => {
    const it = await ground.landing()
    for (const enforcement of ['evaluate', 'disabled'] as const)
      ground.it.github.addRules(it.full, [{ type: 'update' }], { enforcement })
    expect(await ground.pushMerge(it)).toMatchObject(accepted)
  })
})
