// Which jobs a delivery causes. A delivery is a hint (T41): all it can do is make the bot look again, so
// nothing of it is believed but which repository and which pull request or branch to look at.
import { z } from 'zod'
import { pullNumber } from '../../change/ids.ts'
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

const payloads = {
  pull_request: z.object({ ...about, action: z.string(), pull_request: pull }),
  pull_request_review: z.object({ ...about, pull_request: pull }),
  issue_comment: z.object({
    ...about,
    action: z.string(),
    issue: pull.extend({ pull_request: z.unknown().optional() }),
    comment: z
      .object({ user: account.nullish(), performed_via_github_app: z.object({ id: z.number() }).nullish() })
      .optional(),
    sender: account.optional(),
  }),
  check_run: z.object({
    ...about,
    action: z.string(),
    check_run: z.object({ name: z.string().default(''), pull_requests: z.array(pull).default([]) }),
  }),
  check_suite: z.object({
    ...about,
    action: z.string(),
    check_suite: z.object({ pull_requests: z.array(pull).default([]) }),
  }),
  push: z.object({ ...about, ref: nameText }),
  workflow_run: z.object({ ...about, workflow_run: z.object({ head_branch: nameText.nullable() }) }),
  merge_group: z.object({ ...about, merge_group: z.object({ base_ref: nameText }) }),
  installation: z.object({
    action: z.string(),
    installation: installation.extend({ account: z.object({ login: z.string() }).nullish() }),
    repositories: z.array(z.object({ full_name: nameText })).default([]),
  }),
  installation_repositories: z.object({
    installation,
    repositories_added: z.array(z.object({ full_name: nameText })).default([]),
  }),
}

/** The name of a verified delivery's event for measuring: one of those that mean something here, or `other`. */
export function labelOfEvent(event: string): string {
  return Object.hasOwn(payloads, event) ? event : 'other'
}

const pullActions = new Set([
  'opened',
  'synchronize',
  'reopened',
  'edited',
  'ready_for_review',
  'converted_to_draft',
  'closed',
  'labeled',
  'unlabeled',
  'dequeued',
])

/** The jobs of one delivery; none for events that change nothing for us or whose payload is not as GitHub sends it. */
export function jobsOfDelivery(event: string, payload: unknown, appId?: number): readonly Job[] {
  switch (event) {
    case 'pull_request': {
      const value = payloads.pull_request.safeParse(payload).data
      return value && pullActions.has(value.action) ? [pullJob(value, value.pull_request)] : []
    }
    case 'pull_request_review': {
      const value = payloads.pull_request_review.safeParse(payload).data
      return value ? [pullJob(value, value.pull_request)] : []
    }
    case 'issue_comment': {
      const value = payloads.issue_comment.safeParse(payload).data
      return value && value.issue.pull_request !== undefined && !isOurs(value, appId)
        ? [pullJob(value, value.issue)]
        : []
    }
    case 'check_run': {
      const value = payloads.check_run.safeParse(payload).data
      // Others' may be required here. Our own end with every report; a fork's name no pull request, and are looked for.
      if (value?.action === 'completed' && !value.check_run.name.startsWith(checkPrefix))
        return value.check_run.pull_requests.map((each) => pullJob(value, each))
      return value && (value.action === 'rerequested' || value.action === 'requested_action')
        ? jobsOrSweep(value, value.check_run.pull_requests)
        : []
    }
    case 'check_suite': {
      const value = payloads.check_suite.safeParse(payload).data
      return value && value.action === 'rerequested'
        ? jobsOrSweep(value, value.check_suite.pull_requests)
        : []
    }
    case 'push': {
      const value = payloads.push.safeParse(payload).data
      const branch = value?.ref.startsWith('refs/heads/') ? value.ref.slice('refs/heads/'.length) : undefined
      return value && branch !== undefined && !isPassing(branch)
        ? [branchJob(value, branch), sweepJob(value)]
        : []
    }
    case 'workflow_run': {
      const value = payloads.workflow_run.safeParse(payload).data
      return value && value.workflow_run.head_branch !== null && !isPassing(value.workflow_run.head_branch)
        ? [branchJob(value, value.workflow_run.head_branch)]
        : []
    }
    case 'merge_group': {
      const value = payloads.merge_group.safeParse(payload).data
      const branch = value?.merge_group.base_ref.startsWith('refs/heads/')
        ? value.merge_group.base_ref.slice('refs/heads/'.length)
        : undefined
      return value && branch !== undefined ? [groupJob(value, branch)] : []
    }
    case 'installation': {
      const value = payloads.installation.safeParse(payload).data
      return value && ['created', 'unsuspend', 'new_permissions_accepted'].includes(value.action)
        ? value.repositories.flatMap((each) => sweepOf(value.installation.id, each.full_name))
        : []
    }
    case 'installation_repositories': {
      const value = payloads.installation_repositories.safeParse(payload).data
      return value
        ? value.repositories_added.flatMap((each) => sweepOf(value.installation.id, each.full_name))
        : []
    }
    default:
      return []
  }
}

/**
 * That our App wrote its own comment, or wrote it anew: nothing that it does not know, and a second look at each pull request
 * where it is taken for news. What others do to our comment is news.
 */
function isOurs(
  { action, comment, sender }: z.infer<typeof payloads.issue_comment>,
  appId: number | undefined,
): boolean {
  return (
    (action === 'created' || action === 'edited') &&
    appId !== undefined &&
    comment?.performed_via_github_app?.id === appId &&
    // A person may write by way of our App.
    sender?.type === 'Bot' &&
    sender.id === comment.user?.id
  )
}

/** Branches on which merges wait, ours and those of GitHub's merge queue, and those of our own pull requests: nothing is published from them. */
const isPassing = (branch: string): boolean =>
  [temporaryBranches, queueBranches, ownBranchPrefix].some((prefix) => branch.startsWith(prefix))

interface About {
  readonly repository: { readonly name: string; readonly owner: { readonly login: string } }
  readonly installation: { readonly id: number }
}

const nameOf = ({ repository: { name, owner } }: About) => ({ owner: owner.login, name })

function pullJob(value: About, { number }: { number: number }): Job {
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

/** GitHub leaves `pull_requests` empty for forks: then every open pull request is looked at. */
function jobsOrSweep(value: About, pulls: readonly { number: number }[]): readonly Job[] {
  return pulls.length > 0 ? pulls.map((each) => pullJob(value, each)) : [sweepJob(value)]
}

function sweepOf(installationId: number, fullName: string): readonly Job[] {
  const [owner, name] = fullName.split('/')
  return owner && name ? [{ kind: 'sweep', installation: installationId, repository: { owner, name } }] : []
}
