// The effects of ref changes: push webhooks, synchronized and merged pull requests, check suites. It compares the
// refs on disk with their last known values, so it does not matter whether Git, REST, or a test moved them.
import {
  commitTree,
  deleteRef,
  isAncestor,
  runGitForText,
  mergeTrees,
  readBranchesAndTags,
  setRef,
} from './git-store.ts'
import { findMergeCommitWithParent } from './loose-history.ts'
import { readLooseObjectsOrRunGit } from './loose-objects.ts'
import {
  dismissApprovalsAfterBaseMove,
  dismissApprovalsAfterHeadPush,
} from '../branch-rules/stale-approvals.ts'
import { toPullView } from '../views/pull-view.ts'
import { toPushedCommitView, readPushedCommits } from '../views/commit-view.ts'
import { toCheckSuiteView } from '../views/check-view.ts'
import { getRepositoryWebUrl } from '../views/repository-view.ts'
import { iterateAllPulls } from '../github-data.ts'
import type {
  MockAccount,
  MockApp,
  CheckSuite,
  GitHubPayload,
  MockPull,
  MockRepository,
} from '../github-data.ts'

const zeroSha = '0'.repeat(40)
// A push payload lists at most this many commits.
const maxPushPayloadCommits = 2048

/** Reads a repository's refs again, and triggers all the effects that GitHub would trigger. Call it in line. */
export async function processRefChanges(repo: MockRepository, by: MockAccount): Promise<void> {
  const { github } = repo
  const before = repo.knownRefs
  const after = await readBranchesAndTags(repo.path)
  repo.knownRefs = after
  github.queueDue(repo)
  for (const ref of new Set([...before.keys(), ...after.keys()])) {
    const old = before.get(ref)
    const now = after.get(ref)
    if (old === now) continue
    repo.pushedAt = github.timestamp()
    await emitPushEvent(repo, ref, old, now, by)
    if (!ref.startsWith('refs/heads/')) continue
    const branch = ref.slice('refs/heads/'.length)
    if (now !== undefined) await createCheckSuites(repo, now, branch, old ?? null, by)
    for (const pull of [...iterateAllPulls(github)].filter((it) => it.state === 'open')) {
      if (pull.headRepo === repo && pull.headRef === branch) await handlePullHeadMoved(pull, now, by)
      if (pull.repo === repo && pull.baseRef === branch && pull.state === 'open')
        await handlePullBaseMoved(pull, old, now, by)
    }
  }
}

async function emitPushEvent(
  repo: MockRepository,
  ref: string,
  old: string | undefined,
  now: string | undefined,
  by: MockAccount,
): Promise<void> {
  const { github } = repo
  if (![...github.installations.values()].some((it) => it.repositories.has(repo))) return
  const found = now === undefined ? [] : await readPushedCommits(repo.path, old, now, maxPushPayloadCommits)
  // Paths per commit can require one Git process each. GitHub also omits them for long pushes.
  const commits = await Promise.all(
    found
      .slice(0, 20)
      .reverse()
      .map((it) => toPushedCommitView(repo, it)),
  )
  const forced = old !== undefined && now !== undefined && !(await isAncestor(repo.path, old, now))
  github.webhooks.emit('push', null, repo, by, {
    ref,
    before: old ?? zeroSha,
    after: now ?? zeroSha,
    base_ref: null,
    created: old === undefined,
    deleted: now === undefined,
    forced,
    compare: `${getRepositoryWebUrl(repo)}/compare/${old ?? zeroSha}...${now ?? zeroSha}`,
    commits,
    head_commit: commits.at(-1) ?? null,
    pusher: { name: by.login, email: `${by.login}@users.noreply.github.invalid` },
  })
}

export async function emitPullRequestEvent(
  pull: MockPull,
  action: string,
  by: MockAccount,
  more: GitHubPayload = {},
): Promise<void> {
  const { github } = pull.repo
  pull.updatedAt = github.timestamp()
  const pull_request = await toPullView(pull)
  github.webhooks.emit('pull_request', action, pull.repo, by, { number: pull.number, pull_request, ...more })
}

async function handlePullHeadMoved(pull: MockPull, now: string | undefined, by: MockAccount): Promise<void> {
  if (now === undefined) return await closePull(pull, by)
  const before = pull.headSha
  pull.headSha = now
  pull.lastPusher = by
  // The head can be in a fork, but the queue cannot.
  pull.repo.github.queueDue(pull.repo)
  pull.baseSha = pull.repo.knownRefs.get(`refs/heads/${pull.baseRef}`) ?? pull.baseSha
  pull.mergeable = undefined
  await setRef(pull.repo.path, `refs/pull/${pull.number}/head`, now)
  if (pull.headRepo !== pull.repo) await createCheckSuites(pull.repo, now, pull.headRef, before, by)
  await emitPullRequestEvent(pull, 'synchronize', by, { before, after: now })
  await dismissApprovalsAfterHeadPush(pull, by, before)
}

async function handlePullBaseMoved(
  pull: MockPull,
  old: string | undefined,
  now: string | undefined,
  by: MockAccount,
): Promise<void> {
  if (now === undefined) return await closePull(pull, by)
  pull.mergeable = undefined
  await dismissApprovalsAfterBaseMove(pull, by, old)
  if (!(await isAncestor(pull.repo.path, pull.headSha, now))) return
  // The first-parent commit of the base that brought in the head.
  const { path } = pull.repo
  const sha = await readLooseObjectsOrRunGit(
    () => findMergeCommitWithParent(path, pull.headSha, now),
    async () => {
      const range = `${pull.headSha}..${now}`
      const line = await runGitForText(path, 'rev-list', '--first-parent', '--ancestry-path', range)
      return line.trim().split('\n').at(-1) || undefined
    },
  )
  await markPullMerged(pull, sha ?? pull.headSha, by)
}

export async function markPullMerged(pull: MockPull, sha: string, by: MockAccount): Promise<void> {
  pull.merged = { at: pull.repo.github.timestamp(), by, sha }
  await closePull(pull, by)
}

export async function closePull(pull: MockPull, by: MockAccount): Promise<void> {
  const { github } = pull.repo
  pull.state = 'closed'
  github.queueDue(pull.repo)
  pull.closedAt = github.timestamp()
  await deleteRef(pull.repo.path, `refs/pull/${pull.number}/merge`)
  await emitPullRequestEvent(pull, 'closed', by)
}

/** An app's check suite for a commit. Created if it does not exist. */
export function findOrCreateCheckSuite(
  repo: MockRepository,
  app: MockApp,
  sha: string,
  branch: string | null,
  before: string | null,
): CheckSuite {
  const { github } = repo
  const known = repo.suites.find((it) => it.app === app && it.sha === sha)
  if (known !== undefined) return known
  const at = github.timestamp()
  const suite = {
    id: github.nextId(),
    repo,
    app,
    sha,
    branch,
    before,
    createdAt: at,
    updatedAt: at,
    runs: [],
  }
  repo.suites.push(suite)
  return suite
}

/** On a push, GitHub creates a suite for every app that can write checks, and notifies the app. */
export async function createCheckSuites(
  repo: MockRepository,
  sha: string,
  branch: string,
  before: string | null,
  by: MockAccount,
): Promise<void> {
  const { github } = repo
  for (const { app, repositories, permissions } of github.installations.values()) {
    if (!repositories.has(repo) || permissions['checks'] !== 'write') continue
    if (repo.suites.some((it) => it.app === app && it.sha === sha)) continue
    const suite = findOrCreateCheckSuite(repo, app, sha, branch, before)
    if (app.events.includes('check_suite'))
      github.webhooks.emit(
        'check_suite',
        'requested',
        repo,
        by,
        { check_suite: await toCheckSuiteView(suite) },
        app,
      )
  }
}

/**
 * Computes in the background whether a pull request can be merged, and stores the test merge as refs/pull/N/merge.
 */
export async function updatePullMergeability(pull: MockPull): Promise<void> {
  const { github } = pull.repo
  const { path } = pull.repo
  const { testMergeDelay } = github
  if (testMergeDelay > 0) await new Promise((resolve) => setTimeout(resolve, testMergeDelay))
  const base = pull.repo.knownRefs.get(`refs/heads/${pull.baseRef}`)
  if (base === undefined) return
  const head = pull.headSha
  const tree = await mergeTrees(path, base, head)
  if (pull.headSha !== head || pull.repo.knownRefs.get(`refs/heads/${pull.baseRef}`) !== base) return
  pull.mergeable = tree !== undefined
  if (tree === undefined) return
  const by = { name: 'GitHub', email: 'noreply@github.invalid', at: github.now() }
  pull.testMerge = await commitTree(path, tree, [base, head], `Merge ${head} into ${base}`, by)
  if (pull.state === 'open') await setRef(path, `refs/pull/${pull.number}/merge`, pull.testMerge)
}
