// What every store must do with stops and parked pull requests. Run by contract.ts.
import { describe, expect, test } from '@jest/globals'
import { commitSha, pullNumber, userId } from '../../src/change/ids.ts'
import type { StopAuthor, StopOrder } from '../../src/gate/landing-stop.ts'
import type { Store } from '../../src/ports/store.ts'
import { repository } from './sample-records.ts'

const bot: StopAuthor = { kind: 'bot' }
const operator: StopAuthor = { kind: 'command-line', user: 'root' }
const max = (comment: number): StopAuthor => ({ kind: 'person', login: 'max', user: userId(7), comment })

export function landingStopsContract(store: () => Store): void {
  describe('stops', () => {
    const stop = (order: Partial<StopOrder> & Pick<StopOrder, 'repository'>) =>
      store().stopLandings({ kind: 'frozen', reason: 'release day', by: max(1), ...order })

    test('are one per branch and kind; of what people stopped, the first reason stays', async () => {
      const of = repository()
      expect(await store().landingStops(of)).toEqual([])
      const before = Date.now() - 60_000
      const first = await stop({ repository: of, branch: 'main' })
      expect(first).toMatchObject({ repository: of, branch: 'main', kind: 'frozen', by: max(1), times: 1 })
      expect(first?.since).toBeGreaterThan(before)
      expect(await stop({ repository: of, branch: 'main', reason: 'later', by: max(2) })).toMatchObject({
        reason: 'release day',
        by: max(1),
        times: 2,
      })
      await stop({
        repository: of,
        branch: 'main',
        kind: 'audit',
        reason: 'another tree',
        by: bot,
        pull: pullNumber(3),
        commit: commitSha('c'.repeat(40)),
      })
      await stop({ repository: of, reason: '', by: operator })
      expect(await store().landingStops({ owner: of.owner.toUpperCase(), name: of.name })).toMatchObject([
        { repository: of, branch: 'main', kind: 'frozen' },
        { branch: 'main', kind: 'audit', pull: 3, commit: 'c'.repeat(40) },
        { kind: 'frozen', by: operator },
      ])
      expect((await store().landingStops(of))[2]).not.toHaveProperty('branch')
      expect(await store().landingStops(repository())).toEqual([])
      expect(
        (await store().landingStops()).filter(({ repository: one }) => one.name === of.name),
      ).toHaveLength(3)
    })

    test('of a refusal take its newest words and time, and count', async () => {
      const of = repository()
      const refused = { repository: of, branch: 'main', kind: 'refused', by: bot } as const
      await stop({ ...refused, reason: 'locked \0 \ud800', tryAgainAt: 1_700_000_000_000, rules: 'a' })
      expect(
        await stop({ ...refused, reason: 'queue', tryAgainAt: 1_700_000_000_001, rules: 'b' }),
      ).toMatchObject({
        reason: 'queue',
        tryAgainAt: 1_700_000_000_001,
        rules: 'b',
        times: 2,
      })
      expect(await store().stopEvents(of, 10)).toHaveLength(1)
      await store().retryLandings({ repository: of, branch: 'main' })
      expect(await store().landingStops(of)).toMatchObject([{ tryAgainAt: 0, times: 2 }])
    })

    test('end by kind and branch, and who ended them and why is on record', async () => {
      const of = repository()
      await stop({ repository: of, branch: 'main' })
      await stop({ repository: of, branch: 'main', kind: 'audit', by: bot })
      await stop({ repository: of, branch: 'v1', by: max(2) })
      const end = { repository: of, by: operator, reason: 'all well' }
      expect(
        await store().resumeLandings({ ...end, branch: 'main', kinds: ['frozen', 'refused'] }),
      ).toMatchObject([{ branch: 'main', kind: 'frozen' }])
      expect(await store().landingStops(of)).toMatchObject([
        { branch: 'main', kind: 'audit' },
        { branch: 'v1', kind: 'frozen' },
      ])
      expect(await store().resumeLandings({ ...end, kinds: ['frozen', 'audit'] })).toHaveLength(2)
      expect(await store().landingStops(of)).toEqual([])
      expect(await store().resumeLandings({ ...end, kinds: ['frozen'] })).toEqual([])
      expect((await store().stopEvents(of, 4)).map(({ step, branch, kind }) => [step, branch, kind])).toEqual(
        [
          ['resumed', 'v1', 'frozen'],
          ['resumed', 'main', 'audit'],
          ['resumed', 'main', 'frozen'],
          ['stopped', 'v1', 'frozen'],
        ],
      )
      expect((await store().stopEvents(of, 1))[0]).toMatchObject({
        by: operator,
        reason: 'all well',
        repository: of,
      })
    })

    test('are ordered by a comment once, whatever comes in between', async () => {
      const of = repository()
      await stop({ repository: of, branch: 'main', by: max(1) })
      const thaw = { repository: of, branch: 'main', kinds: ['frozen'] as const, by: max(2), reason: '' }
      expect(await store().resumeLandings(thaw)).toHaveLength(1)
      expect(await stop({ repository: of, branch: 'main', by: max(1) })).toBeUndefined()
      expect(await store().landingStops(of)).toEqual([])
      await stop({ repository: of, branch: 'main', by: max(3) })
      expect(await store().resumeLandings(thaw)).toEqual([])
      expect(await store().landingStops(of)).toHaveLength(1)
    })

    test('by comments go by the order in which those were written, whichever is read first', async () => {
      const of = repository()
      const thaw = { repository: of, branch: 'main', kinds: ['frozen', 'refused'] as const, reason: '' }
      // A thaw that waited in a pull request nobody could look at does not end what was ordered after it.
      await stop({ repository: of, branch: 'main', by: max(10) })
      expect(await store().resumeLandings({ ...thaw, by: max(9) })).toEqual([])
      expect(await store().resumeLandings({ ...thaw, by: max(11) })).toHaveLength(1)
      expect(await stop({ repository: of, branch: 'main', by: max(8) })).toBeUndefined()
      // Nor one that the command line ordered later.
      await stop({ repository: of, branch: 'main', by: operator })
      expect(await store().resumeLandings({ ...thaw, by: max(12), saidAt: Date.now() - 3600_000 })).toEqual(
        [],
      )
      expect(
        await store().resumeLandings({ ...thaw, by: max(13), saidAt: Date.now() + 3600_000 }),
      ).toHaveLength(1)
    })

    test('by many at once are one', async () => {
      const of = repository()
      await Promise.all(
        Array.from({ length: 8 }, (_, at) => stop({ repository: of, branch: 'main', by: max(at) })),
      )
      expect(await store().landingStops(of)).toMatchObject([{ times: 8 }])
    })
  })

  test('a parked pull request is known until it is released', async () => {
    const of = repository()
    const parked = {
      pull: pullNumber(4),
      reason: 'no \0 review',
      state: 'abc',
      times: 1,
      tryAgainAt: 1_700_000_000_000,
    }
    expect(await store().parkedPull(of, parked.pull)).toBeUndefined()
    await store().parkPull(of, parked)
    expect(await store().parkedPull(of, parked.pull)).toEqual({ ...parked, reason: 'no  review' })
    await store().parkPull(of, { ...parked, reason: 'x', times: 2 })
    expect(await store().parkedPull(of, parked.pull)).toMatchObject({ reason: 'x', times: 2 })
    expect(await store().parkedPull(of, pullNumber(5))).toBeUndefined()
    expect(await store().parkedPulls(of)).toEqual([4])
    expect(await store().parkedPulls(repository())).toEqual([])
    await store().releasePull(of, parked.pull)
    expect(await store().parkedPull(of, parked.pull)).toBeUndefined()
  })
}
