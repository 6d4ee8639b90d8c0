// The Forge port in memory. It asks in as many steps as the real one, and writes as that does: it looks whether something is
// there before it makes it, so that whoever comes in between can be in the way.
import type { CommitSha, PullNumber } from '../../src/change/ids.ts'
import type { Comment, Snapshot } from '../../src/change/snapshot.ts'
import type { AnswerTo } from '../../src/checks/questions.ts'
import type { BranchRules } from '../../src/gate/branch-rules.ts'
import { ForgeError } from '../../src/github/forge-error.ts'
import { opening } from '../../src/github/read-comments.ts'
import { commentMarker } from '../../src/messages/report.ts'
import type { Action, Forge, ForgeQuestion, OwnIssue, Performed } from '../../src/ports/forge.ts'
import { appId, main, Server, type CheckRun, type Pull } from '../world/server.ts'
import type { Turn } from './memory-repository.ts'

export interface ForgeHooks {
  /** The last look before a landing: all that was read is as it was at this step. */
  readonly onFreshLook: (pull: PullNumber, step: number) => void
  /** How many steps what is read now lags behind, as a replica of GitHub's may. */
  readonly lag: () => number
}

const attempts = 3

export function openMemoryForge(server: Server, turn: Turn, { onFreshLook, lag }: ForgeHooks): Forge {
  const ask = <T>(label: string, act: () => T) => turn('github', label, act)

  /** A pull request and its base, as one server of GitHub's has them. */
  function read(pull: PullNumber): { shown: Pull; base: CommitSha | undefined; step: number } | undefined {
    const step = server.step - lag()
    const shown = Server.at(server.pulls.get(pull) ?? [], step)
    if (shown === undefined) return undefined
    return { shown, base: Server.at(server.branches.get(shown.baseRef) ?? [], step), step }
  }

  async function readSnapshot(
    pull: PullNumber,
    { anew = false, onCounted }: Parameters<Forge['readSnapshot']>[1] = {},
  ): Promise<Snapshot | null> {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const before = await ask(`read #${pull}`, () => read(pull))
      if (before === undefined) return null
      const { author, comments } = before.shown
      if (attempt === 0)
        await onCounted?.({ author, size: { files: 1, lines: 10, comments: comments.length } })
      const lists = await ask(`read the comments and reviews of #${pull}`, () => read(pull))
      const after = await ask(`read #${pull} again`, () => read(pull))
      if (lists === undefined || after === undefined) return null
      if (fingerprint(before.shown) !== fingerprint(after.shown)) continue
      if (lists.base === undefined)
        throw new ForgeError('not-found', `read #${pull}: its base branch is gone`)
      if (anew) onFreshLook(pull, Math.min(lists.step, after.step))
      const { shown } = after
      return {
        repository: server.name,
        pull,
        state: shown.state,
        draft: shown.draft,
        title: shown.title,
        author: shown.author,
        head: shown.head,
        baseRef: shown.baseRef,
        base: lists.base,
        headRepository: server.name,
        labels: shown.labels,
        reviews: lists.shown.reviews,
        comments: lists.shown.comments.map(toComment),
        stacked: false,
      }
    }
    throw new ForgeError('inconsistent', `read #${pull}: it kept changing while it was read`)
  }

  /** What the real one compares, and no more: times have whole seconds. */
  function fingerprint({ head, baseRef, state, comments, updatedAt }: Pull): string {
    return [head, baseRef, state, comments.length, server.seconds(updatedAt)].join(' ')
  }

  function toComment({ id, author, body, createdAt, updatedAt }: Pull['comments'][number]): Comment {
    return {
      id,
      node: `comment ${id}`,
      author,
      body: opening(body),
      createdAt: server.seconds(createdAt),
      updatedAt: server.seconds(updatedAt),
    }
  }

  function ownComment(pull: PullNumber): Pull['comments'][number] | undefined {
    return server
      .pull(pull)
      ?.comments.find(({ author, body }) => author.id === server.bot.id && body.startsWith(commentMarker))
  }

  const ownChecks = (commit: CommitSha): readonly CheckRun[] =>
    (server.checks.get(commit) ?? []).filter(({ app }) => app === appId)

  async function perform(action: Action): Promise<Performed> {
    switch (action.kind) {
      case 'put-check': {
        const { head, run, present } = action
        if (present === undefined)
          await ask(`list the check runs of ${head.slice(0, 7)}`, () => ownChecks(head))
        const text = [run.title, run.summary, ...run.annotations.map(({ message }) => message)].join('\n')
        await ask(`write the check run "${run.name}" on ${head.slice(0, 7)}`, () => {
          const { name, digest, status, conclusion } = run
          const made = { id: server.id(), name, app: appId, digest, status, text }
          const full = { ...made, ...(conclusion !== undefined && { conclusion }) }
          server.checks.set(head, [...(server.checks.get(head) ?? []), full])
        })
        return {}
      }
      case 'put-comment': {
        const { pull, body } = action
        const existing = await ask(`look for our comment on #${pull}`, () => ownComment(pull))
        if (existing?.body === body) return { updatedAt: server.seconds(existing.updatedAt) }
        return ask(`${existing === undefined ? 'write' : 'edit'} our comment on #${pull}`, () => {
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
        return ask(`request reviews of #${action.pull}`, () => {
          const requested = server.pull(action.pull)?.requested ?? []
          server.changePull(action.pull, { requested: [...new Set([...requested, ...action.users])] })
          return {}
        })
      case 'react':
        return ask(`react ${action.reaction} to comment ${action.comment}`, () => {
          for (const number of server.pulls.keys()) {
            const comment = server.pull(number)?.comments.find(({ id }) => id === action.comment)
            if (comment !== undefined && !comment.reactions.includes(action.reaction)) {
              const states = server.pulls.get(number)
              const last = states?.at(-1)
              // No time of the pull request moves with a reaction.
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
        return ask('open an issue', () => {
          const number = 1000 + server.issues.length
          server.issues.push({ number, title: action.title, body: action.body, state: 'open', comments: [] })
          return { issue: number }
        })
      case 'edit-issue':
        return ask('edit an issue', () => {
          const at = server.issues.findIndex(({ number }) => number === action.issue)
          const before = server.issues[at]
          if (before === undefined) throw new ForgeError('not-found', 'edit-issue: it is gone')
          const { title, body, state = before.state } = action
          server.issues[at] = { ...before, title, body, state }
          return { issue: before.number }
        })
      case 'say-on-issue':
        return ask('comment on an issue', () => {
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
        return ask(action.kind, () => {
          server.others.push(action.kind)
          return {}
        })
    }
  }

  function answer(question: ForgeQuestion): AnswerTo[ForgeQuestion['kind']] {
    switch (question.kind) {
      case 'user': {
        const person = server.people.withLogin(question.login)
        return person === undefined ? { kind: 'nobody' } : { kind: 'person', person }
      }
      case 'role':
        return { kind: 'role', role: server.people.roleOf(question.user) }
      case 'team-member':
        return { kind: 'no' }
      case 'branch':
        return server.tip(question.branch) === undefined ? { kind: 'no' } : { kind: 'yes' }
      case 'comment': {
        const found = [...server.pulls.keys()]
          .flatMap((number) => server.pull(number)?.comments ?? [])
          .find(({ id }) => id === question.comment)
        if (found === undefined)
          return { kind: 'unknown', reason: 'GitHub does not know the comment', retryAfter: 60 }
        return { kind: found.isEdited ? 'edited' : 'unedited' }
      }
      case 'check-run':
        return { kind: 'missing' }
    }
  }

  return {
    repository: server.name,
    readSnapshot,
    openPulls: () =>
      ask('list the open pull requests', () =>
        server.openPulls().map(({ number, head, baseRef, author, draft, labels, updatedAt }) => ({
          pull: number,
          head,
          baseRef,
          author: author.id,
          draft,
          labels,
          updatedAt: server.seconds(updatedAt),
        })),
      ),
    defaultBranch: () => ask('read the repository', () => main),
    branches: () =>
      ask('list the branches', () =>
        [...server.branches.keys()].filter((name) => server.tip(name) !== undefined),
      ),
    branchRules: (branch) => ask(`read the rules of ${branch}`, () => rulesOf(server, branch)),
    permissions: () =>
      ask('read our permissions', () => ({ contents: 'write', pull_requests: 'write', checks: 'write' })),
    answer: async <Q extends ForgeQuestion>(question: Q) => {
      try {
        const { kind } = question
        const about = 'login' in question ? question.login : 'comment' in question ? question.comment : ''
        return (await ask(`answer ${kind} ${about}`, () => answer(question))) as AnswerTo[Q['kind']]
      } catch {
        return { kind: 'unknown', reason: 'GitHub did not answer', retryAfter: 30 } as AnswerTo[Q['kind']]
      }
    },
    present: (pull, head) =>
      ask(`read what is shown on #${pull}`, () => {
        const comment = ownComment(pull)
        return {
          checks: ownChecks(head).map(({ name, digest }) => ({ name, digest })),
          ...(comment && { comment: { body: comment.body, updatedAt: server.seconds(comment.updatedAt) } }),
          requestedUsers: server.pull(pull)?.requested ?? [],
          requestedTeams: [],
        }
      }),
    checksOn: (commit) =>
      ask(`list the check runs of ${commit.slice(0, 7)}`, () =>
        ownChecks(commit).map(({ name, digest }) => ({ name, digest })),
      ),
    othersChecks: (commit) =>
      ask(`list the checks of others on ${commit.slice(0, 7)}`, () =>
        (server.checks.get(commit) ?? [])
          .filter(({ app }) => app !== appId)
          .map(({ id, status, conclusion }) => `${id} ${status} ${conclusion ?? ''}`)
          .toSorted(),
      ),
    ownIssue: (marker, number) =>
      ask('look for our issue', (): OwnIssue | undefined => {
        const own = server.issues.filter(({ body }) => body.startsWith(marker))
        const found =
          own.find((issue) => issue.number === number) ?? own.find(({ state }) => state === 'open') ?? own[0]
        return found && { number: found.number, state: found.state, title: found.title, body: found.body }
      }),
    perform,
    dispatchedRuns: () => ask('list the workflow runs', () => []),
  }
}

function rulesOf(server: Server, branch: string): BranchRules {
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
