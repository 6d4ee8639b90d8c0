import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import pino from 'pino'
import { removedBy } from '../../src/landing/queue-removals.ts'
import { judgeGroups } from '../../src/app/jobs/judge-groups.ts'
import type { JobContext } from '../../src/app/jobs/job-context.ts'
import { settleOptions } from '../../src/app/jobs/settle-options.ts'
import { readSettings } from '../../src/app/settings.ts'
import { pullNumber } from '../../src/change/ids.ts'
import type { GateInput } from '../../src/gate/decide.ts'
import { openTurns } from '../../src/app/jobs/turns.ts'
import type { LookOrder } from '../../src/examine/looks/look-order.ts'
import type { Job } from '../../src/ports/jobs.ts'
import type { Store } from '../../src/ports/store.ts'
import type { Pull } from '../../sandbox/github/world.ts'
import { nodeId } from '../../sandbox/github/views/account-view.ts'
import { aGateInput, outcomesWith, passed } from '../gate/build.ts'
import { checksRule, queueRule } from '../sandbox/github/branch-rules/landing-ground.ts'
import { LandingWorld, type Scene } from './landing-world.ts'
import { defaultConfig } from '../../src/config/config.ts'
import { demandedChecks } from '../../src/gate/demanded-checks.ts'
import { namesOfChecks, ownChecks } from '../../src/messages/report.ts'

let world: LandingWorld
let scene: Scene
/** What a look finds else than that all is well, by the head that it looks at. */
let found: (order: LookOrder) => Partial<GateInput>
const recorded: string[] = []
let jobs: { job: Job; seconds: number | undefined }[]
beforeAll(async () => {
  world = await LandingWorld.open()
})
afterAll(async () => world.stop())
beforeEach(async () => {
  scene = await world.scene()
  found = () => ({})
  jobs = []
  scene.rules([
    queueRule(),
    checksRule(checks.map((context) => ({ context, integration_id: world.it.app.id }))),
  ])
  for (const check of checks) await post(scene.pull.headSha, check)
})
afterEach(async () => {
  await scene.close()
  expect(world.it.github.violations.splice(0)).toEqual([])
  scene.github.clearFaults()
})

const checks = namesOfChecks(demandedChecks(defaultConfig))
const queue = { kind: 'queue' } as const
const repo = () => scene.full.split('/')[1] ?? ''
const post = (head_sha: string, name: string) =>
  world.it.octokit.rest.checks.create({
    owner: 'catalogs',
    repo: repo(),
    name,
    head_sha,
    conclusion: 'success',
  })

/** Another pull request that is green by itself. */
async function another(path: string, enqueues = true): Promise<Pull> {
  const pull = await scene.github.openPull({
    repository: scene.full,
    author: 'alice',
    title: path,
    changes: { [path]: 'name: other\n' },
  })
  for (const check of checks) await post(pull.headSha, check)
  if (enqueues) await enqueue(pull)
  return pull
}

function place(): JobContext<Store> {
  const { store } = scene
  const looks: JobContext<Store>['app']['looks'] = {
    look: async (order) => ({
      kind: 'seen',
      configDigest: 'default',
      epoch: 0,
      commands: [],
      told: { changeLines: [], commandLines: [] },
      gate: aGateInput({ snapshot: order.snapshot, ...found(order) }),
    }),
    isSmall: () => true,
    close: async () => undefined,
  }
  return {
    installation: world.it.installation.id,
    repository: scene.mirror,
    forge: scene.options.forge,
    merging: scene.options.merging,
    mirror: '',
    app: {
      settings: readSettings({}),
      store: {
        ...store,
        enqueue: async (job: Job, seconds?: number) => void jobs.push({ job, seconds }),
        recordVerdict: async ({ base }: { base: string }) => void recorded.push(base),
      },
      registries: {
        forOneLook: () => () => Promise.reject(new Error('nobody asks')),
        close: async () => undefined,
      },
      looks,
      turns: openTurns(scene.clock),
      clock: scene.clock,
      log: pino({ level: 'silent' }),
    } as unknown as JobContext<Store>['app'],
  }
}
const judge = async () => {
  await judgeGroups(
    { kind: 'group', installation: 1, repository: { owner: 'catalogs', name: repo() }, branch: 'main' },
    place(),
  )
  await scene.github.passTimeInQueues(scene.full)
}
/** Somebody who may puts a pull request into the queue. */
const enqueue = (pull: Pull) =>
  world.it
    .client(scene.github.tokenFor('bob'))
    .graphql(
      `mutation { enqueuePullRequest(input: { pullRequestId: "${nodeId('PullRequest', pull.id)}" }) { clientMutationId } }`,
    )
const groupsOf = () => scene.options.merging.queueOf('main')
const conclusionsOn = (headSha: string) =>
  scene.github.checkRuns({ repo: scene.pull.repo, headSha }).map(({ conclusion }) => conclusion)
const outcomes = () => scene.intents.map(({ outcome }) => outcome)

describe('a landing by the merge queue', () => {
  test('waits in it with an open intent, is judged there, and is settled once GitHub has merged it', async () => {
    expect(await scene.land(queue)).toEqual({ kind: 'queued' })
    expect(outcomes()).toEqual([undefined])
    // Again and again while it waits: nothing is asked for twice.
    expect(await scene.land(queue)).toEqual({ kind: 'queued' })
    expect(scene.intents).toHaveLength(1)
    const [entry] = await groupsOf()
    await judge()
    expect(scene.pull.merged?.sha).toBe(entry?.group?.head)
    const { settleBranch } = await import('../../src/landing/settle-landings.ts')
    const settled = await settleBranch({ owner: 'catalogs', name: repo() }, 'main', scene.options)
    expect(settled).toMatchObject([{ settled: { kind: 'landed', commit: scene.tip() } }])
    expect(scene.mismatches).toEqual([])
  })

  test('with a head that moved is not put into it', async () => {
    const outcome = await scene.land(queue, {
      merging: {
        ...scene.options.merging,
        enqueue: async (permit) => {
          await scene.github.pushToPull(scene.pull, { 'alpha.yaml': 'name: evil\n' })
          return scene.options.merging.enqueue(permit)
        },
      },
    })
    expect(outcome).toMatchObject({ kind: 'again' })
    expect(await groupsOf()).toEqual([])
    expect(outcomes()).toEqual(['abandoned'])
  })

  test('that somebody put into it already is done', async () => {
    await enqueue(scene.pull)
    expect(await scene.land(queue)).toEqual({ kind: 'queued' })
  })

  test('that the queue let go is told as this pull request’s refusal, and not begun again blindly', async () => {
    await scene.land(queue)
    await scene.clock.sleep(31_000)
    await scene.github.removeFromQueue(scene.pull, 'CI_FAILURE')
    expect(await scene.land(queue)).toMatchObject({ kind: 'refused', refusal: { scope: 'pull' } })
    expect(outcomes()).toEqual(['abandoned'])
    expect(await groupsOf()).toEqual([])
  })

  describe('that a person removed from the queue', () => {
    const head = () => scene.pull.headSha as never
    const about = () => ({
      repository: { owner: 'catalogs', name: repo() },
      pull: pullNumber(scene.pull.number),
      head: head(),
    })
    const held = (commands: readonly object[] = [], comments: readonly object[] = [], of = head()) =>
      removedBy({ ...about(), head: of, comments: comments as never }, commands as never, scene.store)
    const removes = async (by = 'bob') => {
      await scene.land(queue)
      await scene.clock.sleep(31_000)
      await scene.github.removeFromQueue(scene.pull, 'MANUAL', by)
    }

    test('is not put into it again, and who did it is on record', async () => {
      await removes()
      expect(await scene.land(queue)).toEqual({ kind: 'again', why: 'it was removed from the merge queue' })
      expect(await held()).toBe('bob')
      expect(await groupsOf()).toEqual([])
      expect(await held([], [], 'f'.repeat(40) as never)).toBeUndefined()
    })

    test('also where another process had put it there, or a person', async () => {
      await enqueue(scene.pull)
      await scene.github.removeFromQueue(scene.pull, 'MANUAL', 'bob')
      expect(await scene.land(queue)).toMatchObject({ kind: 'again' })
      expect(await groupsOf()).toEqual([])
      // Known by now: whether it holds is the gate's to say, and a permit lets the merge through.
      expect(await scene.land(queue)).toEqual({ kind: 'queued' })
    })

    test('waits until a person with the right requests the merge of this head after that', async () => {
      await removes()
      await scene.land(queue)
      const at = (seconds: number) => new Date(scene.clock.now() + seconds * 1000).toISOString()
      const merge = { command: 'merge', outcome: 'done', comment: 7, head: head() }
      const later = [{ id: 7, createdAt: at(5) }]
      expect(await held([merge], later)).toBeUndefined()
      expect(await held([merge], [{ id: 7, createdAt: at(-5) }])).toBe('bob')
      expect(await held([merge], [])).toBe('bob')
      expect(await held([{ ...merge, outcome: 'denied' }], later)).toBe('bob')
      expect(await held([{ ...merge, command: 'recheck' }], later)).toBe('bob')
      expect(await held([{ ...merge, head: 'f'.repeat(40) }], later)).toBe('bob')
    })

    test('is no such thing where the bot took it out, and where the queue let it go', async () => {
      await scene.land(queue)
      await scene.options.merging.dequeue(pullNumber(scene.pull.number))
      await scene.clock.sleep(31_000)
      expect(await scene.land(queue)).toMatchObject({ kind: 'refused' })
      expect(await scene.land(queue)).toEqual({ kind: 'queued' })
      await scene.clock.sleep(31_000)
      await scene.github.removeFromQueue(scene.pull, 'CI_TIMEOUT')
      expect(await scene.land(queue)).toMatchObject({
        kind: 'refused',
        refusal: { scope: 'pull', reason: 'a required check did not report in time in the merge queue' },
      })
      expect(await held()).toBeUndefined()
    })
  })

  describe('of a group that was not validated', () => {
    const merges = async () => {
      await scene.land(queue)
      const [entry] = await groupsOf()
      for (const check of checks) await post(entry?.group?.head ?? '', check)
      await scene.github.passTimeInQueues(scene.full)
      expect(scene.pull.merged).not.toBeNull()
      const { settleBranch } = await import('../../src/landing/settle-landings.ts')
      const { judgeMerged } = settleOptions(place())
      const options = { ...scene.options, ...(judgeMerged && { judgeMerged }) }
      return () => settleBranch({ owner: 'catalogs', name: repo() }, 'main', options)
    }
    beforeEach(() => void recorded.splice(0))

    test('is merged when the change is valid on the real parent, even while merging is stopped', async () => {
      const { base, head } = (await scene.examine()).permit.landing
      const looks: unknown[] = []
      found = ({ snapshot }) => {
        looks.push([snapshot.base, snapshot.head, snapshot.state])
        return { merge: { kind: 'clean', commit: head, tree: head as never } }
      }
      const settle = await merges()
      scene.store.landingStops = async () => [{ kind: 'frozen', branch: 'main', since: 0, times: 1 } as never]
      await settle()
      expect(outcomes()).toEqual(['landed'])
      expect(scene.mismatches).toEqual([])
      expect(looks).toEqual([[base, head, 'open']])
      expect(recorded).toEqual([base])
    })

    test('is a mismatch when it is not valid there, or waits for an approval', async () => {
      found = () => ({
        outcomes: outcomesWith({
          ...passed('ownership'),
          waiting: [{ what: 'an owner must approve', who: ['bob'] }],
        }),
      })
      await (
        await merges()
      )()
      expect(outcomes()).toEqual(['mismatch'])
      expect(scene.mismatches[0]?.differs).toContain('an owner must approve')
    })

    test('is judged again, not at once, while a question is open', async () => {
      let looks = 0
      found = () => {
        looks += 1
        return {
          outcomes: outcomesWith({
            ...passed('validation'),
            unanswered: [{ question: 'q', reason: 'away', retryAfter: 5 }],
          }),
        }
      }
      const settle = await merges()
      expect(await settle()).toMatchObject([{ settled: { kind: 'unclear', isMerged: true } }])
      expect(await settle()).toMatchObject([{ settled: { kind: 'unclear', isMerged: true } }])
      expect(looks).toBe(1)
      expect(scene.mismatches).toEqual([])
    })
  })

  test('of a group that was not validated is a mismatch', async () => {
    await scene.land(queue)
    const [entry] = await groupsOf()
    for (const check of checks) await post(entry?.group?.head ?? '', check)
    await scene.github.passTimeInQueues(scene.full)
    expect(scene.pull.merged).not.toBeNull()
    const { settleBranch } = await import('../../src/landing/settle-landings.ts')
    await settleBranch({ owner: 'catalogs', name: repo() }, 'main', scene.options)
    expect(outcomes()).toEqual(['mismatch'])
    expect(scene.mismatches).toHaveLength(1)
  })

  test('a lost answer is settled by reading: it is in the queue once', async () => {
    const isMutation = ({ template }: { template: string }) => template === '/graphql'
    const { merging } = scene.options
    await expect(
      scene.land(queue, {
        merging: {
          ...merging,
          enqueue: async (permit) => {
            scene.github.fail(isMutation, { applyThenFail: 502 }, 2)
            return merging.enqueue(permit)
          },
        },
      }),
    ).rejects.toMatchObject({ code: 'unavailable' })
    scene.github.clearFaults()
    await scene.clock.sleep(31_000)
    const after = await scene.land(queue)
    expect(['queued', 'refused']).toContain(after.kind)
    expect((await groupsOf()).length).toBeLessThanOrEqual(1)
  })
})

describe('a group of the merge queue', () => {
  test('of several pull requests is judged as a whole, each of them by itself, and lands', async () => {
    // GitHub waits for somebody else, so that neither lands before both are judged.
    scene.rules([checksRule([{ context: 'slow ci' }])])
    await post(scene.pull.headSha, 'slow ci')
    await enqueue(scene.pull)
    const second = await another('beta.yaml', false)
    await post(second.headSha, 'slow ci')
    await enqueue(second)
    const looked: string[] = []
    found = ({ snapshot }) => {
      looked.push(snapshot.head)
      return {}
    }
    await judge()
    for (const { group } of await groupsOf()) await post(group?.head ?? '', 'slow ci')
    await scene.github.passTimeInQueues(scene.full)
    expect([scene.pull.merged, second.merged]).not.toContain(null)
    // The first alone; then the first, the second, and both together.
    expect(looked).toEqual([
      scene.pull.headSha,
      scene.pull.headSha,
      second.headSha,
      expect.not.stringMatching(new RegExp(`^(?:${scene.pull.headSha}|${second.headSha})$`)),
    ])
  })

  test('with a pull request that may not be merged fails, and says which and why', async () => {
    await enqueue(scene.pull)
    found = () => ({ heldBy: { login: 'bob', isBack: false } })
    const head = (await groupsOf())[0]?.group?.head ?? ''
    await judge()
    expect(conclusionsOn(head)).toEqual(ownChecks.map(() => 'failure'))
    expect(scene.github.checkRuns({ repo: scene.pull.repo, headSha: head })[0]?.summary).toContain(
      'pull request 1: bob put it on hold',
    )
    expect(scene.pull.merged).toBeNull()
  })

  test('whose pull requests are fine alone and break something together fails', async () => {
    scene.rules([checksRule([{ context: 'slow ci' }])])
    await post(scene.pull.headSha, 'slow ci')
    await enqueue(scene.pull)
    const second = await another('beta.yaml', false)
    await post(second.headSha, 'slow ci')
    await enqueue(second)
    const together = (await groupsOf())[1]?.group?.head ?? ''
    const alone = [scene.pull.headSha, second.headSha]
    const broken = passed('validation', {
      findings: [
        {
          rule: 'two-heads',
          severity: 'error',
          at: { file: 'x.yaml', line: 1, column: 1 },
          data: {},
          related: [],
        } as never,
      ],
    })
    found = ({ snapshot }) => (alone.includes(snapshot.head) ? {} : { outcomes: outcomesWith(broken) })
    await judge()
    expect(conclusionsOn(together)).toEqual(ownChecks.map(() => 'failure'))
  })

  test('with other files than its pull requests make fails', async () => {
    await enqueue(scene.pull)
    const head = (await groupsOf())[0]?.group?.head ?? ''
    const treeOf = scene.mirror.treeOf.bind(scene.mirror)
    const { base } = (await scene.examine()).permit.landing
    const other = await treeOf(base)
    scene.mirror.treeOf = async (commit) => (commit === head ? other : treeOf(commit))
    await judge()
    expect(conclusionsOn(head)).toEqual(ownChecks.map(() => 'failure'))
    expect(scene.pull.merged).toBeNull()
  })

  test('about which a question is open waits, is asked again, and fails in the end', async () => {
    await enqueue(scene.pull)
    const head = (await groupsOf())[0]?.group?.head ?? ''
    const open = passed('images', {
      unanswered: [{ question: 'image a', reason: 'no answer', retryAfter: 30 }],
    })
    found = () => ({ outcomes: outcomesWith(open) })
    await judge()
    expect(conclusionsOn(head)).toEqual(ownChecks.map(() => null))
    expect(jobs).toMatchObject([{ job: { kind: 'group', branch: 'main' }, seconds: expect.any(Number) }])
    await scene.clock.sleep(11 * 60_000)
    await judge()
    expect(conclusionsOn(head)).toEqual(ownChecks.map(() => 'failure'))
    expect(scene.pull.merged).toBeNull()
  })

  test('is judged once: nothing is written again that is there', async () => {
    scene.rules([checksRule([{ context: 'slow ci' }])])
    await post(scene.pull.headSha, 'slow ci')
    await enqueue(scene.pull)
    const head = (await groupsOf())[0]?.group?.head ?? ''
    await judge()
    expect(conclusionsOn(head).toSorted()).toEqual(['neutral', ...checks.map(() => 'success')])
    const count = scene.github.requests.filter(({ method }) => method !== 'GET').length
    found = () => {
      throw new Error('nobody looks again')
    }
    await judge()
    expect(conclusionsOn(head)).toHaveLength(ownChecks.length)
    const written = scene.github.requests
      .filter(({ method }) => method !== 'GET')
      .slice(count)
      .filter(({ path }) => path.includes('check-runs'))
    expect(written).toEqual([])
  })

  test('is on record as good before GitHub hears of it', async () => {
    await enqueue(scene.pull)
    const order: string[] = []
    const where = place()
    await judgeGroups(
      { kind: 'group', installation: 1, repository: { owner: 'catalogs', name: repo() }, branch: 'main' },
      {
        ...where,
        app: {
          ...where.app,
          store: {
            ...where.app.store,
            writeState: async (...state) => {
              order.push('record')
              await where.app.store.writeState(...state)
            },
          },
        },
        forge: {
          ...where.forge,
          perform: async (action) => {
            order.push('check')
            return where.forge.perform(action)
          },
        },
      },
    )
    expect(order).toEqual(['record', 'check'])
  })
})

test('a pull request that is not in the queue is taken out of it without a word', async () => {
  await scene.options.merging.dequeue(pullNumber(scene.pull.number))
  await scene.land(queue)
  await scene.options.merging.dequeue(pullNumber(scene.pull.number))
  expect(await groupsOf()).toEqual([])
})
