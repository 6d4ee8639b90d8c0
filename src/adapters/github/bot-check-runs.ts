// Creates or updates the App's check runs on a commit. New ones share a request to save budget; failed ones are written
// one by one.
import { z } from 'zod'
import type { CommitSha } from '../../pull-request/ids.ts'
import type { ForgeAction, CheckRunContent, BotCheckRun } from '../../ports/forge.ts'
import type { RepositoryParams } from './bot-issues.ts'
import type { Octokit } from './github-app.ts'

/** GitHub takes at most this many annotations in one request; later updates append more. */
export const maxAnnotationsPerRequest = 50

export interface CheckRunApiClient {
  readonly octokit: Octokit
  readonly target: RepositoryParams
  readonly appId: number
}

export async function listBotCheckRuns({ octokit, target, appId }: CheckRunApiClient, commit: CommitSha) {
  const runs = await octokit.paginate(octokit.rest.checks.listForRef, {
    ...target,
    ref: commit,
    app_id: appId,
    per_page: 100,
  })
  return runs.filter((run) => run.app?.id === appId)
}

/**
 * `isNew`: the caller knows that no unfinished run of this name exists. `isAgain`: an earlier attempt got no answer.
 * Returns the run's address.
 */
export async function writeCheckRun(
  writer: CheckRunApiClient,
  head: CommitSha,
  run: CheckRunContent,
  { isNew, isAgain }: { readonly isNew: boolean; readonly isAgain: boolean },
): Promise<string | undefined> {
  const { octokit, target } = writer
  const existing =
    isNew && !isAgain
      ? undefined
      : (await listBotCheckRuns(writer, head)).find(({ name }) => name === run.name)
  if (isAgain && existing?.external_id === run.digest && existing.status === run.status)
    return existing.html_url ?? undefined
  const [first = [], ...rest] = splitIntoChunks(run.annotations, maxAnnotationsPerRequest)
  const output = (annotations: CheckRunContent['annotations']) => ({
    title: run.title,
    summary: run.summary,
    annotations: annotations.map(({ path, startLine, endLine, level, title, message }) => ({
      path,
      start_line: startLine,
      end_line: endLine,
      annotation_level: level,
      title,
      message,
    })),
  })
  const body = {
    ...target,
    name: run.name,
    external_id: run.digest,
    ...(run.detailsUrl !== undefined && { details_url: run.detailsUrl }),
    ...(run.conclusion === undefined
      ? { status: run.status as 'queued' | 'in_progress' }
      : { status: 'completed' as const, conclusion: run.conclusion }),
    output: output(first),
  }
  // Updates append annotations, so a run that has some is replaced.
  const reusable =
    existing !== undefined && existing.output.annotations_count === 0 && existing.status !== 'completed'
  const { data } = reusable
    ? await octokit.rest.checks.update({ ...body, check_run_id: existing.id })
    : await octokit.rest.checks.create({ ...body, head_sha: head })
  for (const annotations of rest)
    await octokit.rest.checks.update({ ...target, check_run_id: data.id, output: output(annotations) })
  return data.html_url ?? undefined
}

/** Determined from the data that was just read. */
const shouldCreateCheckRun = ({ name }: CheckRunContent, present: readonly BotCheckRun[]): boolean =>
  present.every((one) => one.name !== name || one.isOver === true)

const createdCheckRunSchema = z.object({
  checkRun: z
    .object({ name: z.string(), externalId: z.string().nullable(), permalink: z.string() })
    .nullable(),
})
const createdCheckRunsSchema = z.record(z.string(), createdCheckRunSchema.nullable())

/** `repositoryId`: GitHub's global id, without which each run takes a request. Returns their addresses. */
export async function writeCheckRuns(
  writer: CheckRunApiClient,
  { head, runs, present }: Extract<ForgeAction, { kind: 'put-checks' }>,
  { repositoryId, isAgain }: { readonly repositoryId: string | undefined; readonly isAgain: boolean },
): Promise<ReadonlyMap<string, string>> {
  const there = present ?? (await listBotCheckRuns(writer, head)).map(toBotCheckRun)
  const fresh = runs.filter(
    (run) => shouldCreateCheckRun(run, there) && run.annotations.length <= maxAnnotationsPerRequest,
  )
  const together = repositoryId === undefined || isAgain || fresh.length < 2 ? [] : fresh
  const made =
    repositoryId === undefined || together.length === 0
      ? new Map<string, string>()
      : await createCheckRunsInOneRequest(writer, repositoryId, head, together)
  const urls = new Map<string, string>()
  for (const run of runs) {
    const known = made.get(run.name)
    const how = { isNew: shouldCreateCheckRun(run, there), isAgain: isAgain || together.includes(run) }
    const url = known ?? (await writeCheckRun(writer, head, run, how))
    if (url !== undefined) urls.set(run.name, url)
  }
  return urls
}

type RestCheckRun = Awaited<ReturnType<typeof listBotCheckRuns>>[number]

export const toBotCheckRun = ({
  name,
  external_id,
  status,
  conclusion,
  html_url,
}: RestCheckRun): BotCheckRun => ({
  name,
  digest: external_id ?? '',
  isOver: status === 'completed',
  ...(conclusion !== null && { conclusion }),
  ...(html_url !== null && { url: html_url }),
})

/** Creates runs by one request. Returns the addresses that GitHub confirms; other runs are uncertain. Never rejects. */
async function createCheckRunsInOneRequest(
  { octokit }: CheckRunApiClient,
  repository: string,
  head: CommitSha,
  runs: readonly CheckRunContent[],
): Promise<ReadonlyMap<string, string>> {
  const names = runs.map((_, at) => `run${at}`)
  const mutation = `mutation CreateCheckRuns(${names.map((name) => `$${name}: CreateCheckRunInput!`).join(', ')}) {
  ${names.map((name) => `${name}: createCheckRun(input: $${name}) { checkRun { name externalId permalink } }`).join('\n  ')}
}`
  const inputs = runs.map((run, at) => [`run${at}`, toCheckRunInput(run, repository, head)] as const)
  const data = await octokit
    .graphql<unknown>(mutation, Object.fromEntries(inputs))
    // GitHub returns successes beside the errors.
    .catch((error: unknown) => (error as { data?: unknown }).data)
  const read = createdCheckRunsSchema.safeParse(data).data ?? {}
  return new Map(
    Object.values(read).flatMap((one) => {
      const run = runs.find(({ name }) => name === one?.checkRun?.name)
      const isMade = run !== undefined && one?.checkRun?.externalId === run.digest
      return isMade && one?.checkRun ? [[run.name, one.checkRun.permalink] as const] : []
    }),
  )
}

function toCheckRunInput(run: CheckRunContent, repositoryId: string, headSha: CommitSha) {
  return {
    repositoryId,
    headSha,
    name: run.name,
    externalId: run.digest,
    ...(run.detailsUrl !== undefined && { detailsUrl: run.detailsUrl }),
    ...(run.conclusion === undefined
      ? { status: run.status.toUpperCase() }
      : { status: 'COMPLETED', conclusion: run.conclusion.toUpperCase() }),
    output: {
      title: run.title,
      summary: run.summary,
      annotations: run.annotations.map(({ path, startLine, endLine, level, title, message }) => ({
        path,
        location: { startLine, endLine },
        annotationLevel: level.toUpperCase(),
        title,
        message,
      })),
    },
  }
}

export function splitIntoChunks<T>(items: readonly T[], size: number): T[][] {
  const result: T[][] = []
  for (let start = 0; start < items.length; start += size) result.push(items.slice(start, start + size))
  return result
}

/**
 * Deployments on GitHub: one per commit and environment, with its newest status. Repeating a call changes nothing.
 * Rejects with what Octokit rejects with.
 */
export async function upsertGitHubDeployment(
  octokit: Octokit,
  target: RepositoryParams,
  appId: number,
  { commit, environment, state, description, isTransient }: Extract<ForgeAction, { kind: 'put-deployment' }>,
): Promise<void> {
  const { data: known } = await octokit.rest.repos.listDeployments({
    ...target,
    sha: commit,
    environment,
    per_page: 100,
  })
  const own = known.find(({ performed_via_github_app }) => performed_via_github_app?.id === appId)
  if (own !== undefined) {
    const newest = { ...target, deployment_id: own.id, per_page: 1 }
    const [last] = (await octokit.rest.repos.listDeploymentStatuses(newest)).data
    if (last?.state === state && last.description === description) return
  }
  await octokit.rest.repos.createDeploymentStatus({
    ...target,
    deployment_id:
      own?.id ?? (await createGitHubDeployment(octokit, target, commit, environment, isTransient)),
    state,
    description,
    auto_inactive: true,
  })
}

async function createGitHubDeployment(
  octokit: Octokit,
  target: RepositoryParams,
  commit: string,
  environment: string,
  isTransient: boolean,
): Promise<number> {
  const { data } = await octokit.rest.repos.createDeployment({
    ...target,
    ref: commit,
    environment,
    // The commit is already on the branch with its required checks, so nothing needs to be merged or awaited.
    auto_merge: false,
    required_contexts: [],
    transient_environment: isTransient,
    production_environment: !isTransient,
    description: 'Catalog image',
  })
  // GitHub answers 202 with a message if it merged something first, although auto-merge is disabled.
  if (!('id' in data)) throw new Error('GitHub did not create a deployment')
  return data.id
}
