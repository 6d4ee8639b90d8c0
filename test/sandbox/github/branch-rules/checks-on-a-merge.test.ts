// Required checks and a merge that was made elsewhere: on which commit they are judged, from whom they count, when they
// are seen, and how what is missing is said.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { sayUnmet } from '../../../../sandbox/github/branch-rules/required-checks.ts'
import { Ground, accepted, checksRule, refusedByRuleset, ruleMessage } from './landing-ground.ts'
import type { Landing, LandingOptions, Pushed } from './landing-ground.ts'

let ground: Ground
beforeAll(async () => {
  ground = await Ground.furnish()
})
afterAll(async () => ground.it.stop())
afterEach(() => {
  ground.it.github.delayChecks(0)
  expect(ground.it.github.violations.splice(0)).toEqual([])
})

const landing = async (
  contexts: readonly string[],
  { strict = false, ...more }: LandingOptions & { strict?: boolean } = {},
): Promise<Landing> => {
  const it = await ground.landing(more)
  const checks = contexts.map((context) => ({ context }))
  ground.it.github.addRules(it.full, [checksRule(checks, { strict_required_status_checks_policy: strict })])
  return it
}
const refused = ({ full }: Landing, ...says: string[]): Pushed =>
  refusedByRuleset(full, ground.it.github.url, says)

describe('a pushed merge', () => {
  test('of a green head that contains the base needs no checks of its own', async () => {
    const it = await landing(['ci'], { behind: false })
    await ground.check(it, it.H, 'ci')
    expect(await ground.pushMerge(it)).toMatchObject(accepted)
  })

  test('of such a head needs them as soon as it holds something else', async () => {
    const it = await landing(['ci'], { behind: false })
    await ground.check(it, it.H, 'ci')
    const { M } = await ground.merged(it, { 'smuggled.txt': 'x' })
    const pushed = await ground.push(it, `${M}:refs/heads/main`)
    expect(pushed).toEqual(refused(it, 'Required status check "ci" is expected.'))
  })

  test('of such a head needs an open pull request behind it', async () => {
    const it = await landing(['ci'], { behind: false })
    await ground.check(it, it.H, 'ci')
    await ground.it.github.close(it.pull)
    expect(await ground.pushMerge(it)).toEqual(refused(it, 'Required status check "ci" is expected.'))
  })

  test.each([false, true])('of a green head that is behind is refused, strict %s', async (strict) => {
    const it = await landing(['ci', 'lint'], { strict })
    for (const check of ['ci', 'lint']) await ground.check(it, it.H, check)
    expect(await ground.pushMerge(it)).toEqual(refused(it, '2 of 2 required status checks are expected.'))
    // On itself they do: a merge contains its base, so strict holds by itself.
    await ground.stage(it)
    for (const check of ['ci', 'lint']) await ground.check(it, it.M, check)
    expect(await ground.pushMerge(it)).toMatchObject(accepted)
  })

  test('sees checks only some time after they were posted', async () => {
    const it = await landing(['ci'])
    await ground.stage(it)
    ground.it.github.delayChecks(60_000)
    await ground.check(it, it.M, 'ci')
    expect(await ground.pushMerge(it)).toEqual(refused(it, 'Required status check "ci" is expected.'))
    ground.it.github.delayChecks(0)
    expect(await ground.pushMerge(it)).toMatchObject(accepted)
  })

  test('a check pinned to an app counts from that app alone', async () => {
    const it = await ground.landing()
    ground.it.github.addRules(it.full, [checksRule([{ context: 'ci', integration_id: 4711 }])])
    await ground.stage(it)
    await ground.check(it, it.M, 'ci')
    const says = 'Required status check "ci" was not set by the expected GitHub app.'
    expect(await ground.pushMerge(it)).toEqual(refused(it, says))
  })

  test('a check and a status of one name must both pass', async () => {
    const it = await landing(['ci'])
    await ground.stage(it)
    await ground.check(it, it.M, 'ci')
    await ground.it.github.setStatus(it.full, it.M, 'bob', { context: 'ci', state: 'failure' })
    expect(await ground.pushMerge(it)).toEqual(refused(it, 'Required status check "ci" is failing.'))
    await ground.it.github.setStatus(it.full, it.M, 'bob', { context: 'ci', state: 'success' })
    expect(await ground.pushMerge(it)).toMatchObject(accepted)
  })

  test.each([
    ['failure', 'Required status check "ci" is failing.'],
    [null, 'Required status check "ci" is in progress.'],
  ] as const)('with a check that is %s is refused', async (conclusion, says) => {
    const it = await landing(['ci'])
    await ground.stage(it)
    await ground.check(it, it.M, 'ci', conclusion)
    expect(await ground.pushMerge(it)).toEqual(refused(it, says))
  })

  test('by REST is judged as by git', async () => {
    const it = await landing(['ci'])
    await ground.stage(it)
    const move = async (): Promise<unknown> =>
      ground.ask(ground.it.octokit.rest.git.updateRef({ ...it.name, ref: 'heads/main', sha: it.M }))
    const message = ruleMessage('Required status check "ci" is expected.')
    expect(await move()).toEqual({ status: 422, message })
    await ground.check(it, it.M, 'ci', 'neutral')
    expect(await move()).toMatchObject({ object: { sha: it.M } })
  })
})

describe('the API', () => {
  test('judges the head, behind or not', async () => {
    const it = await landing(['ci'])
    const message = ruleMessage('Required status check "ci" is expected.')
    expect(await ground.mergeByApi(it)).toEqual({ status: 405, message })
    await ground.check(it, it.H, 'ci')
    expect(await ground.mergeByApi(it)).toHaveProperty('sha')
  })

  test('when strict expects them all anew of a head that is behind', async () => {
    const it = await landing(['ci', 'lint'], { strict: true })
    for (const check of ['ci', 'lint']) await ground.check(it, it.H, check)
    const message = ruleMessage('2 of 2 required status checks are expected.')
    expect(await ground.mergeByApi(it)).toEqual({ status: 405, message })
  })

  test('when strict merges a green head that contains the base', async () => {
    const it = await landing(['ci'], { strict: true, behind: false })
    await ground.check(it, it.H, 'ci')
    expect(await ground.mergeByApi(it)).toHaveProperty('sha')
  })
})

describe('a rule for all branches', () => {
  test('hits temporary branches, too, unless making branches is left out', async () => {
    const it = await ground.landing()
    const all = { conditions: { ref_name: { include: ['~ALL'] } } }
    const checks = [{ context: 'ci' }, { context: 'lint' }]
    const rule = ground.it.github.addRules(it.full, [checksRule(checks)], all)
    const branch = `catalog-bot/tmp-${it.M.slice(0, 7)}`
    const says = ['2 of 2 required status checks are expected.']
    expect(await ground.stage(it)).toEqual(refusedByRuleset(it.full, ground.it.github.url, says, branch))
    ground.it.github.removeRuleset(it.full, rule)
    ground.it.github.addRules(it.full, [checksRule(checks, { do_not_enforce_on_create: true })], all)
    expect(await ground.stage(it)).toMatchObject(accepted)
  })

  test('spares what it excludes', async () => {
    const it = await ground.landing()
    const ref_name = { include: ['~ALL'], exclude: ['refs/heads/catalog-bot/**/*'] }
    ground.it.github.addRules(it.full, [checksRule([{ context: 'ci' }])], { conditions: { ref_name } })
    expect(await ground.stage(it)).toMatchObject(accepted)
  })
})

test('what is missing is named alone, counted when it is of one kind, and told apart when it is not', () => {
  const unmet = (...standings: ('expected' | 'failing' | 'in progress' | 'pending')[]): string =>
    sayUnmet(
      standings.map((standing, at) => ({ context: `c${at}`, standing })),
      5,
    )
  expect(unmet('expected')).toBe('Required status check "c0" is expected.')
  expect(unmet('in progress', 'in progress')).toBe('2 of 5 required status checks are in progress.')
  expect(unmet('failing', 'expected')).toBe(
    '2 of 5 required status checks have not succeeded: 1 expected and 1 failing.',
  )
  // Runs in progress are not among the kinds: the numbers do not add up, as observed.
  expect(unmet('failing', 'in progress')).toBe('2 of 5 required status checks have not succeeded: 1 failing.')
})
