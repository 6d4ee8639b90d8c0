// Several pull requests by one push: each lands once, as validated on top of the one before it, or not at all; and what speaks
// against one of them is told of that one alone. After every single step the process may end.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { pullNumber, type CommitSha } from '../../src/change/ids.ts'
import type { RepositoryName } from '../../src/change/snapshot.ts'
import type { LandingMethod } from '../../src/gate/landing-method.ts'
import { mint } from '../../src/gate/merge-permit.ts'
import { landTrain, type TrainMember } from '../../src/landing/land-train.ts'
import { leaseName } from '../../src/landing/lease-name.ts'
import { settleBranch } from '../../src/landing/settle-landings.ts'
import { checksRule } from '../sandbox/github/branch-rules/landing-ground.ts'
import type { Pull } from '../../sandbox/github/world.ts'
import { dying, isAct, PowerCut } from './dying.ts'
import { green, LandingWorld, ownChecks, plainPush, type Scene } from './landing-world.ts'

let world: LandingWorld
beforeAll(async () => {
  world = await LandingWorld.open()
})
afterAll(async () => world.stop())
const opened: Scene[] = []
afterEach(async () => {
  // Also of a test that failed: a mirror that stays open keeps the process alive.
  for (const scene of opened.splice(0)) await scene.close()
  expect(world.it.github.violations.splice(0)).toEqual([])
})

interface Station {
  readonly scene: Scene
  readonly pulls: readonly Pull[]
  readonly members: readonly TrainMember[]
}

/** Three pull requests for three files, each judged on top of the one before it. */
async function station(method: LandingMethod = plainPush): Promise<Station> {
  const scene = await world.scene({ behind: false })
  opened.push(scene)
  const pulls = [scene.pull]
  for (const name of ['beta', 'gamma'])
    pulls.push(
      await scene.github.openPull({
        repository: scene.full,
        author: 'alice',
        title: name,
        changes: { [`${name}.yaml`]: `name: ${name}\n` },
      }),
    )
  const members: TrainMember[] = []
  let base: CommitSha | undefined
  for (const pull of pulls) {
    const read = await scene.options.forge.readSnapshot(pullNumber(pull.number))
    if (read === null) throw new Error('no pull request')
    base ??= read.base
    const snapshot = { ...read, base }
    await scene.mirror.fetch('main', snapshot.pull)
    const merge = await scene.mirror.merge(base, snapshot.head, `Merge ${pull.number}\n`)
    if (merge.kind !== 'clean') throw new Error(merge.kind)
    const { repository, head } = snapshot
    const { commit, tree } = merge
    const landing = {
      repository,
      pull: snapshot.pull,
      baseRef: 'main',
      base,
      head,
      commit,
      tree,
      config: 'c',
    }
    members.push({
      examined: { snapshot },
      permit: mint(landing),
      planned: { plan: { method } },
      checks: green,
    })
    base = commit
  }
  return { scene, pulls, members }
}

async function go({ scene, members }: Station, options: Scene['options'] = scene.options) {
  const name = leaseName({ owner: 'catalogs', name: scene.full.split('/')[1] ?? '' }, 'main')
  const lease = await options.store.acquireLease(name, 60)
  if (lease === undefined) throw new Error('the lease is held')
  try {
    return await landTrain(members, lease, options)
  } finally {
    await options.store.releaseLease(lease)
  }
}

const commitsOf = ({ members }: Station) => members.map(({ permit }) => permit.landing.commit)
const pushesOf = ({ scene }: Station) =>
  world.it.github.requests.filter(
    ({ path, template }) => path.includes(scene.full) && template.endsWith('git-receive-pack'),
  ).length

describe('a landing train', () => {
  test('lands all of its members by one push, each as it was validated', async () => {
    const it = await station()
    const { outcomes, refused } = await go(it)
    expect(refused).toBeUndefined()
    expect([...outcomes.values()]).toEqual(commitsOf(it).map((commit) => ({ kind: 'landed', commit })))
    expect(it.scene.tip()).toBe(commitsOf(it).at(-1))
    expect(pushesOf(it)).toBe(1)
    expect(it.pulls.map(({ merged }) => merged?.sha)).toEqual(it.pulls.map(() => expect.any(String)))
    expect(it.scene.intents.map(({ outcome }) => outcome)).toEqual(['landed', 'landed', 'landed'])
  })

  test('lands where GitHub does not answer for all of them at once, and though a snapshot was kept in a database', async () => {
    const it = await station()
    world.it.github.fail('POST /graphql', { status: 502 })
    const kept = it.members.map((member) => {
      const { snapshot } = member.examined
      return {
        ...member,
        examined: { snapshot: Object.fromEntries(Object.entries(snapshot).toReversed()) as typeof snapshot },
      }
    })
    const { outcomes } = await go({ ...it, members: kept })
    expect([...outcomes.values()].map(({ kind }) => kind)).toEqual(['landed', 'landed', 'landed'])
  })

  test('ends before a member that has changed since: those before it land, those after it wait', async () => {
    const it = await station()
    const [, second] = it.pulls
    if (second === undefined) throw new Error('no pull request')
    await it.scene.github.pushToPull(second, { 'beta.yaml': 'name: other\n' })
    const { outcomes } = await go(it)
    expect([...outcomes].map(([pull, { kind }]) => [pull, kind]).sort()).toEqual([
      [it.pulls[0]?.number, 'landed'],
      [second.number, 'again'],
    ])
    expect(it.scene.tip()).toBe(commitsOf(it)[0])
    expect(it.pulls.map(({ merged }) => merged !== null)).toEqual([true, false, false])
  })

  test('looks at every member afresh: one that a person has put a label on since does not land', async () => {
    const it = await station()
    const third = it.pulls[2]
    if (third === undefined) throw new Error('no pull request')
    await it.scene.github.label(third, 'do-not-merge')
    const { outcomes } = await go(it)
    expect(outcomes.get(pullNumber(third.number))?.kind).toBe('again')
    expect(third.merged).toBeNull()
  })

  test('ends before a member that was something else since, and is again what it was', async () => {
    const it = await station()
    const members = it.members.map((member) => ({ ...member, examined: { ...member.examined, epoch: 4 } }))
    const second = members[1]?.permit.landing.pull
    const { options } = it.scene
    const store = { ...options.store, observe: async (_: unknown, pull: number) => (pull === second ? 6 : 4) }
    const { outcomes } = await go({ ...it, members }, { ...options, store })
    expect([...outcomes.values()].map(({ kind }) => kind).sort()).toEqual(['again', 'landed'])
    expect(it.scene.tip()).toBe(commitsOf(it)[0])
  })

  test('that was stopped while it was prepared lands nobody, and everybody is judged again', async () => {
    const it = await station()
    const { options } = it.scene
    const tip = it.scene.tip()
    let reads = 0
    const stop = { kind: 'frozen', reason: '', by: { kind: 'bot' }, since: 0, times: 1 } as const
    // Once for each member, and once more before the push.
    const landingStops = async (repository: RepositoryName) =>
      (reads += 1) > it.members.length ? [{ ...stop, repository }] : []
    const { outcomes } = await go(it, { ...options, store: { ...options.store, landingStops } })
    expect([...outcomes.values()].map(({ kind }) => kind)).toEqual(['again', 'again', 'again'])
    expect(it.scene.tip()).toBe(tip)
  })

  test('that is refused as a whole lands nobody and blames nobody', async () => {
    const it = await station()
    const tip = it.scene.tip()
    it.scene.rules([checksRule(ownChecks.map((context) => ({ context })))])
    const { outcomes, refused } = await go(it)
    expect(refused).toMatch(/check/)
    expect([...outcomes]).toEqual([])
    expect(it.scene.tip()).toBe(tip)
    expect(it.scene.intents.map(({ outcome }) => outcome)).toEqual(['abandoned', 'abandoned', 'abandoned'])
  })

  test('goes where our checks are required: they are put on what becomes the tip, once', async () => {
    const it = await station({ kind: 'push', checksFirst: true, signed: false })
    it.scene.rules([checksRule(ownChecks.map((context) => ({ context })))])
    const { outcomes, refused } = await go(it)
    expect(refused).toBeUndefined()
    expect([...outcomes.values()].map(({ kind }) => kind)).toEqual(['landed', 'landed', 'landed'])
    expect(it.scene.tip()).toBe(commitsOf(it).at(-1))
    expect(it.scene.otherBranches().filter((ref) => ref.includes('catalog-bot'))).toEqual([])
  })

  test('does not land on a base that moved, and writes nothing down as landed', async () => {
    const it = await station()
    await it.scene.github.pushToBase(it.scene.full, { 'meanwhile.txt': 'x\n' })
    const tip = it.scene.tip()
    await go(it)
    expect(it.scene.tip()).toBe(tip)
    expect(it.scene.intents.map(({ outcome }) => outcome)).toEqual(['abandoned', 'abandoned', 'abandoned'])
  })

  test('that lost its lease between its intents pushes nothing', async () => {
    const it = await station()
    const tip = it.scene.tip()
    const { store } = it.scene.options
    let begun = 0
    await go(it, {
      ...it.scene.options,
      store: {
        ...store,
        beginLanding: async (lease, landing) =>
          (begun += 1) === 3 ? undefined : store.beginLanding(lease, landing),
      },
    })
    expect(it.scene.tip()).toBe(tip)
    expect(it.scene.intents.map(({ outcome }) => outcome)).toEqual(['abandoned', 'abandoned'])
  })

  test('that is cut off after any single step leaves each member landed once, or not at all', async () => {
    const first = await station()
    const whole = dying(first.scene.options, Infinity)
    await go(first, whole.options)
    // The first and the last of each kind: what lies between is like one of them.
    const acts = whole.calls
      .map((step, at) => [step, at] as const)
      .filter(
        ([step, at]) =>
          isAct(step) && [whole.calls.indexOf(step), whole.calls.lastIndexOf(step)].includes(at),
      )
    expect(acts.map(([step]) => step)).toContain('repository.landTogether')
    for (const [step, at] of acts) {
      const it = await station()
      const { scene } = it
      await go(it, dying(scene.options, at + 1).options).catch((error: unknown) => {
        if (!(error instanceof PowerCut)) throw error
      })
      scene.expireLeases()
      await scene.clock.sleep(31_000)
      await settleBranch({ owner: 'catalogs', name: scene.full }, 'main', scene.options)
      const told = `cut off after ${step}`
      const pushed = scene.tip() === commitsOf(it).at(-1)
      const intents = scene.intents.map(({ pull, outcome }) => [told, pull, outcome])
      expect(intents).toEqual(
        it.pulls
          .slice(0, intents.length)
          .map(({ number }) => [told, number, pushed ? 'landed' : 'abandoned']),
      )
      expect([told, it.pulls.map(({ merged }) => merged !== null)]).toEqual([
        told,
        it.pulls.map(() => pushed),
      ])
      expect([told, scene.mismatches]).toEqual([told, []])
    }
  }, 120_000)
})
