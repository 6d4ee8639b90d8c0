// The commits of an example and the other open pull requests, from `_case.json`, as Git and GitHub would report them.
// The App's own code parses messages, headers, and sizes. This module contains no catalog rules.
import { createHash } from 'node:crypto'
import {
  maxPushedFileBytes,
  maxIncomingCommits,
  type IncomingCommits,
} from '../../src/pull-request/snapshot.ts'
import {
  toBlobSha,
  toCommitSha,
  toPullNumber,
  type BlobSha,
  type CommitSha,
} from '../../src/pull-request/ids.ts'
import { parseCommitMessageFields } from '../../src/adapters/git/commits.ts'
import type { OpenPullSummary } from '../../src/ports/forge.ts'
import { createExampleAccount } from './example-people.ts'
import type { ExampleCaseSettings, ExampleCommit, ExamplePullRequest } from './cases.ts'

/** The tip of the pull request's branch. */
export const exampleHeadSha = toCommitSha('a'.repeat(40))

type ExampleCommitAndPullSettings = Pick<
  ExampleCaseSettings,
  'commits' | 'olderCommits' | 'openPulls' | 'demandsSignatures'
>

/** The commits that a merge of the pull request makes reachable, as far as Git inspects them. */
export function createPullRequestCommits({
  commits = [{}],
  olderCommits = 0,
}: ExampleCommitAndPullSettings): IncomingCommits {
  const all = [...commits, ...Array.from({ length: olderCommits }, (): ExampleCommit => ({}))]
  if (all.length > maxIncomingCommits) return { isWhole: false, commits: [], largeFiles: [] }
  return {
    isWhole: true,
    commits: all.map((commit, at) => ({
      id: toExampleCommitSha(commit, at),
      editsWorkflows: commit.editsWorkflows ?? false,
      ...parseCommitMessageFields(Buffer.from(formatCommitObject(commit, at))),
    })),
    // The files of a single commit are in the merged tree, so Git is not asked about them.
    largeFiles: all.length < 2 ? [] : all.flatMap(listLargeBlobShas),
  }
}

function listLargeBlobShas({ files = {} }: ExampleCommit): readonly BlobSha[] {
  return Object.entries(files)
    .filter(([, size]) => size > maxPushedFileBytes)
    .map(([path]) => toBlobSha(hashSha1(path)))
}

/** The other open pull requests. A head that is not among the commits exists elsewhere. */
export function createOpenPullSummaries({
  commits = [],
  openPulls = {},
}: ExampleCommitAndPullSettings): readonly OpenPullSummary[] {
  return Object.entries(openPulls).map(
    ([number, { author, baseRef = 'main', draft = false, labels = [] }]) => {
      const at = commits.findIndex(({ headOf }) => headOf === Number(number))
      const commit = commits[at]
      return {
        pull: toPullNumber(Number(number)),
        head: commit ? toExampleCommitSha(commit, at) : toCommitSha(hashSha1(`head of ${number}`)),
        baseRef,
        author: createExampleAccount(author).id,
        draft,
        labels,
        updatedAt: '2026-01-01T00:00:00Z',
      }
    },
  )
}

/** A description of the example's commits, newest first, and of the other open pull requests. One line each. */
export function describeExampleCommitsAndPulls(history: ExampleCommitAndPullSettings): readonly string[] {
  const { commits = [], olderCommits = 0, openPulls = {}, demandsSignatures = false } = history
  return [
    ...commits.map(describeExampleCommit),
    ...(olderCommits === 0 ? [] : [`and ${olderCommits} older ones`]),
    ...Object.entries(openPulls).map(describeExamplePullRequest),
    ...(demandsSignatures ? ['The base branch requires signed commits.'] : []),
  ]
}

function describeExampleCommit(commit: ExampleCommit, at: number): string {
  const { message, headOf, encoding, isSigned = true, editsWorkflows = false, files = {} } = commit
  const remarks = [
    ...(headOf === undefined ? [] : [`the head of pull request ${headOf}`]),
    ...(encoding === undefined ? [] : [`encoding ${encoding}`]),
    ...(isSigned ? [] : ['not signed']),
    ...(editsWorkflows ? ['edits .github/workflows'] : []),
    ...Object.entries(files).map(([path, size]) => `${path} has ${size} bytes`),
  ]
  const quotedMessage = message === undefined ? '' : ` ${JSON.stringify(message)}`
  return `${toExampleCommitSha(commit, at).slice(0, 12)}${quotedMessage}${remarks.map((remark) => ` (${remark})`).join('')}`
}

function describeExamplePullRequest([number, { author, baseRef, draft = false, labels = [] }]: [
  string,
  ExamplePullRequest,
]): string {
  const branch = baseRef === undefined ? '' : ` for the branch ${baseRef}`
  const remarks = [...(draft ? ['a draft'] : []), ...labels.map((label) => `labelled "${label}"`)]
  return `Pull request ${number} of ${author}${branch} is open${remarks.map((remark) => `, ${remark}`).join('')}.`
}

function toExampleCommitSha(commit: ExampleCommit, at: number): CommitSha {
  return at === 0 ? exampleHeadSha : toCommitSha(hashSha1(formatCommitObject(commit, at)))
}

/** A commit object. The index distinguishes it from identical commits. */
function formatCommitObject(
  { message = 'Say what it does', encoding, isSigned = true }: ExampleCommit,
  at: number,
): string {
  const identity = `alice <alice@example.com> ${1_767_225_600 - at} +0000`
  const headers = [
    `tree ${'2'.repeat(40)}`,
    `author ${identity}`,
    `committer ${identity}`,
    ...(encoding === undefined ? [] : [`encoding ${encoding}`]),
    ...(isSigned ? ['gpgsig -----BEGIN SSH SIGNATURE-----', ' -----END SSH SIGNATURE-----'] : []),
  ]
  return `${headers.join('\n')}\n\n${message}\n`
}

function hashSha1(text: string): string {
  return createHash('sha1').update(text).digest('hex')
}
