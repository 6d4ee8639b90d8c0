// The in-memory Repository port: a mirror with the server's objects and separate refs, as of the last fetch. Object
// reads return immediately because objects never change. Fetches and pushes wait for their turn.
import type { CommitSha, PullNumber } from '../../src/pull-request/ids.ts'
import { maxIncomingCommits, type IncomingCommit } from '../../src/pull-request/snapshot.ts'
import type { PathChange } from '../../src/pull-request/change.ts'
import { findMergePermitChainProblem } from '../../src/policy/batch.ts'
import { isMergePermit, type MergePermit } from '../../src/policy/merge-permit.ts'
import { formatTemporaryBranchName } from '../../src/policy/merge-strategy.ts'
import { GitError } from '../../src/adapters/git/git-error.ts'
import { computeMergeCommitDate } from '../../src/adapters/git/merge.ts'
import type { GitRepository, RejectedPush } from '../../src/ports/repository.ts'
import {
  findAncestors,
  hasAncestor,
  listFirstParentChain,
  findMergeBases,
  isOnFirstParentChain,
} from '../git/history.ts'
import { areTreeEntriesEqual, mergeTrees } from '../git/merge.ts'
import type { GitObjects } from '../git/git-objects.ts'
import type { CallDestination } from '../scheduler.ts'
import type { SimulatedGitHub } from '../world/simulated-github.ts'
import { parseCommitMessageFields } from '../../src/adapters/git/commits.ts'

/** Waits for its turn, and then runs atomically. */
export type SimulatedCallScheduler = <T>(to: CallDestination, label: string, act: () => T) => Promise<T>

/** The refs of a mirror. They outlive the process because a mirror is on disk. */
export interface GitMirrorRefs {
  readonly branches: Map<string, CommitSha>
  readonly pulls: Map<PullNumber, CommitSha>
}

const botCommitIdentity = 'catalog-bot <catalog-bot@noreply.invalid>'

/** Reads that depend only on objects. */
export function createInMemoryGitObjectReader(
  objects: GitObjects,
): Omit<
  GitRepository,
  | 'fetch'
  | 'tip'
  | 'pullHead'
  | 'fetchTestMerge'
  | 'pushMerge'
  | 'pushMergeBatch'
  | 'createStagingBranch'
  | 'deleteStagingBranch'
  | 'markCorrupt'
> {
  return {
    merge: async (base, head, message) => {
      const merged = mergeTrees(objects, base, head)
      if (merged.kind !== 'clean') return merged
      const [ours, theirs] = [objects.commit(base), objects.commit(head)]
      const time = computeMergeCommitDate(ours.time, theirs.time)
      const { tree } = merged
      return {
        kind: 'clean',
        tree,
        commit: objects.addCommit({ tree, parents: [base, head], message, by: botCommitIdentity, time }),
      }
    },
    treeOf: async (commit) => objects.commit(commit).tree,
    parentsOf: async (commit) => objects.commit(commit).parents,
    messageOf: async (commit) => objects.commit(commit).message,
    contains: async (commit, ancestor) => hasAncestor(objects, commit, ancestor),
    mergeBases: async (one, other) => findMergeBases(objects, one, other),
    wasTip: async (tip, commit) => isOnFirstParentChain(objects, tip, commit),
    firstParents: async (tip, since) => listFirstParentChain(objects, tip, since),
    readIncomingCommits: async (base, head) => {
      const known = findAncestors(objects, base)
      const commits = [...findAncestors(objects, head)].filter((commit) => !known.has(commit))
      if (commits.length > maxIncomingCommits) return { isWhole: false, commits: [], largeFiles: [] }
      return {
        isWhole: true,
        commits: commits.map((id) => toIncomingCommit(objects, base, id)),
        largeFiles: [],
      }
    },
    diff: async (before, after) => {
      const [from, to] = [objects.tree(before), objects.tree(after)]
      const changes: PathChange[] = []
      for (const path of new Set([...from.keys(), ...to.keys()])) {
        const [was, is] = [from.get(path), to.get(path)]
        if (!areTreeEntriesEqual(was, is))
          changes.push({ path, ...(was && { before: was }), ...(is && { after: is }) })
      }
      return changes.toSorted((a, b) => (a.path < b.path ? -1 : 1))
    },
    list: async (tree, prefix = '') =>
      [...objects.tree(tree)]
        .filter(([path]) => prefix === '' || path === prefix || path.startsWith(`${prefix}/`))
        .map(([path, entry]) => ({ path, ...entry })),
    entry: async (tree, path) => objects.tree(tree).get(path),
    read: async (blob, limit = Infinity) => {
      const bytes = objects.blob(blob)
      if (bytes.length > limit) throw new GitError('too-large', `blob ${blob} has ${bytes.length} bytes`)
      return bytes
    },
  }
}

function toIncomingCommit(objects: GitObjects, base: CommitSha, id: CommitSha): IncomingCommit {
  const { message, parents, tree } = objects.commit(id)
  const stateOf = (commit: CommitSha) => computeWorkflowFilesFingerprint(objects, objects.commit(commit).tree)
  const before = new Set(parents.length === 0 ? [''] : parents.map(stateOf))
  // A merge may take the attributes from the base.
  const allowed = before.size === 1 ? before : new Set(findMergeBases(objects, base, id).map(stateOf))
  return {
    id,
    editsWorkflows: !allowed.has(computeWorkflowFilesFingerprint(objects, tree)),
    ...parseCommitMessageFields(Buffer.from(`tree ${tree}\n\n${message}`)),
  }
}

function computeWorkflowFilesFingerprint(
  objects: GitObjects,
  tree: Parameters<GitObjects['tree']>[0],
): string {
  const files = [...objects.tree(tree)].filter(([path]) => path.startsWith('.github/workflows/'))
  return files.map(([path, { oid }]) => `${path} ${oid}`).join('\n')
}

export interface InMemoryRepositoryHooks {
  /** A push by catalog-bot is about to move the base branch. */
  readonly onMerge: (permit: MergePermit, commit: CommitSha, on: CommitSha) => void
}

export function createInMemoryRepository(
  server: SimulatedGitHub,
  mirrorRefs: GitMirrorRefs,
  schedule: SimulatedCallScheduler,
  { onMerge }: InMemoryRepositoryHooks,
): GitRepository {
  const { objects } = server
  const storeRef = <K>(refs: Map<K, CommitSha>, key: K, tip: CommitSha | undefined) =>
    tip === undefined ? void refs.delete(key) : void refs.set(key, tip)
  const rejectedPush = (text: string): RejectedPush => ({
    kind: 'refused',
    reason: `protected branch hook declined ${text}`,
    text: `protected branch hook declined\nerror: GH006: Protected branch update failed for refs/heads/main.\nerror: ${text}`,
  })
  function checked(permit: MergePermit, commit: CommitSha): CommitSha {
    if (!isMergePermit(permit)) throw new GitError('refused', 'merging needs a merge permit')
    const { base, head, tree } = permit.merge
    const { parents, tree: its } = objects.commit(commit)
    if (parents.length !== 2 || parents[0] !== base || parents[1] !== head || its !== tree)
      throw new GitError('refused', 'the permit does not describe its commit')
    return commit
  }
  return {
    ...createInMemoryGitObjectReader(objects),
    fetch: (branch, pull) =>
      schedule('git', `fetch ${branch}${pull === undefined ? '' : ` #${pull}`}`, () => {
        storeRef(mirrorRefs.branches, branch, server.tip(branch))
        if (pull !== undefined) storeRef(mirrorRefs.pulls, pull, server.pull(pull)?.head)
      }),
    tip: async (branch) => mirrorRefs.branches.get(branch),
    pullHead: async (pull) => mirrorRefs.pulls.get(pull),
    fetchTestMerge: (pull) =>
      schedule('git', `fetch the test merge of #${pull}`, () => {
        const { head, baseRef } = server.pull(pull) ?? {}
        const base = baseRef === undefined ? undefined : server.tip(baseRef)
        if (head === undefined || base === undefined) return undefined
        const merged = mergeTrees(objects, base, head)
        if (merged.kind !== 'clean') return undefined
        return server.commit(merged.tree, [base, head], 'Test merge')
      }),
    pushMerge: (permit, as) => {
      const commit = checked(permit, as ?? permit.merge.commit)
      const { baseRef, base } = permit.merge
      return schedule('push', `push ${commit.slice(0, 7)} to ${baseRef}`, () => {
        const tip = server.tip(baseRef)
        // An earlier push, whose answer was lost, had arrived.
        if (tip === commit) return { kind: 'landed' }
        if (tip !== base) return { kind: 'base-moved' }
        const rejection = server.findRejectionReason(baseRef, commit)
        if (rejection !== undefined) return rejectedPush(rejection)
        onMerge(permit, commit, tip)
        server.moveBranch(baseRef, commit, server.bot)
        return { kind: 'landed' }
      })
    },
    pushMergeBatch: (permits) => {
      const why = findMergePermitChainProblem(permits)
      if (why !== undefined) throw new GitError('refused', why)
      const commits = permits.map((permit) => checked(permit, permit.merge.commit))
      const [first, last] = [permits[0], commits.at(-1)]
      if (first === undefined || last === undefined) throw new GitError('refused', 'there is no permit')
      const { baseRef, base } = first.merge
      const cars = permits.map(({ merge }) => `#${merge.pull}`).join(', ')
      return schedule('push', `push a batch of ${cars} to ${baseRef}`, () => {
        const tip = server.tip(baseRef)
        if (tip === last) return { kind: 'landed' }
        if (tip !== base) return { kind: 'base-moved' }
        const rejection = server.findRejectionReason(baseRef, last)
        if (rejection !== undefined) return rejectedPush(rejection)
        let on = tip
        for (const [at, permit] of permits.entries()) {
          const commit = commits[at] ?? last
          onMerge(permit, commit, on)
          on = commit
        }
        server.moveBranch(baseRef, last, server.bot)
        return { kind: 'landed' }
      })
    },
    createStagingBranch: (permit) => {
      const commit = checked(permit, permit.merge.commit)
      const branch = formatTemporaryBranchName(permit.merge)
      return schedule('git', `push ${commit.slice(0, 7)} to ${branch}`, () => {
        const tip = server.tip(branch)
        if (tip !== undefined && tip !== commit) return { kind: 'taken' }
        server.moveBranch(branch, commit, server.bot)
        return { kind: 'staged' }
      })
    },
    deleteStagingBranch: (branch, commit) =>
      schedule('git', `remove ${branch}`, () => {
        const tip = server.tip(branch)
        if (tip === commit) server.moveBranch(branch, undefined, server.bot)
        return tip === undefined || tip === commit
      }),
  }
}
