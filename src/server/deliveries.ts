// Verifies a delivery by its raw bytes, stores the delivery and its jobs in one transaction, and responds. Makes no
// decisions, and leaves nothing running after the response. A delivery is only a hint: catalog-bot uses its repository,
// pull request, and branch, and reads everything else again.
import { tryParseJson } from '@catalog-bot/fbc/go/json/json'
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { BodyBuffer } from '../adapters/body-buffer.ts'
import type { WebhookDeliveryStore, Job } from '../ports/store.ts'
import { maxPullNumber, type PullNumber, toCommitSha, toPullNumber, toUserId } from '../pull-request/ids.ts'
import type { PassingCommitStatus } from '../merge/rejected-pulls.ts'
import { z } from 'zod'
import { mergeQueueBranchPrefix, temporaryBranchPrefix } from '../policy/merge-strategy.ts'
import { checkNamePrefix } from '../report/report-options.ts'
import { botBranchPrefix } from '../ports/forge.ts'
import type { RecordedHeadPush } from '../ports/pull-history.ts'

/** GitHub caps payloads at 25 MB. */
const maxWebhookBodyBytes = 25 * 1024 * 1024
/** Nearly every delivery is shorter. Small ones have a separate memory limit, so that large ones cannot starve them. */
const maxSmallWebhookBodyBytes = 1024 * 1024
/** Total bytes held before signatures are verified: eight of the largest bodies and 64 usual ones. */
const maxUnverifiedBodyBytesBySizeClass = {
  long: 8 * maxWebhookBodyBytes,
  usual: 64 * maxSmallWebhookBodyBytes,
} as const

export const webhookDeliveryPath = '/api/github/webhooks'

interface WebhookDeliveryHandlerOptions {
  readonly store: WebhookDeliveryStore
  /** The current secret first, then the previous one. */
  readonly secrets: readonly string[]
  /** Our own App's changes are ignored. If absent, no sender is. */
  readonly appId?: number | undefined
  /** Finds the pull requests that wait for another app's report. */
  readonly findWaitingPulls?: (report: PassingCommitStatus) => Promise<readonly PullNumber[]>
  /** `event` comes from a closed list, never from an unsigned header (getEventMetricLabel). */
  readonly onAccepted: (outcome: 'new' | 'duplicate' | 'refused', event: string, milliseconds: number) => void
}

/** A handler in Probot's form: true when it has answered, false when the request is not a delivery. */
export function createWebhookDeliveryHandler(options: WebhookDeliveryHandlerOptions) {
  const { store, secrets, appId, findWaitingPulls, onAccepted } = options
  const bodyBudgets: RequestBodyMemoryBudgets = { ...maxUnverifiedBodyBytesBySizeClass }
  return async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    if (request.method !== 'POST' || request.url?.split('?')[0] !== webhookDeliveryPath) return false
    const started = performance.now()
    const event = toSingleHeaderValue(request.headers['x-github-event'])
    const guid = toSingleHeaderValue(request.headers['x-github-delivery'])
    const signature = toSingleHeaderValue(request.headers['x-hub-signature-256'])
    let label = 'unverified'
    const respond = (status: number, text: string, outcome: 'new' | 'duplicate' | 'refused') => {
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`)
      onAccepted(outcome, label, performance.now() - started)
      return true
    }
    const body = await readWebhookBody(request, bodyBudgets)
    // Anyone can cause this, so it is not logged as an error.
    if (body === 'incomplete') return respond(400, 'the delivery is incomplete', 'refused')
    if (body === 'too-large') return respond(413, 'the delivery is too large', 'refused')
    if (body === 'crowded')
      return respond(503, 'too many concurrent deliveries; send this delivery again later', 'refused')
    if (
      !/^[a-z_]{1,64}$/.test(event ?? '') ||
      !/^[\w-]{8,64}$/.test(guid ?? '') ||
      event === undefined ||
      guid === undefined
    )
      return respond(400, 'this request is not a GitHub delivery', 'refused')
    if (!hasValidSignature(body, signature, secrets))
      return respond(401, 'the signature does not match', 'refused')
    label = getEventMetricLabel(event)
    const payload = tryParseJson(body.toString('utf8'))
    if (payload === undefined) return respond(400, 'the body is not JSON', 'refused')
    const report = parsePassingCommitStatus(event, payload)
    const waiting = report === undefined ? [] : ((await findWaitingPulls?.(report)) ?? [])
    const jobs = [
      ...mapWebhookDeliveryToJobs(event, payload, appId),
      ...waiting.flatMap((number) => (report === undefined ? [] : createPullJob(report, { number }))),
    ]
    const push = parsePushFromDelivery(event, payload)
    // Most deliveries only report check runs, usually catalog-bot's own ones.
    const isOnlyCheckReport = /^check_(?:run|suite)$/.test(event) && jobs.length === 0
    const outcome = isOnlyCheckReport ? 'new' : await store.accept({ guid, event, body }, jobs, push)
    return respond(202, outcome === 'new' ? 'accepted' : 'known', outcome)
  }
}

/** Compares an HMAC-SHA-256 of the raw bytes in constant time and ignores the SHA-1 header. */
export function hasValidSignature(
  body: Uint8Array,
  signature: string | undefined,
  secrets: readonly string[],
): boolean {
  if (signature === undefined || !/^sha256=[0-9a-f]{64}$/.test(signature)) return false
  const signatureBytes = Buffer.from(signature.slice('sha256='.length), 'hex')
  return secrets.some(
    (secret) =>
      secret !== '' && timingSafeEqual(signatureBytes, createHmac('sha256', secret).update(body).digest()),
  )
}

type RequestBodyMemoryBudgets = Record<keyof typeof maxUnverifiedBodyBytesBySizeClass, number>

/** Limits the body to GitHub's maximum, and all bodies together to the shared memory limit. */
async function readWebhookBody(
  request: IncomingMessage,
  bodyBudgets: RequestBodyMemoryBudgets,
): Promise<Buffer | 'too-large' | 'crowded' | 'incomplete'> {
  const body = new BodyBuffer()
  let budgetName: keyof RequestBodyMemoryBudgets = 'usual'
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      if (body.length + chunk.length > maxWebhookBodyBytes) return 'too-large'
      body.add(chunk)
      bodyBudgets[budgetName] -= chunk.length
      if (budgetName === 'usual' && body.length > maxSmallWebhookBodyBytes) {
        bodyBudgets.usual += body.length
        bodyBudgets.long -= body.length
        budgetName = 'long'
      }
      if (bodyBudgets[budgetName] < 0) return 'crowded'
    }
  } catch {
    return 'incomplete'
  } finally {
    bodyBudgets[budgetName] += body.length
  }
  return body.toBuffer()
}

function toSingleHeaderValue(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined
}

/**
 * Postgres accepts neither NUL nor unpaired surrogates, and an index at most 2,704 bytes in a row. GitHub's longest names
 * are the ones of branches, with 255 bytes.
 */
const postgresSafeNameSchema = z.string().regex(/^[^\p{Cc}\p{Cs}]{1,255}$/u)
const shaSchema = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/)

const repositorySchema = z.object({
  name: postgresSafeNameSchema,
  owner: z.object({ login: postgresSafeNameSchema }),
})
const pullRequestSchema = z.object({ number: z.number().int().positive().max(maxPullNumber) })
const pushPayloadSchema = z.object({
  action: z.enum(['opened', 'synchronize']),
  repository: repositorySchema,
  pull_request: pullRequestSchema.extend({ head: z.object({ sha: shaSchema }) }),
  after: shaSchema.optional(),
  sender: z.object({
    id: z.number().int().positive(),
    login: postgresSafeNameSchema,
    type: z.string().optional(),
  }),
})

const installationSchema = z.object({ id: z.number().int().positive() })
const accountSchema = z.object({ id: z.number(), type: z.string().optional() })
const commonEventSchemaFields = { repository: repositorySchema, installation: installationSchema }

const issueCommentSchema = z.object({
  ...commonEventSchemaFields,
  action: z.string(),
  issue: pullRequestSchema.extend({ pull_request: z.unknown().optional() }),
  comment: z
    .object({
      user: accountSchema.nullish(),
      performed_via_github_app: z.object({ id: z.number() }).nullish(),
    })
    .optional(),
  sender: accountSchema.optional(),
})
const checkSuiteSchema = z.object({ pull_requests: z.array(pullRequestSchema).default([]) })
const checkRunSchema = z.object({
  name: postgresSafeNameSchema.catch(''),
  head_sha: shaSchema.optional(),
  conclusion: z.string().nullish(),
  pull_requests: z.array(pullRequestSchema).default([]),
})
const repositoryNamesSchema = z.array(z.object({ full_name: postgresSafeNameSchema })).default([])

type WebhookJobMapper = (payload: unknown, appId: number | undefined) => readonly Job[]

const createWebhookJobMapper =
  <T>(
    payload: z.ZodType<T>,
    jobs: (value: T, appId: number | undefined) => readonly Job[],
  ): WebhookJobMapper =>
  (given, appId) => {
    const { data } = payload.safeParse(given)
    return data === undefined ? [] : jobs(data, appId)
  }

const pullEventSchema = z.object({ ...commonEventSchemaFields, pull_request: pullRequestSchema })
const jobMapperByEvent: Readonly<Record<string, WebhookJobMapper>> = {
  pull_request: createWebhookJobMapper(pullEventSchema.extend({ action: z.string() }), (it) =>
    handledPullRequestActionPattern.test(it.action) ? [createPullJob(it, it.pull_request)] : [],
  ),
  pull_request_review: createWebhookJobMapper(pullEventSchema, (it) => [createPullJob(it, it.pull_request)]),
  pull_request_review_thread: createWebhookJobMapper(pullEventSchema, (it) => [
    createPullJob(it, it.pull_request),
  ]),
  issue_comment: createWebhookJobMapper(issueCommentSchema, (it, appId) =>
    it.issue.pull_request !== undefined && !isBotCommentEvent(it, appId) ? [createPullJob(it, it.issue)] : [],
  ),
  check_run: createWebhookJobMapper(
    z.object({ ...commonEventSchemaFields, action: z.string(), check_run: checkRunSchema }),
    (it) =>
      it.action === 'rerequested' || it.action === 'requested_action'
        ? createPullJobsOrSweepJob(it, it.check_run.pull_requests)
        : [],
  ),
  status: () => [],
  check_suite: createWebhookJobMapper(
    z.object({ ...commonEventSchemaFields, action: z.string(), check_suite: checkSuiteSchema }),
    (it) => (it.action === 'rerequested' ? createPullJobsOrSweepJob(it, it.check_suite.pull_requests) : []),
  ),
  push: createWebhookJobMapper(
    z.object({ ...commonEventSchemaFields, ref: postgresSafeNameSchema }),
    (it) => {
      const branch = parseBranchFromRef(it.ref)
      return branch !== undefined && !isBotOrMergeQueueBranch(branch)
        ? [
            { kind: 'branch', ...toJobRepository(it), branch },
            { kind: 'sweep', ...toJobRepository(it) },
          ]
        : []
    },
  ),
  workflow_run: createWebhookJobMapper(
    z.object({
      ...commonEventSchemaFields,
      workflow_run: z.object({ head_branch: postgresSafeNameSchema.nullable() }),
    }),
    ({ workflow_run: { head_branch: branch }, ...it }) =>
      branch !== null && !isBotOrMergeQueueBranch(branch)
        ? [{ kind: 'branch', ...toJobRepository(it), branch }]
        : [],
  ),
  merge_group: createWebhookJobMapper(
    z.object({ ...commonEventSchemaFields, merge_group: z.object({ base_ref: postgresSafeNameSchema }) }),
    (it) => {
      const branch = parseBranchFromRef(it.merge_group.base_ref)
      return branch === undefined ? [] : [{ kind: 'group', ...toJobRepository(it), branch }]
    },
  ),
  installation: createWebhookJobMapper(
    z.object({ action: z.string(), installation: installationSchema, repositories: repositoryNamesSchema }),
    (it) =>
      ['created', 'unsuspend', 'new_permissions_accepted'].includes(it.action)
        ? it.repositories.flatMap((each) => createSweepJobsForRepository(it.installation.id, each.full_name))
        : [],
  ),
  installation_repositories: createWebhookJobMapper(
    z.object({ installation: installationSchema, repositories_added: repositoryNamesSchema }),
    (it) =>
      it.repositories_added.flatMap((each) =>
        createSweepJobsForRepository(it.installation.id, each.full_name),
      ),
  ),
}

const parseBranchFromRef = (ref: string): string | undefined =>
  ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : undefined

/** Returns the event name for metrics, or `other` if catalog-bot does not handle it. */
function getEventMetricLabel(event: string): string {
  return Object.hasOwn(jobMapperByEvent, event) ? event : 'other'
}

const handledPullRequestActionPattern =
  /^(?:opened|synchronize|reopened|edited|ready_for_review|converted_to_draft|closed|(?:un)?labeled|dequeued)$/

/** One delivery stores its jobs in one transaction, for which GitHub waits ten seconds. The sweep finds what is left out. */
const maxJobsPerDelivery = 500

/** Returns no jobs for events that are irrelevant or malformed. */
export function mapWebhookDeliveryToJobs(event: string, payload: unknown, appId?: number): readonly Job[] {
  const jobs = Object.hasOwn(jobMapperByEvent, event) ? jobMapperByEvent[event]?.(payload, appId) : undefined
  return jobs?.slice(0, maxJobsPerDelivery) ?? []
}

const statusEventSchema = z.object({
  ...commonEventSchemaFields,
  check_run: checkRunSchema.optional(),
  sha: shaSchema.optional(),
  context: postgresSafeNameSchema.optional(),
  state: z.string().optional(),
})

/** The store decides whether a pull request waits for it: most commits are not the head of one. */
export function parsePassingCommitStatus(event: string, payload: unknown): PassingCommitStatus | undefined {
  const it =
    event === 'status' || event === 'check_run' ? statusEventSchema.safeParse(payload).data : undefined
  if (it === undefined) return undefined
  const {
    head_sha: head = it.sha,
    name: context = it.context,
    conclusion: state = it.state,
  } = it.check_run ?? {}
  const isGreen =
    /^(?:success|neutral|skipped)$/.test(state ?? '') && context?.startsWith(checkNamePrefix) === false
  return isGreen && head !== undefined ? { ...it, commit: toCommitSha(head), context } : undefined
}

/** Ignores the App's own comment events, which would requeue each pull request. Others' edits of its comment count. */
function isBotCommentEvent(
  { action, comment, sender }: z.infer<typeof issueCommentSchema>,
  appId: number | undefined,
): boolean {
  return (
    (action === 'created' || action === 'edited') &&
    appId !== undefined &&
    comment?.performed_via_github_app?.id === appId &&
    sender?.type === 'Bot' &&
    sender.id === comment.user?.id
  )
}

/** Merge queue branches and branches of the App's own pull requests. Nothing is published from them. */
const isBotOrMergeQueueBranch = (branch: string): boolean =>
  [temporaryBranchPrefix, mergeQueueBranchPrefix, botBranchPrefix].some((prefix) => branch.startsWith(prefix))

interface RepositoryWebhookPayload {
  readonly repository: { readonly name: string; readonly owner: { readonly login: string } }
  readonly installation: { readonly id: number }
}

const toJobRepository = ({ installation, repository: { name, owner } }: RepositoryWebhookPayload) => ({
  installation: installation.id,
  repository: { owner: owner.login, name },
})

function createPullJob(value: RepositoryWebhookPayload, { number }: { number: number }): Job {
  return { kind: 'pull', ...toJobRepository(value), pull: toPullNumber(number) }
}

/** GitHub leaves `pull_requests` empty for forks, so every open pull request is evaluated. */
function createPullJobsOrSweepJob(
  value: RepositoryWebhookPayload,
  pulls: readonly { number: number }[],
): readonly Job[] {
  return pulls.length > 0
    ? pulls.map((each) => createPullJob(value, each))
    : [{ kind: 'sweep', ...toJobRepository(value) }]
}

function createSweepJobsForRepository(installationId: number, fullName: string): readonly Job[] {
  const [owner, name] = fullName.split('/')
  return owner && name ? [{ kind: 'sweep', installation: installationId, repository: { owner, name } }] : []
}

/**
 * The sender of an `opened` or `synchronize` delivery, which is signed, with its head. Reopening proves nothing.
 * Missing or contradictory data counts as unknown.
 */
export function parsePushFromDelivery(event: string, body: unknown): RecordedHeadPush | undefined {
  if (event !== 'pull_request') return undefined
  const value = pushPayloadSchema.safeParse(body).data
  if (!value) return undefined
  const { repository, pull_request: pull, after, sender } = value
  if (after !== undefined && after !== pull.head.sha) return undefined
  return {
    repository: { owner: repository.owner.login, name: repository.name },
    pull: toPullNumber(pull.number),
    head: toCommitSha(pull.head.sha),
    pusher: { id: toUserId(sender.id), login: sender.login, kind: sender.type === 'Bot' ? 'bot' : 'user' },
  }
}
