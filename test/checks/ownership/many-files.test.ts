// The cost of a change of many files: the number of Git calls and of evaluations.
import { afterAll, describe, expect, test } from '@jest/globals'
import { createCatalogLoader } from '../../../src/catalogs/catalog-loader.ts'
import { createCatalogFileReaderPool } from '../../../src/catalogs/reader-pool.ts'
import type { CheckInput } from '../../../src/checks/check.ts'
import { ownershipCheck } from '../../../src/checks/ownership/ownership.ts'
import { createLookupResults } from '../../../src/checks/lookups.ts'
import type { GitRepository } from '../../../src/ports/repository.ts'
import { noopCache } from '../../../src/catalogs/memory-cache.ts'
import { createTestPullSnapshot } from '../../policy/verdict-inputs.ts'
import type { OriginFiles } from '../../adapters/git/origin.ts'
import { createCatalogYaml } from './read-catalog-text.ts'
import { createOwnershipScenario } from './ownership-scenario.ts'

const scenario = await createOwnershipScenario('many-files')
afterAll(() => scenario.close())

const baseBranchFiles: OriginFiles = {
  'catalogs/v4.16/mine/catalog.yaml': createCatalogYaml('mine', ['1.0.0']),
  OWNERS: 'approvers: [maria]\n',
}

/** The repository, and the calls that it received. */
function recordGitRepositoryCalls(repository: GitRepository) {
  const calls: Record<'list' | 'diff' | 'entry' | 'read', string[]> = {
    list: [],
    diff: [],
    entry: [],
    read: [],
  }
  const counted: GitRepository = {
    ...repository,
    list: (...args) => (calls.list.push(args.join(' ')), repository.list(...args)),
    diff: (...args) => (calls.diff.push(args.join(' ')), repository.diff(...args)),
    entry: (...args) => (calls.entry.push(args.join(' ')), repository.entry(...args)),
    read: (...args) => (calls.read.push(args[0]), repository.read(...args)),
  }
  return { counted, asked: calls }
}

test('an evaluation of hundreds of files lists each tree once and reads each blob once', async () => {
  const head: Record<string, OriginFiles[string]> = { ...baseBranchFiles }
  for (let at = 0; at < 300; at++) {
    head[`catalogs/v4.16/p${at}/catalog.yaml`] = createCatalogYaml(`p${at}`, ['1.0.0'])
    head[`catalogs/v4.16/p${at}/OWNERS`] = `approvers: [owner-of-${at}]\n`
    head[`catalogs/v4.16/link${at}.yaml`] = { mode: '120000', content: `p${at}/catalog.yaml` }
  }
  const from = scenario.origin.commit(baseBranchFiles)
  const to = scenario.origin.commit(head, [from])
  await scenario.fetchPull(from, to)
  const { counted, asked } = recordGitRepositoryCalls(scenario.mirror)
  const pool = createCatalogFileReaderPool()
  try {
    const { verdict, change } = await scenario.evaluateSnapshot(
      createTestPullSnapshot({ author: scenario.fakeAccounts.person('alice'), base: from, head: to }),
      { repository: counted, loader: createCatalogLoader(pool, noopCache) },
    )
    expect(change.paths).toHaveLength(900)
    expect(verdict.kind).not.toBe('merge')
  } finally {
    await pool.close()
  }
  // The third list call is for the path of the configuration, which does not exist here.
  expect(asked.list.filter((tree) => !tree.includes(' '))).toHaveLength(2)
  expect(asked.list).toHaveLength(3)
  expect(asked.diff).toHaveLength(1)
  // The path of the configuration, and its parent folder.
  expect(asked.entry).toHaveLength(2)
  expect(asked.read.length).toBe(new Set(asked.read).size)
})

describe('the same change', () => {
  /** A map of files that counts its lookups. */
  const watched = (texts: ReadonlyMap<string, string>) => {
    const lookupCalls = { count: 0 }
    const map = new Map(texts)
    const get = map.get.bind(map)
    map.get = (key) => ((lookupCalls.count += 1), get(key))
    return { map, looks: lookupCalls }
  }

  async function anInput(): Promise<CheckInput> {
    const from = scenario.origin.commit(baseBranchFiles)
    const to = scenario.origin.commit(
      {
        ...baseBranchFiles,
        'catalogs/v4.16/mine/catalog.yaml': createCatalogYaml('mine', ['1.0.0', '1.1.0']),
      },
      [from],
    )
    return (await scenario.evaluate(from, to, { author: 'alice' })).input
  }

  test('is analyzed once, for any answers and any approvals', async () => {
    const made = await anInput()
    const { map, looks } = watched(made.ownerFiles.base)
    const input = { ...made, ownerFiles: { ...made.ownerFiles, base: map } }
    ownershipCheck.judge(input, createLookupResults(new Map()))
    const first = looks.count
    expect(first).toBeGreaterThan(0)
    const role = (name: 'read' | 'admin') =>
      createLookupResults(
        new Map([[`role ${input.snapshot.author?.id ?? ''}`, { kind: 'role', role: name }]]),
      )
    ownershipCheck.ask(input, role('read'))
    ownershipCheck.judge(input, role('admin'))
    const approval = {
      ...createApprovalFromReview(input),
      user: scenario.fakeAccounts.person('maria').id,
      login: 'maria',
    }
    ownershipCheck.judge({ ...input, approvals: [approval] }, role('read'))
    expect(looks.count).toBe(first)
  })

  test('is analyzed again if an owner file or the author differs', async () => {
    const input = await anInput()
    const maria = scenario.fakeAccounts.person('maria')
    const answers = createLookupResults(
      new Map([
        [`role ${maria.id}`, { kind: 'role' as const, role: 'read' as const }],
        ['user maria', { kind: 'person' as const, person: maria }],
      ]),
    )
    const byMaria = { ...input, snapshot: { ...input.snapshot, author: maria } }
    expect(ownershipCheck.judge(input, answers).unanswered).not.toEqual([])
    expect(ownershipCheck.judge(byMaria, answers).waiting).toEqual([])
    const others = { base: new Map([['OWNERS', 'approvers: [otto]\n']]), result: input.ownerFiles.result }
    expect(ownershipCheck.judge({ ...byMaria, ownerFiles: others }, answers).waiting).not.toEqual([])
    expect(ownershipCheck.judge(byMaria, answers).waiting).toEqual([])
  })

  test('has the same result for the same answers, and another result for other answers', async () => {
    const input = await anInput()
    const key = `role ${input.snapshot.author?.id ?? ''}`
    const unknown = createLookupResults(new Map())
    const before = ownershipCheck.judge(input, unknown)
    expect(ownershipCheck.judge(input, createLookupResults(new Map()))).toEqual(before)
    const reader = createLookupResults(new Map([[key, { kind: 'role', role: 'read' }]]))
    const rejected = ownershipCheck.judge(input, reader)
    expect(rejected.waiting).not.toEqual([])
    const asked = ownershipCheck.ask(input, reader)
    expect(ownershipCheck.judge(input, reader)).toEqual(rejected)
    expect(ownershipCheck.ask(input, reader)).toEqual(asked)
    // Permissions that a person lost in the meantime do not count in the next evaluation of the same input.
    const admin = createLookupResults(new Map([[key, { kind: 'role', role: 'admin' }]]))
    expect(ownershipCheck.judge(input, admin).waiting).toEqual([])
    expect(ownershipCheck.judge(input, reader).waiting).not.toEqual([])
    expect(ownershipCheck.judge(input, unknown).unanswered).toEqual(before.unanswered)
  })
})

function createApprovalFromReview({ snapshot }: CheckInput) {
  const { head, baseRef } = snapshot
  return { head, baseRef, epoch: 0, source: 'review' as const }
}

test('every new path in a directory that looks like another one is reported', async () => {
  const confusablePath = 'catalogs/v4.16/Mine'
  const from = scenario.origin.commit(baseBranchFiles)
  const to = scenario.origin.commit(
    {
      ...baseBranchFiles,
      [`${confusablePath}/catalog.yaml`]: createCatalogYaml('other', ['1.0.0']),
      [`${confusablePath}/deep/down/notes.yaml`]: 'schema: x\n',
      'catalogs/v4.16/new/One.yaml': 'schema: x\n',
      'catalogs/v4.16/new/one.yaml': 'schema: x\n',
    },
    [from],
  )
  const { outcome } = await scenario.evaluate(from, to, { author: 'alice' })
  const confusableNames = outcome.findings
    .filter(({ rule, data }) => rule === 'confusable-name' && typeof data?.['path'] === 'string')
    .map(({ data }) => [data?.['path'], data?.['name'], data?.['like']])
  expect(confusableNames).toEqual(
    expect.arrayContaining([
      [`${confusablePath}/catalog.yaml`, confusablePath, 'catalogs/v4.16/mine'],
      [`${confusablePath}/deep/down/notes.yaml`, confusablePath, 'catalogs/v4.16/mine'],
      ['catalogs/v4.16/new/one.yaml', 'catalogs/v4.16/new/one.yaml', 'catalogs/v4.16/new/One.yaml'],
    ]),
  )
})
