// Lands through GitHub's merge queue with the validated head. The intent stays open until the pull request leaves the
// queue; app/jobs/judge-group.ts judges the queue's groups.
import type { LandingMethod } from '../gate/landing-method.ts'
import { crashPoint } from './crash-point.ts'
import type { Acted, Prepared, Step } from './ready.ts'

type Queue = Extract<LandingMethod, { kind: 'queue' }>

export async function prepareQueue(step: Step, method: Queue): Promise<Prepared> {
  return { kind: 'ready', method, commit: step.permit.landing.commit, act: () => enqueue(step) }
}

async function enqueue({ permit, options }: Step): Promise<Acted> {
  const answer = await options.merging.enqueue(permit)
  crashPoint('enqueued')
  if (answer.kind !== 'refused') return answer
  const { words } = answer
  const reason = words.by === 'rest' ? words.message : words.errors.map(({ message }) => message).join(' ')
  return { kind: 'refused', reason, words }
}
