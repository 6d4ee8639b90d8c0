// What every store must do with freezes and parked pull requests. Run by store-contract.ts.
import { describe, expect, test } from '@jest/globals'
import { toCommitSha, toPullNumber, toUserId } from '../../../src/pull-request/ids.ts'
import type { FreezeAuthor, FreezeRequest } from '../../../src/policy/merge-freeze.ts'
import type { Store } from '../../../src/ports/store.ts'
import { createRepositoryName } from './sample-records.ts'

const botFreezeAuthor: FreezeAuthor = { kind: 'bot' }
const commandLineFreezeAuthor: FreezeAuthor = { kind: 'command-line', user: 'root' }
const createPersonFreezeAuthor = (comment: number): FreezeAuthor => ({
  kind: 'person',
  login: 'max',
  user: toUserId(7),
  comment,
})

export function testMergeFreezesContract(store: () => Store): void {
  describe('freezes', () => {
    const stop = (order: Partial<FreezeRequest> & Pick<FreezeRequest, 'repository'>) =>
      store().freezeMerges({
        kind: 'frozen',
        reason: 'release day',
        by: createPersonFreezeAuthor(1),
        ...order,
      })

    test('are unique per branch and kind, and a manual freeze keeps its first reason', async () => {
      const of = createRepositoryName()
      expect(await store().listFreezes(of)).toEqual([])
      const before = Date.now() - 60_000
      const first = await stop({ repository: of, branch: 'main' })
      expect(first).toMatchObject({
        repository: of,
        branch: 'main',
        kind: 'frozen',
        by: createPersonFreezeAuthor(1),
        times: 1,
      })
      expect(first?.since).toBeGreaterThan(before)
      expect(
        await stop({ repository: of, branch: 'main', reason: 'later', by: createPersonFreezeAuthor(2) }),
      ).toMatchObject({ reason: 'release day', by: createPersonFreezeAuthor(1), times: 2 })
      await stop({
        repository: of,
        branch: 'main',
        kind: 'audit',
        reason: 'another tree',
        by: botFreezeAuthor,
        pull: toPullNumber(3),
        commit: toCommitSha('c'.repeat(40)),
      })
      await stop({ repository: of, reason: '', by: commandLineFreezeAuthor })
      expect(await store().listFreezes({ owner: of.owner.toUpperCase(), name: of.name })).toMatchObject([
        { repository: of, branch: 'main', kind: 'frozen' },
        { branch: 'main', kind: 'audit', pull: 3, commit: 'c'.repeat(40) },
        { kind: 'frozen', by: commandLineFreezeAuthor },
      ])
      expect((await store().listFreezes(of))[2]).not.toHaveProperty('branch')
      expect(await store().listFreezes(createRepositoryName())).toEqual([])
      expect(
        (await store().listFreezes()).filter(({ repository: one }) => one.name === of.name),
      ).toHaveLength(3)
    })

    test('after a rejection are updated with its newest message and time, and count', async () => {
      const of = createRepositoryName()
      const rejectionFreeze = {
        repository: of,
        branch: 'main',
        kind: 'refused',
        by: botFreezeAuthor,
      } as const
      await stop({
        ...rejectionFreeze,
        reason: 'locked \0 \ud800',
        tryAgainAt: 1_700_000_000_000,
        rules: 'a',
      })
      expect(
        await stop({ ...rejectionFreeze, reason: 'queue', tryAgainAt: 1_700_000_000_001, rules: 'b' }),
      ).toMatchObject({ reason: 'queue', tryAgainAt: 1_700_000_000_001, rules: 'b', times: 2 })
      expect(await store().listFreezeEvents(of, 10)).toHaveLength(1)
      await store().allowMergeAttempt({ repository: of, branch: 'main' })
      expect(await store().listFreezes(of)).toMatchObject([{ tryAgainAt: 0, times: 2 }])
    })

    test('end by kind and branch, and a record names who ended them and why', async () => {
      const of = createRepositoryName()
      await stop({ repository: of, branch: 'main' })
      await stop({ repository: of, branch: 'main', kind: 'audit', by: botFreezeAuthor })
      await stop({ repository: of, branch: 'v1', by: createPersonFreezeAuthor(2) })
      const end = { repository: of, by: commandLineFreezeAuthor, reason: 'all well' }
      expect(
        await store().unfreezeMerges({ ...end, branch: 'main', kinds: ['frozen', 'refused'] }),
      ).toMatchObject([{ branch: 'main', kind: 'frozen' }])
      expect(await store().listFreezes(of)).toMatchObject([
        { branch: 'main', kind: 'audit' },
        { branch: 'v1', kind: 'frozen' },
      ])
      expect(await store().unfreezeMerges({ ...end, kinds: ['frozen', 'audit'] })).toHaveLength(2)
      expect(await store().listFreezes(of)).toEqual([])
      expect(await store().unfreezeMerges({ ...end, kinds: ['frozen'] })).toEqual([])
      expect(
        (await store().listFreezeEvents(of, 4)).map(({ step, branch, kind }) => [step, branch, kind]),
      ).toEqual([
        ['resumed', 'v1', 'frozen'],
        ['resumed', 'main', 'audit'],
        ['resumed', 'main', 'frozen'],
        ['stopped', 'v1', 'frozen'],
      ])
      expect((await store().listFreezeEvents(of, 1))[0]).toMatchObject({
        by: commandLineFreezeAuthor,
        reason: 'all well',
        repository: of,
      })
    })

    test('are ordered by a comment once, regardless of later events', async () => {
      const of = createRepositoryName()
      await stop({ repository: of, branch: 'main', by: createPersonFreezeAuthor(1) })
      const thaw = {
        repository: of,
        branch: 'main',
        kinds: ['frozen'] as const,
        by: createPersonFreezeAuthor(2),
        reason: '',
      }
      expect(await store().unfreezeMerges(thaw)).toHaveLength(1)
      expect(await stop({ repository: of, branch: 'main', by: createPersonFreezeAuthor(1) })).toBeUndefined()
      expect(await store().listFreezes(of)).toEqual([])
      await stop({ repository: of, branch: 'main', by: createPersonFreezeAuthor(3) })
      expect(await store().unfreezeMerges(thaw)).toEqual([])
      expect(await store().listFreezes(of)).toHaveLength(1)
    })

    test('by comments follow the order in which the comments were written, not read', async () => {
      const of = createRepositoryName()
      const thaw = { repository: of, branch: 'main', kinds: ['frozen', 'refused'] as const, reason: '' }
      // A thaw that waited in a pull request without an evaluation does not end a freeze that was ordered after it.
      await stop({ repository: of, branch: 'main', by: createPersonFreezeAuthor(10) })
      expect(await store().unfreezeMerges({ ...thaw, by: createPersonFreezeAuthor(9) })).toEqual([])
      expect(await store().unfreezeMerges({ ...thaw, by: createPersonFreezeAuthor(11) })).toHaveLength(1)
      expect(await stop({ repository: of, branch: 'main', by: createPersonFreezeAuthor(8) })).toBeUndefined()
      // Nor does it end a freeze that the command line ordered later.
      await stop({ repository: of, branch: 'main', by: commandLineFreezeAuthor })
      expect(
        await store().unfreezeMerges({
          ...thaw,
          by: createPersonFreezeAuthor(12),
          requestedAt: Date.now() - 3600_000,
        }),
      ).toEqual([])
      expect(
        await store().unfreezeMerges({
          ...thaw,
          by: createPersonFreezeAuthor(13),
          requestedAt: Date.now() + 3600_000,
        }),
      ).toHaveLength(1)
    })

    test('that were requested again do not end by an earlier request', async () => {
      const of = createRepositoryName()
      const thaw = { repository: of, branch: 'main', kinds: ['frozen'] as const, reason: '' }
      await stop({ repository: of, branch: 'main', by: createPersonFreezeAuthor(10) })
      await stop({ repository: of, branch: 'main', by: createPersonFreezeAuthor(12) })
      expect(await store().unfreezeMerges({ ...thaw, by: createPersonFreezeAuthor(11) })).toEqual([])
      expect(await store().unfreezeMerges({ ...thaw, by: createPersonFreezeAuthor(13) })).toHaveLength(1)
      // Requests that ended do not count.
      await stop({ repository: of, branch: 'main', by: createPersonFreezeAuthor(14) })
      await stop({ repository: of, branch: 'main', by: commandLineFreezeAuthor })
      const requestedAt = Date.now() - 3600_000
      const early = { ...thaw, by: createPersonFreezeAuthor(15), requestedAt }
      expect(await store().unfreezeMerges(early)).toEqual([])
      expect(await store().unfreezeMerges({ ...early, requestedAt: Date.now() + 3600_000 })).toHaveLength(1)
    })

    test('that catalog-bot requested for another merge, too, do not end by an earlier request', async () => {
      const of = createRepositoryName()
      const thaw = { repository: of, branch: 'main', kinds: ['audit'], reason: '' } as const
      const requestAudit = (reason: string) =>
        stop({ repository: of, branch: 'main', kind: 'audit', by: botFreezeAuthor, reason })
      const requestedAt = (await requestAudit('pull request 3'))?.since ?? 0
      const early = { ...thaw, requestedAt, by: createPersonFreezeAuthor(1) }
      // The clock of the embedded database counts milliseconds.
      while (Date.now() <= requestedAt) await store().listFreezes(of)
      await requestAudit('pull request 4')
      expect(await store().unfreezeMerges(early)).toEqual([])
      expect(await store().unfreezeMerges({ ...thaw, by: createPersonFreezeAuthor(2) })).toHaveLength(1)
      // The same merge is reported again after a failure.
      const again = (await requestAudit('pull request 3'))?.since ?? 0
      await requestAudit('pull request 3')
      expect(await store().unfreezeMerges({ ...early, requestedAt: again })).toHaveLength(1)
    })

    test('by many concurrent requests are one', async () => {
      const of = createRepositoryName()
      await Promise.all(
        Array.from({ length: 8 }, (_, at) =>
          stop({ repository: of, branch: 'main', by: createPersonFreezeAuthor(at) }),
        ),
      )
      expect(await store().listFreezes(of)).toMatchObject([{ times: 8 }])
    })
  })

  test('a parked pull request is stored until it is released', async () => {
    const of = createRepositoryName()
    const parked = {
      pull: toPullNumber(4),
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
    expect(await store().parkedPull(of, toPullNumber(5))).toBeUndefined()
    expect(await store().parkedPulls(of)).toEqual([4])
    expect(await store().parkedPulls(createRepositoryName())).toEqual([])
    await store().unparkPull(of, parked.pull)
    expect(await store().parkedPull(of, parked.pull)).toBeUndefined()
  })
}
