// Contains the only pushes. One push moves a base branch from the permit's base to the permit's commit (or to a commit
// with the same parents and tree, or along a chain of permits), or changes nothing. It reports which of these happened,
// or that the result is unknown. The other two pushes create and delete a temporary branch with an exact commit.
import { toCommitSha } from '../../pull-request/ids.ts'
import { isMergePermit, type ValidatedMerge, type MergePermit } from '../../policy/merge-permit.ts'
import { parseTemporaryBranchName, formatTemporaryBranchName } from '../../policy/merge-strategy.ts'
import { findMergePermitChainProblem } from '../../policy/batch.ts'
import type { CommitSha } from '../../pull-request/ids.ts'
import type { MergePushResult, RejectedPush, StagingPushResult } from '../../ports/repository.ts'
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import { GitError, isGitError, classifyGitError } from './git-error.ts'
import {
  fetchAdvertisedRefs,
  formatPktLine,
  maxPackBytes,
  parsePktLines,
  postToGitServer,
  readBand,
} from './fetch.ts'
import {
  readGitCredential,
  sanitizeGitOutput,
  type GitRemote,
  toBranchRef,
  toMirrorBranchRef,
} from './remote.ts'
import { readCommit } from './commits.ts'
import type { GitObjectReader } from './object-reader.ts'
import { runGit, type GitOutput } from './run-git.ts'

export interface MergePushOptions {
  readonly directory: string
  readonly remote: GitRemote
  readonly timeout: number
  readonly signal: AbortSignal
  readonly objects: GitObjectReader
  readonly repository: RepositoryName | undefined
}

/**
 * See GitRepository.pushMerge. Throws GitError `refused` for a non-permit or a commit that isn't its base and head's merge with
 * its tree; `unauthorized`, `unreachable` and the like before the server was asked to change anything;
 * `outcome-unknown` when it gave no clear answer.
 */
export async function pushMerge(
  options: MergePushOptions,
  permit: MergePermit,
  as?: CommitSha,
): Promise<MergePushResult> {
  const planned = requireValidMergePermit(options, permit)
  const commit = as ?? planned.commit
  await validateMergeCommit(options, planned, commit)
  return pushCommit(options, planned, commit, [planned.head])
}

/** See GitRepository.pushMergeBatch. Throws GitError as pushMerge() does; `refused` also for permits that aren't a chain. */
export async function pushMergeBatch(
  options: MergePushOptions,
  permits: readonly MergePermit[],
): Promise<MergePushResult> {
  for (const permit of permits) {
    const planned = requireValidMergePermit(options, permit)
    await validateMergeCommit(options, planned, planned.commit)
  }
  const why = findMergePermitChainProblem(permits)
  const [first, last] = [permits[0]?.merge, permits.at(-1)?.merge]
  if (why !== undefined || first === undefined || last === undefined)
    throw new GitError('refused', `the batch cannot be pushed: ${why ?? 'a merge permit is missing'}`)
  const heads = permits.map(({ merge }) => merge.head)
  return pushCommit(options, first, last.commit, heads)
}

/** The push skips the fast-forward check, but every commit's first parent was checked. */
async function pushCommit(
  options: MergePushOptions,
  { baseRef, base }: ValidatedMerge,
  to: CommitSha,
  heads: readonly CommitSha[],
): Promise<MergePushResult> {
  const ref = toBranchRef(baseRef)
  const update = { ref, from: toCommitSha(base), to: toCommitSha(to), onServer: [base, ...heads] }
  const result = parsePushOutcome(await runGitPush(options, update), ref)
  if (result.kind === 'landed') {
    // The next fetch then finds the branch unchanged. If another fetch moved it already, that fetch is right.
    const { directory, timeout, signal } = options
    const args = ['update-ref', toMirrorBranchRef(baseRef), update.to, update.from]
    await runGit({ args, directory, timeout, signal, limit: 1000 }).catch(() => undefined)
  }
  return result
}

/** See GitRepository.createStagingBranch. Throws GitError `refused` as pushMerge() does, and others when the outcome is unknown. */
export async function createStagingBranch(
  options: MergePushOptions,
  permit: MergePermit,
): Promise<StagingPushResult> {
  const planned = requireValidMergePermit(options, permit)
  await validateMergeCommit(options, planned, planned.commit)
  const ref = toBranchRef(formatTemporaryBranchName(planned))
  // An empty lease requires that the branch doesn't exist or already contains this commit.
  const output = await runGitPush(options, { ref, from: '', to: planned.commit })
  // '*': a new branch.
  const result = parsePushOutcome(output, ref, ['=', '*'])
  switch (result.kind) {
    case 'landed':
      return { kind: 'staged' }
    case 'refused':
      return result
    case 'base-moved':
      return { kind: 'taken' }
  }
}

/** See GitRepository.deleteStagingBranch. Throws GitError unless the branch doesn't exist or has another commit. */
export async function deleteStagingBranch(
  options: MergePushOptions,
  branch: string,
  commit: CommitSha,
): Promise<boolean> {
  if (parseTemporaryBranchName(branch) === undefined)
    throw new GitError('refused', `not a temporary branch: ${branch}`)
  const ref = toBranchRef(branch)
  const output = await runGitPush(options, { ref, from: toCommitSha(commit), to: '' })
  if (output.stderr.includes('remote ref does not exist')) return true
  const result = parsePushOutcome(output, ref, ['-'])
  if (result.kind === 'refused')
    throw new GitError('failed', `${branch} could not be removed: ${result.reason}`)
  return result.kind === 'landed'
}

function requireValidMergePermit({ repository }: MergePushOptions, permit: MergePermit): ValidatedMerge {
  if (!isMergePermit(permit)) throw new GitError('refused', 'pushing a merge requires a merge permit')
  const { merge } = permit
  if (
    repository &&
    (repository.owner !== merge.repository.owner || repository.name !== merge.repository.name)
  )
    throw new GitError('refused', 'the permit is for another repository')
  return merge
}

async function validateMergeCommit(
  { objects }: MergePushOptions,
  planned: ValidatedMerge,
  commit: CommitSha,
): Promise<void> {
  const { parents, tree } = await readCommit(objects, toCommitSha(commit))
  const [base, head] = parents
  if (parents.length !== 2 || base !== planned.base || head !== planned.head || tree !== planned.tree)
    throw new GitError('refused', 'the permit does not match its commit')
}

interface RefUpdate {
  readonly ref: string
  /** The required state before the push, and the state after it. Empty: no such ref. */
  readonly from: CommitSha | ''
  readonly to: CommitSha | ''
  /** Commits that the server has. If present, the push needs no Git process for HTTP where possible. */
  readonly onServer?: readonly CommitSha[]
}

async function runGitPush(options: MergePushOptions, update: RefUpdate): Promise<GitOutput> {
  const { directory, remote, timeout, signal } = options
  const { ref, from, to } = update
  try {
    const output = await pushOverHttp(options, update)
    if (output !== undefined) return output
    return await runGit({
      args: [
        'push',
        '--porcelain',
        '--no-verify',
        '--no-follow-tags',
        '--no-signed',
        '--recurse-submodules=no',
        `--force-with-lease=${ref}:${from}`,
        '--end-of-options',
        remote.url,
        `${to}:${ref}`,
      ],
      directory,
      remote,
      timeout,
      signal,
      limit: 1024 * 1024,
      answers: [0, 1, 128],
    })
  } catch (cause) {
    // Before git ran, nothing happened. After an interruption, the server may have moved the branch.
    const knownToBeNothing = isGitError(cause, 'unauthorized') || isGitError(cause, 'unsupported')
    if (knownToBeNothing || !(cause instanceof GitError)) throw cause
    throw new GitError('outcome-unknown', `${cause.message}; the branch may have moved`, { cause })
  }
}

/**
 * Pushes with one request after the one that lists the ref. `git push` sends three, over another connection, and starts
 * six processes. The server compares `from` with the ref. Returns what git would print. Undefined if nothing was sent,
 * or if the server changed nothing and Git can learn more.
 */
async function pushOverHttp(
  { directory, remote, timeout, signal }: MergePushOptions,
  { ref, from, to, onServer }: RefUpdate,
): Promise<GitOutput | undefined> {
  if (onServer === undefined) return undefined
  const stopping = AbortSignal.any([signal, AbortSignal.timeout(timeout)])
  const [refs, pack] = await Promise.all([
    fetchAdvertisedRefs(remote, [ref], stopping),
    runGit({
      args: ['pack-objects', '--revs', '--thin', '--stdout', '-q'],
      input: [to, ...onServer.map((commit) => `^${toCommitSha(commit)}`), ''].join('\n'),
      directory,
      timeout,
      signal,
      limit: maxPackBytes,
    }).catch(() => undefined),
  ])
  if (refs?.get(ref) !== from || pack === undefined) return undefined
  const command = formatPktLine(`${from} ${to} ${ref}\0 report-status side-band-64k agent=catalog-bot`)
  const request = Buffer.concat([Buffer.from(`${command}0000`), pack.stdout])
  const credential = await readGitCredential(remote)
  const response = await postToGitServer(remote, 'receive-pack', request, credential, stopping).catch(
    (cause: unknown) => {
      throw new GitError('failed', 'git push: the response was lost', { cause })
    },
  )
  if (typeof response === 'number' && response < 500) return undefined
  const bands = (response instanceof Buffer && parsePktLines(response)) || []
  const report = parsePktLines(readBand(bands, 1))?.map((line) => line.toString().trimEnd()) ?? []
  const rejection = report.find((line) => line.startsWith(`ng ${ref} `))
  if (rejection === undefined && !report.includes(`ok ${ref}`))
    throw new GitError('failed', 'git push: the response cannot be parsed')
  if (rejection !== undefined && /unpacker error|missing necessary objects/.test(rejection)) return undefined
  const flag = rejection === undefined ? ' ' : '!'
  const summary = rejection && `[remote rejected] (${rejection.slice(`ng ${ref} `.length)})`
  const stderr = readBand(bands, 2)
    .toString()
    .replace(/^(?=.)/gm, 'remote: ')
  return { code: 0, stdout: Buffer.from(`${flag}\t${to}:${ref}\t${summary ?? ''}\n`), stderr }
}

/** A server that lost the race reports a lock it couldn't take. */
const pushRaceErrorPattern =
  /cannot lock ref|failed to update ref|is at [0-9a-f]+ but expected|stale info|fetch first|non-fast-forward/

/** Reads the branch's result from git's report (`flag TAB from:to TAB summary (reason)`). */
function parsePushOutcome(
  { stdout, stderr, code }: GitOutput,
  ref: string,
  moved = [' ', '='],
): MergePushResult {
  const report = stdout
    .toString('utf8')
    .split('\n')
    .map((line) => line.split('\t'))
    .find(([flag, refs]) => flag?.length === 1 && refs?.endsWith(`:${ref}`))
  if (!report) return classifyPushErrorFromStderr(stderr, code)
  const [flag = '', , summary = ''] = report
  // '=': an earlier push with an unknown outcome had arrived.
  if (moved.includes(flag)) return { kind: 'landed' }
  if (flag === '!' && summary.startsWith('[rejected]') && pushRaceErrorPattern.test(summary))
    return { kind: 'base-moved' }
  if (flag === '!' && summary.startsWith('[remote rejected]')) {
    if (pushRaceErrorPattern.test(summary)) return { kind: 'base-moved' }
    return toRejectedPushResult(summary.slice('[remote rejected]'.length), stderr)
  }
  throw new GitError('outcome-unknown', `git push: ${sanitizeGitOutput(`${summary} ${stderr}`)}`)
}

function classifyPushErrorFromStderr(stderr: string, code: number): MergePushResult {
  const message = `git push: exit ${code}: ${sanitizeGitOutput(stderr)}`
  // A failed first request, which only lists the refs. `RPC failed` is the second one.
  const atDiscovery =
    !stderr.includes('RPC failed') &&
    /^fatal: (?:unable to access|Authentication failed|could not read |repository '|transport )/m.test(stderr)
  if (!atDiscovery) throw new GitError('outcome-unknown', message)
  if (/error: 403\b/.test(stderr)) return toRejectedPushResult('the server returned HTTP 403', stderr)
  throw new GitError(classifyGitError(stderr), message)
}

/** A rejection has some lines; longer output is cut. */
const maxPushRejectionLines = 100

function toRejectedPushResult(summary: string, stderr: string): RejectedPush {
  const remote = stderr
    .split('\n')
    .filter((line) => line.startsWith('remote: '))
    .map((line) => line.slice('remote: '.length))
  const text = [summary.trim(), ...remote]
    .slice(0, maxPushRejectionLines)
    .map((line) => `${/^[ \t]/.test(line) ? '  ' : ''}${sanitizeGitOutput(line)}`)
  return { kind: 'refused', reason: sanitizeGitOutput([summary, ...remote].join(' ')), text: text.join('\n') }
}
