// Who may end a freeze on a page: the users who may use `/thaw`, and no one if GitHub does not answer.
import { expect, test } from '@jest/globals'
import { createUnfreezeHandler } from '../../../src/web/server/unfreeze.ts'
import type { MergeFreeze } from '../../../src/policy/merge-freeze.ts'
import type { ForgeLookupRequest } from '../../../src/checks/lookups.ts'
import type { UnfreezeRequest } from '../../../src/ports/merge-records.ts'

const repository = { owner: 'coast', name: 'operators' }
const publicInstalledRepository = { repository, installation: 1, isPublic: true, listedAt: 0 }

async function submitUnfreezeRequest(
  config: string,
  answers: (question: ForgeLookupRequest) => object,
  branch = 'main',
) {
  const ended: UnfreezeRequest[] = []
  const done: string[] = []
  const fetched: string[] = []
  const all: Record<string, string> = { '.github/catalog-bot.yml': config }
  const entries = Object.keys(all).map((path) => ({ path, oid: path, mode: '100644' }))
  const resume = createUnfreezeHandler({
    store: {
      listFreezes: () => Promise.resolve([{ repository, kind: 'frozen', branch: 'main' }] as MergeFreeze[]),
      firstSeenAccounts: () => Promise.resolve(new Map()),
      unfreezeMerges: (order: UnfreezeRequest) => {
        ended.push(order)
        return Promise.resolve([{}])
      },
      enqueue: ({ kind }: { kind: string }) => Promise.resolve(void done.push(kind)),
    } as never,
    open: () =>
      Promise.resolve({
        forge: {
          repository,
          defaultBranch: () => Promise.resolve('main'),
          answer: (question: ForgeLookupRequest) => Promise.resolve(answers(question)),
        },
        repository: {
          fetch: (asked: string) => Promise.resolve(void fetched.push(asked)),
          tip: () => Promise.resolve('c'.repeat(40)),
          treeOf: () => Promise.resolve('t'.repeat(40)),
          entry: (_tree: string, path: string) =>
            Promise.resolve(entries.find((entry) => entry.path === path)),
          list: () => Promise.resolve(entries),
          read: (oid: string) => Promise.resolve(Buffer.from(all[oid] ?? '')),
        },
      } as never),
    onResumed: () => void done.push('told'),
  })
  const why = await resume({
    listed: publicInstalledRepository,
    kind: 'frozen',
    branch,
    by: { id: 7, login: 'Ann' },
  })
  return { why, ended, done, fetched }
}

const createFakeRoleLookup = (role: string) => (question: ForgeLookupRequest) =>
  question.kind === 'role' ? { kind: 'role', role } : { kind: 'unknown', reason: 'x', retryAfter: 1 }
const maintainerRolesConfig = 'owners:\n  maintainerRoles: [admin, maintain]\n'

test('lets a maintainer by role end the freeze in their name, and enqueues a sweep', async () => {
  const { why, ended, done } = await submitUnfreezeRequest(
    maintainerRolesConfig,
    createFakeRoleLookup('maintain'),
  )
  expect(why).toBeUndefined()
  expect(ended).toMatchObject([
    { repository, branch: 'main', kinds: ['frozen'], by: { kind: 'page', login: 'Ann', user: 7 } },
  ])
  expect(done).toEqual(['told', 'sweep'])
})

test.each([
  ['a user with write access only', maintainerRolesConfig, createFakeRoleLookup('write')],
  ['an admin if roles grant no rights', 'owners:\n  maintainerRoles: []\n', createFakeRoleLookup('admin')],
  [
    'any user if GitHub does not answer',
    maintainerRolesConfig,
    () => ({ kind: 'unknown', reason: 'silent', retryAfter: 1 }),
  ],
  ['any user if the configuration is unreadable', 'owners: [', createFakeRoleLookup('admin')],
])('rejects %s', async (_name, config, answers) => {
  const { why, ended, done } = await submitUnfreezeRequest(config, answers)
  expect(why).toMatch(/maintainer/)
  expect([ended, done]).toEqual([[], []])
})

test('a listed login counts for the account that has it, and for no other', async () => {
  const config = 'owners:\n  maintainers: [ann]\n  maintainerRoles: []\n'
  const account = (id: number) => (question: ForgeLookupRequest) =>
    question.kind === 'user'
      ? { kind: 'person', person: { id, login: 'ann', kind: 'user' } }
      : { kind: 'role', role: 'none' }
  expect((await submitUnfreezeRequest(config, account(7))).ended).toHaveLength(1)
  expect((await submitUnfreezeRequest(config, account(8))).ended).toHaveLength(0)
})

test.each(['main\0', '../x', '-u', 'release', ''.padEnd(5000, 'a')])(
  'a branch without a freeze is never fetched or unfrozen: %j',
  async (branch) => {
    const { why, ended, fetched } = await submitUnfreezeRequest(
      maintainerRolesConfig,
      createFakeRoleLookup('maintain'),
      branch,
    )
    expect(why).toBe('This freeze has already ended.')
    expect([ended, fetched]).toEqual([[], []])
  },
)
