// The in-memory Forge port. src/github/ reads pull requests itself, from a GitHub in memory. Other operations take as
// many steps as the real adapter takes. Like the real adapter, writes first check whether the object exists, so
// concurrent actors can interfere.
import type { CommitSha, PullNumber } from '../../src/pull-request/ids.ts'
import type { ForgeLookupRequest, LookupResultByKind } from '../../src/checks/lookups.ts'
import type { BranchRules } from '../../src/policy/branch-rules.ts'
import { ForgeError } from '../../src/adapters/github/forge-error.ts'
import { readPullRequestSnapshot as readFromGitHub } from '../../src/adapters/github/read-snapshot.ts'
import { commentMarker } from '../../src/report/comment.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { ForgeAction, Forge, BotIssue, ForgeActionResult } from '../../src/ports/forge.ts'
import { packageOwnerTeam } from '../world/repository-contents.ts'
import {
  appId,
  mainBranch,
  type SimulatedCheckRun,
  type SimulatedPull,
  type SimulatedGitHub,
} from '../world/simulated-github.ts'
import { createInMemoryOctokit } from './memory-octokit.ts'
import type { SimulatedCallScheduler } from './memory-repository.ts'
import { createCommentCache } from '../../src/adapters/github/github-cache.ts'
import { findUnchangedPulls } from '../../src/adapters/github/graphql-pull.ts'

export interface InMemoryForgeHooks {
  /** The last evaluation before a merge: all its data is as of this step. */
  readonly onFreshRead: (pull: PullNumber, step: number) => void
  /** A pull request was read as of this step. */
  readonly onRead: (step: number) => void
  /** How many steps reads lag behind, as they can on a GitHub replica. */
  readonly lag: () => number
  /** Comment data that the calling process caches for a while. */
  readonly clock: Clock
}

export function createInMemoryForge(
  server: SimulatedGitHub,
  schedule: SimulatedCallScheduler,
  { onFreshRead, onRead, lag, clock }: InMemoryForgeHooks,
): Forge {
  const comments = createCommentCache(clock)
  const callGitHub = <T>(label: string, act: () => T) => schedule('github', label, act)

  /** The port as one job uses it. `onAnswer` receives the step as of which each answer holds. */
  const octokitFor = (onAnswer: (label: string, step: number) => void) =>
    createInMemoryOctokit(server, { ask: callGitHub, lag, onAnswer })

  const readSnapshot: Forge['readSnapshot'] = async (pull, { skipCache = false, onCounts } = {}) => {
    /** The last time of each request. */
    const steps = new Map<string, number>()
    const octokit = octokitFor((label, step) => void steps.set(label, step))
    const snapshot = await readFromGitHub(octokit, server.name, pull, {
      appId,
      login: () => Promise.resolve(server.bot.login),
      commentCache: comments,
      skipCache,
      onCounts,
    })
    if (snapshot === null) return null
    onRead(Math.min(...steps.values()))
    if (skipCache) onFreshRead(pull, Math.min(...steps.values()))
    return snapshot
  }

  const findUnchanged: Forge['findUnchanged'] = async (snapshots) => {
    let asked = 0
    const octokit = octokitFor((_, step) => (asked = step))
    const same = await findUnchangedPulls(octokit, server.name, snapshots)
    for (const pull of same.keys()) onFreshRead(pull, asked)
    return same
  }

  function ownComment(pull: PullNumber): SimulatedPull['comments'][number] | undefined {
    return server
      .pull(pull)
      ?.comments.find(({ author, body }) => author.id === server.bot.id && body.startsWith(commentMarker))
  }

  const ownCheckNames = (commit: CommitSha): readonly SimulatedCheckRun[] =>
    (server.checks.get(commit) ?? []).filter(({ app }) => app === appId)

  async function perform(action: ForgeAction): Promise<ForgeActionResult> {
    switch (action.kind) {
      case 'put-check':
      case 'put-checks': {
        const { head, present } = action
        if (present === undefined)
          await callGitHub(`list the check runs of ${head.slice(0, 7)}`, () => ownCheckNames(head))
        const runs = action.kind === 'put-checks' ? action.runs : [action.run]
        // One request, in which GitHub creates the runs in order.
        await callGitHub(`write ${runs.length} check runs on ${head.slice(0, 7)}`, () => {
          for (const { name, digest, status, conclusion, title, summary, annotations } of runs) {
            const text = [title, summary, ...annotations.map(({ message }) => message)].join('\n')
            const made = { id: server.id(), name, app: appId, digest, status, text }
            const full = { ...made, ...(conclusion !== undefined && { conclusion }) }
            server.checks.set(head, [...(server.checks.get(head) ?? []), full])
          }
        })
        return {}
      }
      case 'put-comment': {
        const { pull, body } = action
        const existing = await callGitHub(`find our comment on #${pull}`, () => ownComment(pull))
        if (existing?.body === body) return { updatedAt: server.seconds(existing.updatedAt) }
        return callGitHub(`${existing === undefined ? 'write' : 'edit'} our comment on #${pull}`, () => {
          if (existing === undefined) server.addComment(pull, server.bot, body)
          else {
            const isThere = server.pull(pull)?.comments.some(({ id }) => id === existing.id)
            if (isThere !== true) throw new ForgeError('not-found', 'put-comment: the comment is gone')
            server.changeComment(pull, existing.id, { body, updatedAt: server.now }, server.bot)
          }
          return { updatedAt: server.seconds(server.now) }
        })
      }
      case 'request-reviews':
        return callGitHub(`request reviews of #${action.pull}`, () => {
          const requested = server.pull(action.pull)?.requested ?? []
          server.changePull(action.pull, { requested: [...new Set([...requested, ...action.users])] })
          return {}
        })
      case 'react':
        return callGitHub(`react ${action.reaction} to comment ${action.comment}`, () => {
          for (const number of server.pulls.keys()) {
            const comment = server.pull(number)?.comments.find(({ id }) => id === action.comment)
            if (comment !== undefined && !comment.reactions.includes(action.reaction)) {
              const states = server.pulls.get(number)
              const last = states?.at(-1)
              // A reaction does not change any timestamp of the pull request.
              if (states !== undefined && last !== undefined)
                states.push({
                  step: server.step,
                  at: server.now,
                  value: {
                    ...last.value,
                    comments: last.value.comments.map((each) =>
                      each === comment ? { ...each, reactions: [...each.reactions, action.reaction] } : each,
                    ),
                  },
                })
            }
          }
          return {}
        })
      case 'open-issue':
        return callGitHub('open an issue', () => {
          const number = 1000 + server.issues.length
          server.issues.push({ number, title: action.title, body: action.body, state: 'open', comments: [] })
          return { issue: number }
        })
      case 'edit-issue':
        return callGitHub('edit an issue', () => {
          const at = server.issues.findIndex(({ number }) => number === action.issue)
          const before = server.issues[at]
          if (before === undefined) throw new ForgeError('not-found', 'edit-issue: it is gone')
          const { title, body, state = before.state } = action
          server.issues[at] = { ...before, title, body, state }
          return { issue: before.number }
        })
      case 'say-on-issue':
        return callGitHub('comment on an issue', () => {
          const at = server.issues.findIndex(({ number }) => number === action.issue)
          const before = server.issues[at]
          if (before !== undefined && !before.comments.some((body) => body.startsWith(action.marker)))
            server.issues[at] = {
              ...before,
              comments: [...before.comments, `${action.marker}\n${action.body}`],
            }
          return {}
        })
      case 'put-suggestions':
      case 'dispatch-workflow':
      case 'dispatch-event':
      case 'put-deployment':
      case 'propose-tree':
      case 'write-commit':
      case 'move-own-branch':
      case 'open-own-pull':
      case 'edit-own-pull':
      case 'close-own-pull':
        return callGitHub(action.kind, () => {
          server.others.push(action.kind)
          return {}
        })
    }
  }

  function answer(question: ForgeLookupRequest): LookupResultByKind[ForgeLookupRequest['kind']] {
    if (question.kind === 'user') {
      const person = server.people.withLogin(question.login)
      return person === undefined ? { kind: 'nobody' } : { kind: 'person', person }
    }
    if (question.kind === 'role') return { kind: 'role', role: server.people.roleOf(question.user) }
    if (question.kind === 'team-member') {
      const members = packageOwnerTeam.members.map((name) => server.people.of(name).id)
      const isMember = question.team === packageOwnerTeam.name && members.includes(question.user)
      return { kind: isMember ? 'yes' : 'no' }
    }
    if (question.kind === 'branch') return { kind: server.tip(question.branch) === undefined ? 'no' : 'yes' }
    if (question.kind === 'comment') {
      const found = [...server.pulls.keys()]
        .flatMap((number) => server.pull(number)?.comments ?? [])
        .find(({ id }) => id === question.comment)
      if (found === undefined)
        return { kind: 'unknown', reason: 'GitHub does not know the comment', retryAfter: 60 }
      return { kind: found.isEdited ? 'edited' : 'unedited' }
    }
    return { kind: 'missing' }
  }

  return {
    repository: server.name,
    readSnapshot,
    findUnchanged,
    openPulls: () =>
      callGitHub('list the open pull requests', () =>
        server
          .openPulls()
          .map(({ number, head, baseRef, author, draft, labels, updatedAt }) => ({
            pull: number,
            head,
            baseRef,
            author: author.id,
            draft,
            labels,
            updatedAt: server.seconds(updatedAt),
          })),
      ),
    defaultBranch: () => callGitHub('read the repository', () => mainBranch),
    branches: () =>
      callGitHub('list the branches', () =>
        [...server.branches.keys()].filter((name) => server.tip(name) !== undefined),
      ),
    branchRules: (branch) => callGitHub(`read the rules of ${branch}`, () => toBranchRules(server, branch)),
    permissions: () =>
      callGitHub('read our permissions', () => ({
        contents: 'write',
        pull_requests: 'write',
        checks: 'write',
      })),
    answer: async <Q extends ForgeLookupRequest>(question: Q) => {
      try {
        const { kind } = question
        const about = 'login' in question ? question.login : 'comment' in question ? question.comment : ''
        return (await callGitHub(`answer ${kind} ${about}`, () =>
          answer(question),
        )) as LookupResultByKind[Q['kind']]
      } catch {
        return {
          kind: 'unknown',
          reason: 'GitHub did not answer',
          retryAfter: 30,
        } as LookupResultByKind[Q['kind']]
      }
    },
    readOwnReports: (pull, head) =>
      callGitHub(`read what is shown on #${pull}`, () => {
        const comment = ownComment(pull)
        return {
          head,
          checks: ownCheckNames(head).map(({ name, digest }) => ({ name, digest })),
          ...(comment && {
            comment: { id: comment.id, body: comment.body, updatedAt: server.seconds(comment.updatedAt) },
          }),
          readAt: server.now,
        }
      }),
    readOwnChecks: (commit) =>
      callGitHub(`list the check runs of ${commit.slice(0, 7)}`, () =>
        ownCheckNames(commit).map(({ name, digest }) => ({ name, digest })),
      ),
    countOpenThreads: () => Promise.resolve(undefined),
    readOtherChecks: (commit) =>
      callGitHub(`list the checks of others on ${commit.slice(0, 7)}`, () =>
        (server.checks.get(commit) ?? [])
          .filter(({ app }) => app !== appId)
          .map(({ id, status, conclusion }) => `${id} ${status} ${conclusion ?? ''}`)
          .toSorted(),
      ),
    findOwnIssue: (marker, number) =>
      callGitHub('find our issue', (): BotIssue | undefined => {
        const own = server.issues.filter(({ body }) => body.startsWith(marker))
        const found =
          own.find((issue) => issue.number === number) ?? own.find(({ state }) => state === 'open') ?? own[0]
        return found && { number: found.number, state: found.state, title: found.title, body: found.body }
      }),
    // No world here releases bundles.
    findMergedPull: () => Promise.resolve(undefined),
    findOwnPull: () => Promise.resolve(undefined),
    perform,
    listDispatchedRuns: () => callGitHub('list the workflow runs', () => []),
  }
}

function toBranchRules(server: SimulatedGitHub, branch: string): BranchRules {
  const { requiredChecks, linear, locked } = server.rules
  return {
    branch,
    owner: 'organization',
    checks: { required: requiredChecks.map((name) => ({ name, app: appId })), strict: false },
    closedToUs: false,
    closedToPushes: false,
    reservedForUs: false,
    locked,
    linearHistory: linear,
    signatures: false,
    mergeQueue: false,
    workflows: false,
    others: [],
    mergeMethods: linear ? ['squash'] : ['merge', 'squash'],
    temporaryBranch: [],
    unread: [],
  }
}
