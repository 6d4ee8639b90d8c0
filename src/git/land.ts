// The only pushes. One moves a base branch from the permit's base to its commit (or one with its parents and tree, or
// along a chain of permits) or changes nothing, and reports which, or that it doesn't know. Two create and delete a
// temporary branch with an exact commit.
import { commitSha } from '../change/ids.ts'
import { isMergePermit, type Landing, type MergePermit } from '../gate/merge-permit.ts'
import { readTemporaryBranch, temporaryBranch } from '../gate/temporary-branch.ts'
import { whyNoTrain } from '../gate/train.ts'
import type { CommitSha } from '../change/ids.ts'
import type { LandResult, RefusedPush, StageResult } from '../ports/repository.ts'
import type { RepositoryName } from '../change/snapshot.ts'
import { classify } from './classify.ts'
import { GitError, isGitError } from './git-error.ts'
import { readCommit } from './commits.ts'
import type { Objects } from './object-reader.ts'
import { plain } from './redact.ts'
import { branchRef } from './ref-names.ts'
import type { Remote } from './remote.ts'
import { runGit, type GitOutput } from './run-git.ts'

export interface LandOptions {
  readonly directory: string
  readonly remote: Remote
  readonly timeout: number
  readonly signal: AbortSignal
  readonly objects: Objects
  readonly repository: RepositoryName | undefined
}

/**
 * See Repository.land. Throws GitError `refused` for a non-permit or a commit that isn't its base and head's merge with
 * its tree; `unauthorized`, `unreachable` and the like before the server was asked to change anything;
 * `outcome-unknown` when it gave no clear answer.
 */
export async function land(options: LandOptions, permit: MergePermit, as?: CommitSha): Promise<LandResult> {
  const landing = checkPermit(options, permit)
  const ref = branchRef(landing.baseRef)
  const base = commitSha(landing.base)
  // The lease below makes git skip its fast-forward check, so it is made here: first parent is the base.
  const commit = as ?? landing.commit
  await checkCommit(options, landing, commit)
  const output = await push(options, `--force-with-lease=${ref}:${base}`, `${commit}:${ref}`)
  return outcome(output, ref)
}

/** See Repository.landTogether. Throws GitError as land() does; `refused` also for permits that aren't a chain. */
export async function landTogether(
  options: LandOptions,
  permits: readonly MergePermit[],
): Promise<LandResult> {
  for (const permit of permits) {
    const landing = checkPermit(options, permit)
    await checkCommit(options, landing, landing.commit)
  }
  const why = whyNoTrain(permits)
  const [first, last] = [permits[0]?.landing, permits.at(-1)?.landing]
  if (why !== undefined || first === undefined || last === undefined)
    throw new GitError('refused', `no landing train: ${why ?? 'there is no permit'}`)
  const ref = branchRef(first.baseRef)
  const output = await push(
    options,
    `--force-with-lease=${ref}:${commitSha(first.base)}`,
    `${commitSha(last.commit)}:${ref}`,
  )
  return outcome(output, ref)
}

/** See Repository.stage. Throws GitError `refused` as land() does, and others when the outcome is unknown. */
export async function stage(options: LandOptions, permit: MergePermit): Promise<StageResult> {
  const landing = checkPermit(options, permit)
  await checkCommit(options, landing, landing.commit)
  const ref = branchRef(temporaryBranch(landing))
  // An empty lease: the branch must not exist, or must already hold this commit.
  const output = await push(options, `--force-with-lease=${ref}:`, `${landing.commit}:${ref}`)
  // '*': a new branch.
  const result = outcome(output, ref, ['=', '*'])
  switch (result.kind) {
    case 'landed':
      return { kind: 'staged' }
    case 'refused':
      return result
    case 'base-moved':
      return { kind: 'taken' }
  }
}

/** See Repository.unstage. Throws GitError unless the server says that the branch is gone or holds another commit. */
export async function unstage(options: LandOptions, branch: string, commit: CommitSha): Promise<boolean> {
  if (readTemporaryBranch(branch) === undefined)
    throw new GitError('refused', `not a temporary branch: ${branch}`)
  const ref = branchRef(branch)
  const output = await push(options, `--force-with-lease=${ref}:${commitSha(commit)}`, `:${ref}`)
  if (output.stderr.includes('remote ref does not exist')) return true
  const result = outcome(output, ref, ['-'])
  if (result.kind === 'refused') throw new GitError('failed', `${branch} is not removed: ${result.reason}`)
  return result.kind === 'landed'
}

function checkPermit({ repository }: LandOptions, permit: MergePermit): Landing {
  if (!isMergePermit(permit)) throw new GitError('refused', 'landing needs a merge permit')
  const { landing } = permit
  if (
    repository &&
    (repository.owner !== landing.repository.owner || repository.name !== landing.repository.name)
  )
    throw new GitError('refused', 'the permit is for another repository')
  return landing
}

async function checkCommit({ objects }: LandOptions, landing: Landing, commit: CommitSha): Promise<void> {
  const { parents, tree } = await readCommit(objects, commitSha(commit))
  const [base, head] = parents
  if (parents.length !== 2 || base !== landing.base || head !== landing.head || tree !== landing.tree)
    throw new GitError('refused', 'the permit does not describe its commit')
}

async function push(options: LandOptions, how: string, refspec: string): Promise<GitOutput> {
  const { directory, remote, timeout, signal } = options
  try {
    return await runGit({
      args: [
        'push',
        '--porcelain',
        '--no-verify',
        '--no-follow-tags',
        '--no-signed',
        '--recurse-submodules=no',
        how,
        '--end-of-options',
        remote.url,
        refspec,
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

/** A server that lost the race reports a lock it couldn't take. */
const lostRace =
  /cannot lock ref|failed to update ref|is at [0-9a-f]+ but expected|stale info|fetch first|non-fast-forward/

/** Reads the branch's result from git's report (`flag TAB from:to TAB summary (reason)`). */
function outcome({ stdout, stderr, code }: GitOutput, ref: string, moved = [' ', '=']): LandResult {
  const report = stdout
    .toString('utf8')
    .split('\n')
    .map((line) => line.split('\t'))
    .find(([flag, refs]) => flag?.length === 1 && refs?.endsWith(`:${ref}`))
  if (!report) return withoutReport(stderr, code)
  const [flag = '', , summary = ''] = report
  // '=': an earlier push with an unknown outcome had arrived.
  if (moved.includes(flag)) return { kind: 'landed' }
  if (flag === '!' && summary.startsWith('[rejected]') && lostRace.test(summary))
    return { kind: 'base-moved' }
  if (flag === '!' && summary.startsWith('[remote rejected]')) {
    if (lostRace.test(summary)) return { kind: 'base-moved' }
    return refused(summary.slice('[remote rejected]'.length), stderr)
  }
  throw new GitError('outcome-unknown', `git push: ${plain(`${summary} ${stderr}`)}`)
}

function withoutReport(stderr: string, code: number): LandResult {
  const words = `git push: exit ${code}: ${plain(stderr)}`
  // A failed first request, which only lists the refs. `RPC failed` is the second one.
  const atDiscovery =
    !stderr.includes('RPC failed') &&
    /^fatal: (?:unable to access|Authentication failed|could not read |repository '|transport )/m.test(stderr)
  if (!atDiscovery) throw new GitError('outcome-unknown', words)
  if (/error: 403\b/.test(stderr)) return refused('the server answered 403', stderr)
  throw new GitError(classify(stderr), words)
}

/** A refusal has some lines; longer output is cut. */
const mostLines = 100

function refused(summary: string, stderr: string): RefusedPush {
  const remote = stderr
    .split('\n')
    .filter((line) => line.startsWith('remote: '))
    .map((line) => line.slice('remote: '.length))
  const text = [summary.trim(), ...remote]
    .slice(0, mostLines)
    .map((line) => `${/^[ \t]/.test(line) ? '  ' : ''}${plain(line)}`)
  return { kind: 'refused', reason: plain([summary, ...remote].join(' ')), text: text.join('\n') }
}
