// What every store must store about pull requests, with any database.
import { describe, expect, test } from '@jest/globals'
import { toCommitSha, toPullNumber, toUserId } from '../../../src/pull-request/ids.ts'
import type { GitHubAccount } from '../../../src/pull-request/snapshot.ts'
import type { CommandRecord } from '../../../src/policy/command-records.ts'
import type { Store } from '../../../src/ports/store.ts'

let createdRepositoryCount = 0
const firstHeadSha = toCommitSha('a'.repeat(40))
const secondHeadSha = toCommitSha('b'.repeat(40))
const pullNumber = toPullNumber(7)

export function testPullHistoryStoreContract(store: () => Store): void {
  const repository = () => ({ owner: 'Memory', name: `Repository-${++createdRepositoryCount}` })

  describe('the store, for a pull request', () => {
    test('starts an epoch when head, base branch, or configuration differ from the last evaluation (T18, T21)', async () => {
      const of = repository()
      const observeHead = (head = firstHeadSha, baseRef = 'main', config = 'c1') =>
        store().observe(of, pullNumber, { head, baseRef, config })
      expect(await observeHead()).toBe(0)
      expect(await observeHead()).toBe(0)
      expect(await observeHead(secondHeadSha)).toBe(1)
      expect(await observeHead(firstHeadSha)).toBe(2)
      expect(await observeHead(firstHeadSha, 'staging')).toBe(3)
      expect(await observeHead(firstHeadSha, 'main')).toBe(4)
      expect(await observeHead(firstHeadSha, 'main', 'c2')).toBe(5)
      expect(await observeHead(firstHeadSha, 'main', 'c2')).toBe(5)
      expect(
        await store().observe(of, toPullNumber(8), { head: firstHeadSha, baseRef: 'main', config: 'c1' }),
      ).toBe(0)
    })
    test('starts one epoch for concurrent evaluations', async () => {
      const of = repository()
      const looks = await Promise.all(
        [1, 2, 3, 4].map(() =>
          store().observe(of, pullNumber, { head: firstHeadSha, baseRef: 'main', config: 'c' }),
        ),
      )
      expect(looks).toEqual([0, 0, 0, 0])
    })
    test('keeps the time at which a head was first shown', async () => {
      const of = repository()
      await store().recordShown(of, pullNumber, { head: firstHeadSha, epoch: 0, at: '2026-01-01T00:00:05Z' })
      await store().recordShown(of, pullNumber, { head: firstHeadSha, epoch: 0, at: '2026-01-01T00:09:00Z' })
      await store().recordShown(of, pullNumber, { head: secondHeadSha, epoch: 1, at: '2026-01-01T00:01:00Z' })
      expect(await store().shownHeads(of, pullNumber)).toEqual([
        { head: firstHeadSha, epoch: 0, at: '2026-01-01T00:00:05Z' },
        { head: secondHeadSha, epoch: 1, at: '2026-01-01T00:01:00Z' },
      ])
    })
    test('ignores a repeated head and change, and records a return to an earlier one', async () => {
      const of = repository()
      const show = (change: string, minute: number) =>
        store().recordShown(of, pullNumber, {
          head: firstHeadSha,
          epoch: 0,
          at: `2026-01-01T00:0${minute}:00Z`,
          change,
        })
      for (const [change, minute] of [
        ['c1', 1],
        ['c1', 2],
        ['c2', 3],
        ['c1', 4],
        ['c1', 5],
      ] as const)
        await show(change, minute)
      const shown = await store().shownHeads(of, pullNumber)
      expect(shown.map(({ at, change }) => `${at.slice(14, 16)} ${change}`)).toEqual([
        '01 c1',
        '03 c2',
        '04 c1',
      ])
    })
    test('keeps each change for its approvals, and binds a review to its first change', async () => {
      const of = repository()
      const covers = new Map([
        ['foo', '= "catalog/foo/x.yaml" none 100644 ☃'],
        ['', ''],
      ])
      await store().recordChange(of, pullNumber, { id: 'c1', covers })
      await store().recordChange(of, pullNumber, { id: 'c1', covers: new Map() })
      await store().recordChange(of, pullNumber, { id: 'c2', covers: new Map() })
      expect(await store().readChanges(of, pullNumber, ['c1', 'c1', 'c2', 'c3'])).toEqual(
        new Map([
          ['c1', covers],
          ['c2', new Map()],
        ]),
      )
      expect(await store().readChanges(of, toPullNumber(8), ['c1'])).toEqual(new Map())
      expect(await store().firstSeenApprovals(of, pullNumber, new Map())).toEqual(new Map())
      await store().firstSeenApprovals(of, pullNumber, new Map([[3_000_000_000_000, 'c1']]))
      const again = new Map([
        [3_000_000_000_000, 'c2'],
        [12, 'c2'],
      ])
      const kept = new Map([
        [3_000_000_000_000, 'c1'],
        [12, 'c2'],
      ])
      expect(await store().firstSeenApprovals(of, pullNumber, again)).toEqual(kept)
      expect(await store().firstSeenApprovals(of, pullNumber, new Map())).toEqual(kept)
      expect(await store().firstSeenApprovals(of, toPullNumber(8), new Map())).toEqual(new Map())
    })
    test('records whether it ever received a push of a pull request (T24)', async () => {
      const of = repository()
      expect(await store().hasSeenPushes(of, pullNumber)).toBe(false)
      const push = {
        repository: of,
        pull: pullNumber,
        head: firstHeadSha,
        pusher: { id: toUserId(7), login: 'olga', kind: 'user' as const },
      }
      await store().accept(
        { guid: `seen ${of.name}`, event: 'pull_request', body: new Uint8Array() },
        [],
        push,
      )
      expect(await store().hasSeenPushes(of, pullNumber)).toBe(true)
      expect(await store().hasSeenPushes(of, toPullNumber(8))).toBe(false)
      expect(await store().hasSeenPushes(repository(), pullNumber)).toBe(false)
    })
    test('records a command once and unchanged', async () => {
      const of = repository()
      const record: CommandRecord = {
        comment: 4_000_000_000_123,
        command: 'approve',
        user: toUserId(7),
        login: 'olga',
        outcome: 'done',
        head: firstHeadSha,
        baseRef: 'main',
        epoch: 3,
        config: 'c',
        covers: new Map([['foo', '"catalog/foo/x.yaml" none 100644 ☃']]),
      }
      expect(await store().recordCommand(of, pullNumber, record)).toBe('new')
      expect(await store().recordCommand(of, pullNumber, { ...record, outcome: 'denied' })).toBe('duplicate')
      const { config: _config, covers: _covers, ...plain } = record
      await store().recordCommand(of, pullNumber, { ...plain, comment: 5, command: 'hold' })
      expect(await store().commands(of, pullNumber)).toEqual([
        { ...plain, comment: 5, command: 'hold' },
        record,
      ])
      expect(await store().commands(of, toPullNumber(8))).toEqual([])
    })
    test('keeps a review in the epoch of its first sighting (T21)', async () => {
      const of = repository()
      expect(await store().firstSeenReviews(of, pullNumber, 1, [11, 12])).toEqual(
        new Map([
          [11, 1],
          [12, 1],
        ]),
      )
      expect(await store().firstSeenReviews(of, pullNumber, 3, [12, 3_000_000_000_000])).toEqual(
        new Map([
          [12, 1],
          [3_000_000_000_000, 3],
        ]),
      )
    })
    test('records the pusher of a head and the delivery that reported it, once (T24)', async () => {
      const of = repository()
      const by = (id: number, login: string) => ({ id: toUserId(id), login, kind: 'user' as const })
      const push = (guid: string, pusher: GitHubAccount, head = firstHeadSha, at = pullNumber) =>
        store().accept({ guid: `${guid} ${of.name}`, event: 'pull_request', body: new Uint8Array() }, [], {
          repository: of,
          pull: at,
          head,
          pusher,
        })
      const pushers = (head = firstHeadSha, at = pullNumber, repository = of) =>
        store().listPushers?.(repository, at, head)
      expect(await pushers()).toEqual([])
      expect(await push('one', by(9_000_000_000, 'olga'))).toBe('new')
      expect(await push('two', by(8, 'mallory'))).toBe('new')
      expect(await push('one', by(7, 'forged'))).toBe('duplicate')
      expect(await push('three', by(9_000_000_000, 'renamed'))).toBe('new')
      await push('four', { id: toUserId(5), login: 'app[bot]', kind: 'bot' }, secondHeadSha)
      expect(await pushers()).toEqual([by(9_000_000_000, 'olga'), by(8, 'mallory')])
      expect(await pushers(secondHeadSha)).toEqual([{ id: 5, login: 'app[bot]', kind: 'bot' }])
      expect(await pushers(firstHeadSha, toPullNumber(8))).toEqual([])
      expect(
        await pushers(firstHeadSha, pullNumber, { owner: of.owner.toUpperCase(), name: of.name }),
      ).toHaveLength(2)
      expect(await pushers(firstHeadSha, pullNumber, repository())).toEqual([])
    })
    test('counts commands of the last hour by account over the entire repository (T46)', async () => {
      const of = repository()
      const give = (comment: number, user: number, at = pullNumber) =>
        store().recordCommand(of, at, {
          comment,
          command: 'recheck',
          user: toUserId(user),
          login: 'x',
          outcome: 'denied',
          head: firstHeadSha,
          baseRef: 'main',
          epoch: 0,
        })
      await give(1, 7)
      await give(2, 7, toPullNumber(8))
      await give(2, 7)
      await give(3, 4_000_000_000)
      expect(await store().recentCommands?.(of)).toEqual(
        new Map([
          [7, 2],
          [4_000_000_000, 1],
        ]),
      )
      expect(await store().recentCommands?.(repository())).toEqual(new Map())
    })
    test('binds a login to its first account (T25)', async () => {
      const of = repository()
      await store().firstSeenAccounts(of, new Map([['Alice', toUserId(1)]]))
      expect(await store().firstSeenAccounts(of, new Map([['alice', toUserId(2)]]))).toEqual(
        new Map([['alice', toUserId(1)]]),
      )
      expect(await store().firstSeenAccounts(repository(), new Map())).toEqual(new Map())
    })
  })
}
