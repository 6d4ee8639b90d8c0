// Maps deliveries to jobs. A delivery is a hint: only its repository, pull request and branch are used, and the bot
// reads everything else again.
import { z } from 'zod'
import { commitSha, pullNumber, type CommitSha } from '../../change/ids.ts'
import { queueBranches, temporaryBranches } from '../../gate/temporary-branch.ts'
import { checkPrefix } from '../../messages/report.ts'
import { ownBranchPrefix } from '../../ports/forge.ts'
import type { Job } from '../../ports/store.ts'
import { nameText } from './push-of-delivery.ts'

const repository = z.object({ name: nameText, owner: z.object({ login: nameText }) })
const installation = z.object({ id: z.number().int().positive() })
const pull = z.object({ number: z.number().int().positive() })
const account = z.object({ id: z.number(), type: z.string().optional() })
const about = { repository, installation }
const sha = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/)

const comments = z.object({
  ...about,
  action: z.string(),
  issue: pull.extend({ pull_request: z.unknown().optional() }),
  comment: z
    .object({ user: account.nullish(), performed_via_github_app: z.object({ id: z.number() }).nullish() })
    .optional(),
  sender: account.optional(),
})
const asked = z.object({ pull_requests: z.array(pull).default([]) })
const checkRun = z.object({
  name: nameText.catch(''),
  head_sha: sha.optional(),
  conclusion: z.string().nullish(),
  pull_requests: z.array(pull).default([]),
})
const names = z.array(z.object({ full_name: nameText })).default([])

type JobsOf = (payload: unknown, appId: number | undefined) => readonly Job[]

const on =
  <T>(payload: z.ZodType<T>, jobs: (value: T, appId: number | undefined) => readonly Job[]): JobsOf =>
  (given, appId) => {
    const { data } = payload.safeParse(given)
    return data === undefined ? [] : jobs(data, appId)
  }

const aboutPull = z.object({ ...about, pull_request: pull })
const events: Readonly<Record<string, JobsOf>> = {
  pull_request: on(aboutPull.extend({ action: z.string() }), (it) =>
    pullActions.test(it.action) ? [pullJob(it, it.pull_request)] : [],
  ),
  pull_request_review: on(aboutPull, (it) => [pullJob(it, it.pull_request)]),
  pull_request_review_thread: on(aboutPull, (it) => [pullJob(it, it.pull_request)]),
  issue_comment: on(comments, (it, appId) =>
    it.issue.pull_request !== undefined && !isOurs(it, appId) ? [pullJob(it, it.issue)] : [],
  ),
  check_run: on(z.object({ ...about, action: z.string(), check_run: checkRun }), (it) =>
    it.action === 'rerequested' || it.action === 'requested_action'
      ? jobsOrSweep(it, it.check_run.pull_requests)
      : [],
  ),
  status: () => [],
  check_suite: on(z.object({ ...about, action: z.string(), check_suite: asked }), (it) =>
    it.action === 'rerequested' ? jobsOrSweep(it, it.check_suite.pull_requests) : [],
  ),
  push: on(z.object({ ...about, ref: nameText }), (it) => {
    const branch = branchOf(it.ref)
    return branch !== undefined && !isPassing(branch) ? [branchJob(it, branch), sweepJob(it)] : []
  }),
  workflow_run: on(
    z.object({ ...about, workflow_run: z.object({ head_branch: nameText.nullable() }) }),
    ({ workflow_run: { head_branch: branch }, ...it }) =>
      branch !== null && !isPassing(branch) ? [branchJob(it, branch)] : [],
  ),
  merge_group: on(z.object({ ...about, merge_group: z.object({ base_ref: nameText }) }), (it) => {
    const branch = branchOf(it.merge_group.base_ref)
    return branch === undefined ? [] : [groupJob(it, branch)]
  }),
  installation: on(z.object({ action: z.string(), installation, repositories: names }), (it) =>
    ['created', 'unsuspend', 'new_permissions_accepted'].includes(it.action)
      ? it.repositories.flatMap((each) => sweepOf(it.installation.id, each.full_name))
      : [],
  ),
  installation_repositories: on(z.object({ installation, repositories_added: names }), (it) =>
    it.repositories_added.flatMap((each) => sweepOf(it.installation.id, each.full_name)),
  ),
}

const branchOf = (ref: string): string | undefined =>
  ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : undefined

/** Returns the event name for metrics, or `other` if the bot does not handle it. */
export function labelOfEvent(event: string): string {
  return Object.hasOwn(events, event) ? event : 'other'
}

const pullActions =
  /^(?:opened|synchronize|reopened|edited|ready_for_review|converted_to_draft|closed|(?:un)?labeled|dequeued)$/

/** Returns no jobs for events that are irrelevant or malformed. */
export function jobsOfDelivery(event: string, payload: unknown, appId?: number): readonly Job[] {
  return Object.hasOwn(events, event) ? (events[event]?.(payload, appId) ?? []) : []
}

export interface GreenReport extends About {
  readonly commit: CommitSha
  readonly context: string
}

const report = z.object({
  ...about,
  check_run: checkRun.optional(),
  sha: sha.optional(),
  context: nameText.optional(),
  state: z.string().optional(),
})

/** The store decides whether a pull request waits for it: most commits are not the head of one. */
export function greenReportOf(event: string, payload: unknown): GreenReport | undefined {
  const it = event === 'status' || event === 'check_run' ? report.safeParse(payload).data : undefined
  if (it === undefined) return undefined
  const {
    head_sha: head = it.sha,
    name: context = it.context,
    conclusion: state = it.state,
  } = it.check_run ?? {}
  const isGreen =
    /^(?:success|neutral|skipped)$/.test(state ?? '') && context?.startsWith(checkPrefix) === false
  return isGreen && head !== undefined ? { ...it, commit: commitSha(head), context } : undefined
}

/**
 * Ignores our App's own comment events, which would requeue each pull request. Edits of our comment by others count.
 */
function isOurs({ action, comment, sender }: z.infer<typeof comments>, appId: number | undefined): boolean {
  return (
    (action === 'created' || action === 'edited') &&
    appId !== undefined &&
    comment?.performed_via_github_app?.id === appId &&
    sender?.type === 'Bot' &&
    sender.id === comment.user?.id
  )
}

/** Merge queue branches and branches of our own pull requests. Nothing is published from them. */
const isPassing = (branch: string): boolean =>
  [temporaryBranches, queueBranches, ownBranchPrefix].some((prefix) => branch.startsWith(prefix))

interface About {
  readonly repository: { readonly name: string; readonly owner: { readonly login: string } }
  readonly installation: { readonly id: number }
}

const nameOf = ({ repository: { name, owner } }: About) => ({ owner: owner.login, name })

export function pullJob(value: About, { number }: { number: number }): Job {
  return {
    kind: 'pull',
    installation: value.installation.id,
    repository: nameOf(value),
    pull: pullNumber(number),
  }
}

function branchJob(value: About, branch: string): Job {
  return { kind: 'branch', installation: value.installation.id, repository: nameOf(value), branch }
}

function groupJob(value: About, branch: string): Job {
  return { kind: 'group', installation: value.installation.id, repository: nameOf(value), branch }
}

function sweepJob(value: About): Job {
  return { kind: 'sweep', installation: value.installation.id, repository: nameOf(value) }
}

/** GitHub leaves `pull_requests` empty for forks, so every open pull request is evaluated. */
function jobsOrSweep(value: About, pulls: readonly { number: number }[]): readonly Job[] {
  return pulls.length > 0 ? pulls.map((each) => pullJob(value, each)) : [sweepJob(value)]
}

function sweepOf(installationId: number, fullName: string): readonly Job[] {
  const [owner, name] = fullName.split('/')
  return owner && name ? [{ kind: 'sweep', installation: installationId, repository: { owner, name } }] : []
}
