// What a pull request says once catalog-bot does not decide on it any more.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import pino from 'pino'
import type { JobContext } from '../../../src/app/jobs/job-context.ts'
import { reportMergedElsewhere, reportUnserved } from '../../../src/app/jobs/report-elsewhere.ts'
import { readSettings } from '../../../src/app/settings.ts'
import { pullNumber } from '../../../src/change/ids.ts'
import type { Snapshot } from '../../../src/change/snapshot.ts'
import type { GateInput } from '../../../src/gate/decide.ts'
import { commentMarker } from '../../../src/messages/report.ts'
import type { Merging } from '../../../src/ports/merging.ts'
import type { Store } from '../../../src/ports/store.ts'
import { aGateInput, outcomesWith, passed } from '../../gate/build.ts'
import { greenChecks } from '../../landing/landing-tools.ts'
import { LandingWorld, ownChecks, type Scene } from '../../landing/landing-world.ts'

let world: LandingWorld
let scene: Scene
let found: Partial<GateInput>
let looks: string[]
let asked: Partial<Merging>
beforeAll(async () => {
  world = await LandingWorld.open()
})
afterAll(async () => world.stop())
beforeEach(async () => {
  scene = await world.scene()
  found = {}
  looks = []
  asked = {}
})
afterEach(async () => {
  await scene.close()
  expect(world.it.github.violations.splice(0)).toEqual([])
})

const repo = () => scene.full.split('/')[1] ?? ''
const snapshotOf = async (): Promise<Snapshot> => {
  const snapshot = await scene.options.forge.readSnapshot(pullNumber(scene.pull.number))
  if (snapshot === null) throw new Error('no pull request')
  return snapshot
}
const place = () =>
  ({
    installation: world.it.installation.id,
    repository: scene.mirror,
    forge: scene.options.forge,
    merging: { ...scene.options.merging, ...asked },
    mirror: '',
    app: {
      settings: readSettings({}),
      store: { ...scene.store, recordVerdict: async () => undefined, observe: async () => 0 },
      registries: { forOneLook: () => () => Promise.reject(new Error('no registry is asked')) },
      looks: {
        look: async ({ snapshot }: { snapshot: Snapshot }) => {
          looks.push(snapshot.base)
          return {
            kind: 'seen',
            configDigest: 'default',
            epoch: 0,
            commands: [],
            told: { changeLines: [], commandLines: [] },
            gate: aGateInput({ snapshot, ...found }),
          }
        },
      },
      clock: scene.clock,
      log: pino({ level: 'silent' }),
    },
  }) as unknown as JobContext<Store>
const says = async (body: string) => {
  const { pull, head } = await snapshotOf()
  const present = await scene.options.forge.present(pull, head)
  await scene.options.forge.perform({ kind: 'put-comment', pull, body, present })
}
const comments = () => scene.pull.comments.map(({ body }) => body)
const mergesBy = async (merge_method: 'merge' | 'squash') =>
  void (await world.it.client(scene.github.tokenFor('bob')).rest.pulls.merge({
    owner: 'catalogs',
    repo: repo(),
    pull_number: scene.pull.number,
    merge_method,
  }))

test('a pull request whose base is not served says so in its comment and check runs, which block', async () => {
  await says(`${commentMarker}\n\nAll checks pass.`)
  const [name = ''] = ownChecks
  const head = scene.pull.headSha as never
  await scene.options.forge.perform({ kind: 'put-checks', head, runs: greenChecks([name]), present: [] })
  const snapshot = { ...(await snapshotOf()), baseRef: 'release-1' }
  for (let times = 0; times < 2; times++) await reportUnserved(snapshot, place(), undefined)
  expect(comments()).toHaveLength(1)
  expect(comments()[0]).toContain('catalog-bot does not serve the branch `release-1`')
  const runs = scene.github.checkRuns(scene.pull)
  // The newest of a name counts, and it is written once.
  expect(runs.map(({ conclusion }) => conclusion)).toEqual(['success', 'action_required'])
})

test('nothing is said where catalog-bot had said nothing', async () => {
  await reportUnserved({ ...(await snapshotOf()), baseRef: 'release-1' }, place(), undefined)
  await mergesBy('merge')
  await reportMergedElsewhere(await snapshotOf(), place(), undefined)
  expect(comments()).toEqual([])
  expect(scene.github.checkRuns(scene.pull)).toEqual([])
  expect(looks).toEqual([])
})

test.each(['merge', 'squash'] as const)(
  'a pull request that auto-merge merged by %s says who enabled it, and what its real parent makes of it',
  async (method) => {
    await says(`${commentMarker}\n\nWaiting for approval.`)
    await scene.github.pushToBase(scene.full, { 'later.txt': 'x\n' })
    const parent = scene.tip()
    await mergesBy(method)
    const { merging } = scene.options
    asked = {
      outcomeOf: async (pull) => ({ ...(await merging.outcomeOf(pull))!, autoMergeBy: 'carol' }),
    }
    await reportMergedElsewhere(await snapshotOf(), place(), undefined)
    expect(comments()).toHaveLength(1)
    expect(comments()[0]).toContain("GitHub's auto-merge, which carol enabled, merged this pull request")
    expect(comments()[0]).toContain('every check passes')
    expect(looks).toEqual([parent])
    // Once: a later delivery costs no second judgment.
    await reportMergedElsewhere(await snapshotOf(), place(), undefined)
    expect(looks).toHaveLength(1)
  },
)

test('one that a person merged though catalog-bot would not have says so, with the reasons', async () => {
  await says(`${commentMarker}\n\nWaiting for approval.`)
  await mergesBy('squash')
  found = {
    outcomes: outcomesWith({
      ...passed('ownership'),
      waiting: [{ what: 'an owner must approve', who: ['bob'] }],
    }),
  }
  await reportMergedElsewhere(await snapshotOf(), place(), undefined)
  expect(comments()[0]).toContain('Merged by bob')
  expect(comments()[0]).toContain('would not have merged')
  expect(comments()[0]).toContain('an owner must approve')
})
