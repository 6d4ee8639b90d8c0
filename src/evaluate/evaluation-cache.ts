// Caches the inputs of a waiting pull request's evaluation for an hour. When its base moves, it is judged again without
// requests. This can only confirm the verdict; any difference needs a full evaluation, and no permit is minted here.
import { z } from 'zod'
import { toCheckQuestionKey } from '../checks/questions.ts'
import type { CommitSha } from '../pull-request/ids.ts'
import { type PullSnapshot, toPullRequestKey } from '../pull-request/snapshot.ts'
import type { CheckQuestionAnswer } from '../catalogs/gather-answers.ts'
import { defineCacheNamespace } from '../ports/cache.ts'
import type { OpenPullSummary } from '../ports/forge.ts'
import type { Store } from '../ports/store.ts'
import type { JobContext } from '../jobs/job-context.ts'
import { evaluateSnapshot, type PullEvaluation } from './evaluate-snapshot.ts'
import { computeEvaluationReportDigest, toVerdictRecord } from './publish-evaluation.ts'

/** Same as the sweep's interval for unchanged pull requests: permissions and registries change too. */
const evaluationCacheTtlSeconds = 3600
/** Characters; larger answers are not cached. */
const maxCachedEvaluationLength = 256 * 1024

const cachedEvaluationSchema = z.object({
  at: z.number(),
  snapshot: z.custom<PullSnapshot>((value) => typeof value === 'object' && value !== null),
  answers: z.array(z.tuple([z.string(), z.custom<CheckQuestionAnswer>()])),
  shown: z.string(),
})
const evaluationCache = defineCacheNamespace<z.infer<typeof cachedEvaluationSchema>>('kept look', {
  version: 1,
  read: (stored) => cachedEvaluationSchema.safeParse(stored).data,
})
export async function cacheEvaluation(
  evaluation: PullEvaluation,
  answers: ReadonlyMap<string, CheckQuestionAnswer>,
  ctx: JobContext<Store>,
): Promise<void> {
  const { store, clock } = ctx.app
  const { snapshot } = evaluation
  // Unanswered questions are asked again anyway.
  if ([...answers.values()].some(({ kind }) => kind === 'unknown')) return
  const shown = await computeEvaluationReportDigest(evaluation, ctx)
  const cachedInputs = { at: clock.now(), snapshot, answers: [...answers], shown }
  if (JSON.stringify(cachedInputs).length > maxCachedEvaluationLength) return
  await store.putCached(
    evaluationCache,
    new Map([[toPullRequestKey(snapshot.repository, snapshot.pull), cachedInputs]]),
    evaluationCacheTtlSeconds,
  )
}

/**
 * Returns for how many more seconds the cached inputs confirm the published verdict on the new tip, or undefined if a
 * full evaluation is needed.
 */
export async function revalidateCachedVerdictOnNewBase(
  open: OpenPullSummary,
  tip: CommitSha,
  ctx: JobContext<Store>,
  openPulls: readonly OpenPullSummary[],
): Promise<number | undefined> {
  const { app, forge, repository } = ctx
  const key = toPullRequestKey(forge.repository, open.pull)
  const cachedInputs = (await app.store.getCached(evaluationCache, [key])).get(key)
  if (cachedInputs === undefined) return undefined
  const remainingSeconds = Math.floor(evaluationCacheTtlSeconds - (app.clock.now() - cachedInputs.at) / 1000)
  const { snapshot } = cachedInputs
  if (remainingSeconds <= 0 || snapshot.head !== open.head || snapshot.baseRef !== open.baseRef)
    return undefined
  if ((await repository.pullHead(open.pull)) !== open.head) return undefined
  const answers = new Map(cachedInputs.answers)
  let hasAll = true
  const evaluation = await evaluateSnapshot({ ...snapshot, base: tip }, ctx, undefined, {
    openPulls: () => Promise.resolve(openPulls),
    ask: (question) => {
      const known = answers.get(toCheckQuestionKey(question))
      if (known === undefined) hasAll = false
      return Promise.resolve(
        known ?? { kind: 'unknown', reason: 'this information was not looked up', retryAfter: 60 },
      )
    },
  })
  if (!hasAll || evaluation.verdict.permit !== undefined || evaluation.commands.length > 0) return undefined
  if ((await computeEvaluationReportDigest(evaluation, ctx)) !== cachedInputs.shown) return undefined
  await app.store.recordVerdict(toVerdictRecord(evaluation, app.clock.now()))
  return remainingSeconds
}
