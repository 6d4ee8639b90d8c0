// Commands in comments on a pull request that updates package `foo`, and the accounts that write them.
import { toCommitSha, toUserId } from '../../src/pull-request/ids.ts'
import type { PullComment, GitHubAccount, PullSnapshot } from '../../src/pull-request/snapshot.ts'
import type { CheckInput } from '../../src/checks/check.ts'
import { createLookupResults, toLookupKey } from '../../src/checks/lookups.ts'
import type { LookupResultByKind, LookupRequest } from '../../src/checks/lookups.ts'
import { defaultConfig } from '../../src/config/config.ts'
import {
  collectCommandLookups,
  decideCommands,
  type CommandEvaluationInput,
} from '../../src/policy/commands.ts'
import { computeCatalogChange, buildPackageBlob } from '../pull-request/build-catalog.ts'
import { createTestPullSnapshot, createHexSha } from './verdict-inputs.ts'

const githubAccountByName: Readonly<Record<string, GitHubAccount>> = {
  alice: { id: toUserId(1001), login: 'alice', kind: 'user' },
  olga: { id: toUserId(1002), login: 'Olga', kind: 'user' },
  maria: { id: toUserId(1003), login: 'maria', kind: 'user' },
  mallory: { id: toUserId(1004), login: 'mallory', kind: 'user' },
  robot: { id: toUserId(1005), login: 'robot[bot]', kind: 'bot' },
}
/** The account with this name, or a new one. */
export const getGitHubAccount = (name: string): GitHubAccount =>
  githubAccountByName[name] ?? { id: toUserId(1), login: name, kind: 'user' }
export const headShaA = toCommitSha(createHexSha('a'))
export const headShaB = toCommitSha(createHexSha('b'))
export const formatTimestampAtMinute = (minute: number) =>
  `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`

let lastCommentId = 100
export const createComment = (name: string, body: string, more: Partial<PullComment> = {}): PullComment => ({
  id: (lastCommentId += 1),
  author: getGitHubAccount(name),
  body,
  createdAt: formatTimestampAtMinute(10),
  updatedAt: formatTimestampAtMinute(10),
  ...more,
})

/** The owner of package `foo` is olga, and the maintainer is maria. */
export function createInput(
  comments: readonly PullComment[],
  more: Partial<CommandEvaluationInput> = {},
  snapshot: Partial<PullSnapshot> = {},
  check: Partial<CheckInput> = {},
): CommandEvaluationInput {
  const base = { 'catalog/foo/catalog.yaml': [buildPackageBlob('foo')] }
  return {
    check: {
      snapshot: createTestPullSnapshot({
        author: getGitHubAccount('alice'),
        head: headShaA,
        comments,
        ...snapshot,
      }),
      config: defaultConfig,
      layout: { catalogs: [{ root: 'catalog' }] },
      change: computeCatalogChange(base, { 'catalog/foo/catalog.yaml': [buildPackageBlob('foo', 'fast')] }),
      basePaths: ['catalog/foo/catalog.yaml', 'config.yaml', 'operators/foo/ci.yaml'],
      ownerFiles: {
        base: new Map([
          ['operators/foo/ci.yaml', 'reviewers: [olga]'],
          ['config.yaml', 'maintainers: [maria]'],
        ]),
        result: new Map(),
      },
      approvals: [],
      epoch: 0,
      ...check,
    },
    shown: [{ head: headShaA, epoch: 0, at: formatTimestampAtMinute(5), change: 'c' }],
    change: 'c',
    records: [],
    ...more,
  }
}

export type LookupResult = LookupResultByKind[keyof LookupResultByKind]
export function answerLookup(question: LookupRequest): LookupResult {
  if (question.kind === 'user') {
    const person = githubAccountByName[question.login]
    return person ? { kind: 'person', person } : { kind: 'nobody' }
  }
  if (question.kind === 'comment') return { kind: 'unedited' }
  return question.kind === 'role' ? { kind: 'role', role: 'read' } : { kind: 'no' }
}

/** Answers the lookups of the commands until there are no new ones. */
export function decideAll(
  given: CommandEvaluationInput,
  answer: (question: LookupRequest) => LookupResult = answerLookup,
) {
  const known = new Map<string, LookupResult>()
  for (let round = 0; round < 6; round += 1)
    for (const question of collectCommandLookups(given, createLookupResults(known)))
      known.set(toLookupKey(question), answer(question))
  return decideCommands(given, createLookupResults(known))
}
