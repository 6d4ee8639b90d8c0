// Merges through GitHub's merge queue with the validated head. The intent remains open until the pull request leaves the
// queue. merge/merge-group.ts judges the queue's groups.
import type { MergeStrategy } from '../policy/merge-strategy.ts'
import { triggerCrashPoint } from '../jobs/crash-point.ts'
import type { MergeActionResult, PreparationResult, MergeAttempt } from './prepared-merge.ts'

type QueueStrategy = Extract<MergeStrategy, { kind: 'queue' }>

export async function prepareQueueMerge(
  step: MergeAttempt,
  method: QueueStrategy,
): Promise<PreparationResult> {
  return { kind: 'ready', method, commit: step.permit.landing.commit, act: () => enqueuePull(step) }
}

async function enqueuePull({ permit, options }: MergeAttempt): Promise<MergeActionResult> {
  const answer = await options.merging.enqueue(permit)
  triggerCrashPoint('enqueued')
  if (answer.kind !== 'refused') return answer
  const { rejection } = answer
  const reason =
    rejection.by === 'rest' ? rejection.message : rejection.errors.map(({ message }) => message).join(' ')
  return { kind: 'refused', reason, words: rejection }
}
