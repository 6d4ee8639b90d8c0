// The only push there is. It moves one branch from exactly the permit's base to exactly the permit's commit, or it
// changes nothing; and it says which, or says that it does not know.
import { commitSha } from '../change/ids.ts'
import { isMergePermit, type MergePermit } from '../gate/merge-permit.ts'
import type { LandResult } from '../ports/repository.ts'
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
 * See Repository.land. Throws GitError `refused` for what is not a permit, or whose commit is not the merge of its
 * base and head with its tree; `unauthorized`, `unreachable` and the like when the server was not even asked to
 * change something; `outcome-unknown` when it was asked and did not say what it did.
 */
export async function land(options: LandOptions, permit: MergePermit): Promise<LandResult> {
  if (!isMergePermit(permit)) throw new GitError('refused', 'landing needs a merge permit')
  const { landing } = permit
  const { repository } = options
  if (
    repository &&
    (repository.owner !== landing.repository.owner || repository.name !== landing.repository.name)
  )
    throw new GitError('refused', 'the permit is for another repository')
  const ref = branchRef(landing.baseRef)
  const base = commitSha(landing.base)
  const commit = commitSha(landing.commit)
  // The lease below makes git skip its own fast-forward check, so it is made here: first parent is the base.
  const { parents, tree } = await readCommit(options.objects, commit)
  if (parents.length !== 2 || parents[0] !== base || parents[1] !== landing.head || tree !== landing.tree)
    throw new GitError('refused', 'the permit does not describe its commit')
  const output = await push(options, ref, base, commit)
  return outcome(output, ref)
}

async function push(options: LandOptions, ref: string, base: string, commit: string): Promise<GitOutput> {
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
        `--force-with-lease=${ref}:${base}`,
        '--end-of-options',
        remote.url,
        `${commit}:${ref}`,
      ],
      directory,
      remote,
      timeout,
      signal,
      limit: 1024 * 1024,
      answers: [0, 1, 128],
    })
  } catch (cause) {
    // Before git ran, nothing happened; ended by us or by the system in the middle, the server may have moved the branch.
    const knownToBeNothing = isGitError(cause, 'unauthorized') || isGitError(cause, 'unsupported')
    if (knownToBeNothing || !(cause instanceof GitError)) throw cause
    throw new GitError('outcome-unknown', `${cause.message}; the branch may have moved`, { cause })
  }
}

/** A server that lost the race itself words it as a lock it could not take. */
const lostRace =
  /cannot lock ref|failed to update ref|is at [0-9a-f]+ but expected|stale info|fetch first|non-fast-forward/

/** What git's report (`flag TAB from:to TAB summary (reason)`) and its words say about the branch. */
function outcome({ stdout, stderr, code }: GitOutput, ref: string): LandResult {
  const report = stdout
    .toString('utf8')
    .split('\n')
    .map((line) => line.split('\t'))
    .find(([flag, refs]) => flag?.length === 1 && refs?.endsWith(`:${ref}`))
  if (!report) return withoutReport(stderr, code)
  const [flag = '', , summary = ''] = report
  // '=': the branch is at our commit already, so an earlier push with an unknown outcome had arrived.
  if (flag === ' ' || flag === '=') return { kind: 'landed' }
  if (flag === '!' && summary.startsWith('[rejected]') && lostRace.test(summary))
    return { kind: 'base-moved' }
  if (flag === '!' && summary.startsWith('[remote rejected]')) {
    if (lostRace.test(summary)) return { kind: 'base-moved' }
    return { kind: 'refused', reason: reason(summary.slice('[remote rejected]'.length), stderr) }
  }
  throw new GitError('outcome-unknown', `git push: ${plain(`${summary} ${stderr}`)}`)
}

function withoutReport(stderr: string, code: number): LandResult {
  const words = `git push: exit ${code}: ${plain(stderr)}`
  // The words for a failure of the first request, which only asks for the refs. `RPC failed` is the second one.
  const atDiscovery =
    !stderr.includes('RPC failed') &&
    /^fatal: (?:unable to access|Authentication failed|could not read |repository '|transport )/m.test(stderr)
  if (!atDiscovery) throw new GitError('outcome-unknown', words)
  if (/error: 403\b/.test(stderr))
    return { kind: 'refused', reason: reason('the server answered 403', stderr) }
  throw new GitError(classify(stderr), words)
}

const mostLines = 200

/** What git and the server say of it, a line each: an indented one belongs to the line above it. */
function reason(summary: string, stderr: string): string {
  const remote = stderr
    .split('\n')
    .filter((line) => line.startsWith('remote: '))
    .map((line) => line.slice('remote: '.length))
  return [summary.trim(), ...remote.slice(0, mostLines)]
    .map((line) => `${/^\s/.test(line) ? ' ' : ''}${plain(line)}`)
    .join('\n')
}
